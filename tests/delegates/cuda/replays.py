"""The cases of tests/cases that the GPU runs, and those that it leaves to the CPU: left_out.txt pins these.

python -m tests.delegates.cuda.replays writes that file anew. A line is a case, with its numerics where it is
so in these alone, and why; a type that is lost is a line too many.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions

from ...cases.case import NUMERICS, Case
from .simulation import interpreter_of, taken

PATH = Path(__file__).with_name("left_out.txt")

# The modules whose operators have a family in delegates/cuda/families.py.
STEMS = (
    "activations",
    "arg_min_max",
    "batch_matmul",
    "binary",
    "binary_math",
    "cast",
    "comparison",
    "concatenation",
    "conv",
    "conv_q8",
    "cumsum",
    "depthwise_conv",
    "depthwise_conv_q8",
    "dynamic_update_slice",
    "elementwise",
    "embedding",
    "fill",
    "fully_connected",
    "fully_connected_q8",
    "gather",
    "gather_nd",
    "half_precision",
    "hybrid",
    "logical",
    "normalization",
    "pad",
    "pool",
    "prelu",
    "quantize",
    "reduce",
    "reshape",
    "resize",
    "reverse",
    "select",
    "slice",
    "softmax",
    "space_batch",
    "space_depth",
    "split",
    "tile",
    "top_k",
    "transpose",
    "transpose_conv",
    "unary_math",
)


def cases_of(stem: str) -> list[Case]:
    """CASES of a module, but for large ones that are there for the CPU's threads."""
    cases: list[Case] = getattr(import_module(f"...cases.{stem}", __package__), "CASES", [])
    return [case for case in cases if case.num_threads == 1]


def replays(stem: str) -> Iterator[tuple[Case, str]]:
    """Each case of a module in each numerics in which the CPU runs it."""
    for case in cases_of(stem):
        for numerics in case.numerics:
            if case.runs(numerics):
                yield case, numerics


@cache
def reasons(case_id: str, stem: str, numerics: str) -> str:
    """Why nodes of a case are left to the CPU, "" where all are taken; no device is needed to tell."""
    case = next(case for case in cases_of(stem) if case.id == case_id)
    delegate = CudaDelegate(CudaOptions(arch=90))
    interpreter = interpreter_of(case.make(), delegate, numerics)
    for detail, value in zip(interpreter.get_input_details(), case.inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    found = "; ".join(dict.fromkeys(delegate._reasons.values()))
    return f"in part: {found}" if found and taken(delegate, interpreter) else found


def claimed() -> str:
    """What left_out.txt has to say."""
    lines = []
    for stem in STEMS:
        found: dict[tuple[str, str], list[str]] = {}
        for case, numerics in replays(stem):
            why = reasons(case.id, stem, numerics)
            if why:
                found.setdefault((case.id, why), []).append(numerics)
        lines += [
            f"{case_id}{'' if len(numerics) == len(NUMERICS) else f' ({numerics[0]})'}: {why}\n"
            for (case_id, why), numerics in found.items()
        ]
    return "".join(lines)


@cache
def _pinned() -> dict[str, str]:
    return dict(line.split(": ", 1) for line in PATH.read_text().splitlines())


def is_left_out(case: Case, numerics: str) -> bool:
    """Whether left_out.txt says that the CPU runs the whole of it."""
    why = _pinned().get(case.id) or _pinned().get(f"{case.id} ({numerics})", "in part: ")
    return not why.startswith("in part: ")


if __name__ == "__main__":
    temporary = PATH.with_suffix(".tmp")
    temporary.write_text(claimed())
    os.replace(temporary, PATH)
