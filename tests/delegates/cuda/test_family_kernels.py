"""The kernel variants that the cases of the plain families use must compile for sm_90 without a stack.

There are more than a thousand. The sample has each value of each constant and each type of each argument;
all variants are a matter of half an hour, and of `pytest -m full`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.launch import Kernel
from numlite.delegates.cuda.partition_kernel import CudaKernel

from ...cases.case import Case
from .machine_code import SHARED_BYTES, compile_together, machine_code
from .replays import STEMS as ALL_STEMS
from .replays import cases_of
from .simulation import interpreter_of, needs_triton

pytestmark = needs_triton

# Of these, matrix products, whose variants are looked at elsewhere, and what has no kernel of its own.
_APART = ("conv", "conv_q8", "depthwise_conv", "depthwise_conv_q8", "fully_connected", "fully_connected_q8")
STEMS = tuple(stem for stem in ALL_STEMS if stem not in (*_APART, "hybrid", "reshape"))
# Where in device_code/ their kernels are.
SOURCES = (
    "batch_matmul",
    "binary",
    "elementwise",
    "gather",
    "hybrid",
    "movement",
    "normalization",
    "pool",
    "prelu",
    "quantize",
    "reduce",
    "resize",
    "search",
    "softmax",
    "transpose_conv",
)
_SETTINGS = (
    ("default", "tf32x3"),
    ("reference", "tf32x3"),
    ("default", "float16"),
    ("default", "bfloat16"),
)
# Of these, matrix products, whose variants are looked at elsewhere.
_ELSEWHERE = ("conv",)


def _kernels(case: Case, numerics: str, precision: str) -> list[Kernel]:
    """Of what the delegate takes of a case; none where that is nothing."""
    delegate = CudaDelegate(CudaOptions(precision=precision, arch=90))
    interpreter = interpreter_of(case.make(), delegate, numerics)
    for detail, value in zip(interpreter.get_input_details(), case.inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    subgraph = interpreter.core.subgraphs[0]
    found: list[Kernel] = []
    for node in (subgraph.nodes[n] for n in subgraph.execution_plan):
        if isinstance(node.user_data, CudaKernel):
            shapes = {
                t: subgraph.tensors[t].shape for t in node.inputs if not subgraph.tensors[t].is_constant
            }
            found += [launch.kernel for launch in node.user_data.lowered(subgraph, shapes).launches]
    return found


@cache
def _kernels_of(stem: str) -> tuple[Kernel, ...]:
    """The variants that a module's cases use in all settings, each once."""
    kernels = {
        kernel: None
        for case in cases_of(stem)
        for numerics, precision in _SETTINGS
        if case.runs(numerics)
        for kernel in _kernels(case, numerics, precision)
        if kernel.source not in _ELSEWHERE
    }
    return tuple(kernels)


def _features(kernel: Kernel) -> set[object]:
    warps = ("", kernel.warps)
    return {(kernel.function, *pair) for pair in (*kernel.signature, *kernel.constants, warps)}


def _sample(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Few of them that have all their features together."""
    features = {kernel: _features(kernel) for kernel in kernels}
    missing = set().union(*features.values())
    found: list[Kernel] = []
    while missing:
        found.append(max(features, key=lambda kernel: len(features[kernel] & missing)))
        missing -= features[found[-1]]
    return found


def _check(kernels: Iterable[Kernel]) -> None:
    compile_together(kernels)
    for kernel in kernels:
        code = machine_code(kernel)
        assert code.stack == 0, f"{kernel}: {code.stack} bytes of stack, {code.registers} registers"
        assert code.shared <= SHARED_BYTES, f"{kernel}: {code.shared} bytes of shared memory"


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
def test_sample_compiles_for_sm_90(source: str) -> None:
    kernels = {kernel: None for stem in STEMS for kernel in _kernels_of(stem) if kernel.source == source}
    assert kernels
    _check(_sample(kernels))


@pytest.mark.long
def test_every_source_is_looked_at() -> None:
    found = {kernel.source for stem in STEMS for kernel in _kernels_of(stem)}
    assert found == set(SOURCES)


@pytest.mark.full
@pytest.mark.parametrize("stem", STEMS)
def test_compiles_for_sm_90(stem: str) -> None:
    kernels = _kernels_of(stem)
    assert kernels
    _check(kernels)
