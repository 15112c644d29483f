"""Comparison: one model on LiteRT and on numlite, outputs first, then time, in turns."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .model_inputs import fill_inputs, named, settable
from .model_options import open_interpreter
from .timing import Spread, time_in_turns

if TYPE_CHECKING:
    from ..interpreter import Interpreter

# Float sums are taken in another order; relative to the largest output.
FLOAT_TOLERANCE = 1e-3
QUANTA = 1


@dataclass(frozen=True)
class Comparison:
    """Times in ns per invoke; ratio = LiteRT's time / numlite's, round by round.

    numlite_ns are numlite's times, round by round. outputs says in words how near the outputs are, agrees
    whether that is near enough: one quantum for integers, a thousandth of the largest value for floats.
    """

    litert: Spread
    numlite: Spread
    ratio: Spread
    rounds: int
    outputs: str
    agrees: bool
    numlite_ns: np.ndarray


def compare(
    model: str,
    seconds: float,
    threads: int = 1,
    resolver: str = "auto",
    given: Mapping[str, np.ndarray] | None = None,
    seed: int = 0,
    on_progress: Callable[[float], None] = lambda fraction: None,
    ours: Interpreter | None = None,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> Comparison:
    """Run the model on both with the same inputs (given ones by name, else random).

    ours is numlite's interpreter, where it is not the one that threads and resolver describe.
    """
    litert = litert_interpreter(model, threads, reference=resolver == "ref")
    numlite = open_interpreter(model, threads, resolver) if ours is None else ours
    names = {detail["name"] for detail in settable(numlite)}
    details = [detail for detail in litert.get_input_details() if detail["name"] in names]
    inputs = list(fill_inputs(named(details), given or {}, seed).values())
    outputs, agrees = outputs_agree(run(litert, details, inputs), run(numlite, settable(numlite), inputs))
    times = time_in_turns([litert.invoke, numlite.invoke], seconds, on_progress, clock)
    return Comparison(
        Spread.of(times[:, 0]),
        Spread.of(times[:, 1]),
        Spread.of(times[:, 0] / times[:, 1]),
        len(times),
        outputs,
        agrees,
        times[:, 1],
    )


def run(
    interpreter: Any, details: Sequence[Mapping[str, Any]], inputs: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The outputs for inputs (each by its detail), whose shapes the interpreter is given."""
    for detail, array in zip(details, inputs, strict=True):
        if tuple(detail["shape"]) != array.shape:
            interpreter.resize_tensor_input(detail["index"], array.shape)
    interpreter.allocate_tensors()
    for detail, array in zip(details, inputs, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def outputs_agree(theirs: Sequence[np.ndarray], ours: Sequence[np.ndarray]) -> tuple[str, bool]:
    """How near the outputs are, in words, and whether that is near enough."""
    if [(a.shape, a.dtype) for a in theirs] != [(b.shape, b.dtype) for b in ours]:
        return "other shapes or types", False
    pairs = list(zip(theirs, ours, strict=True))
    if all(a.tobytes() == b.tobytes() for a, b in pairs):
        return "equal", True
    quanta, relative = 0, 0.0
    for a, b in pairs:
        if not a.size:
            continue
        if a.dtype.kind not in "iuf":
            if not np.array_equal(a, b):
                return f"{a.dtype.name} values differ", False
            continue
        difference = float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max())
        if a.dtype.kind == "f":
            relative = max(relative, difference / max(float(np.abs(a).max()), 1e-30))
        else:
            quanta = max(quanta, int(difference))
    agrees = quanta <= QUANTA and relative <= FLOAT_TOLERANCE
    return (f"{quanta} quanta off" if quanta else f"{relative:.0e} off"), agrees


def litert_interpreter(model: str, threads: int, reference: bool = False, preserve_all: bool = False) -> Any:
    """LiteRT's Interpreter of the same model with the same settings, not allocated yet."""
    try:
        from ai_edge_litert.interpreter import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
            Interpreter,
            OpResolverType,
        )
    except ImportError as error:
        raise click.ClickException("ai-edge-litert is not installed: pip install ai-edge-litert") from error
    kind = OpResolverType.BUILTIN_REF if reference else OpResolverType.AUTO
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that keeping all tensors is for debugging, as this is
        return Interpreter(
            model,
            num_threads=threads,
            experimental_op_resolver_type=kind,
            experimental_preserve_all_tensors=preserve_all,
        )


def litert_version() -> str:
    try:
        return metadata.version("ai-edge-litert")
    except metadata.PackageNotFoundError:
        return "not installed"
