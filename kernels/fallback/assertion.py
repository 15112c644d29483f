"""Checks that stop a run, and messages about it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.shown import shown_lines
from .dtypes import FLOATS
from .kernel import KernelConstruction, KernelContext, OpKernel
from .registry import kernel, kernel_class
from .status import InvalidArgumentError


def in_brackets(value: np.ndarray, summarize: int) -> str:
    """The first elements of a tensor, as many as summarize says (all when it is negative)."""
    flat = value.reshape(-1)
    shown = flat if summarize < 0 else flat[:summarize]
    words = [
        item.decode(errors="replace") if isinstance(item, bytes) else str(item) for item in shown.tolist()
    ]
    return f"[{' '.join(words)}{'...' if len(shown) < len(flat) else ''}]"


def assert_true(condition: np.ndarray, data: list[np.ndarray], *, summarize: int) -> None:
    """Nothing when the condition is true, else an InvalidArgumentError that shows the data."""
    if condition.shape != ():
        raise InvalidArgumentError(f"Assert: condition must be a scalar, got {list(condition.shape)}")
    if not condition:
        shown = " ".join(in_brackets(value, summarize) for value in data)
        raise InvalidArgumentError(f"assertion failed: {shown}")


def check_numerics(tensor: np.ndarray, *, message: str) -> np.ndarray:
    """The tensor, none of whose elements may be NaN or infinite."""
    return _checked(tensor, message, (("Inf", np.isinf), ("NaN", np.isnan)))


def check_numerics_v2(tensor: np.ndarray, *, message: str) -> np.ndarray:
    """The same, with a message that tells the infinities apart."""
    return _checked(tensor, message, (("-Inf", np.isneginf), ("+Inf", np.isposinf), ("NaN", np.isnan)))


def _checked(
    tensor: np.ndarray, message: str, tests: Sequence[tuple[str, Callable[..., np.ndarray]]]
) -> np.ndarray:
    if not np.all(np.isfinite(tensor)):
        # Of bfloat16, NumPy tells the infinities apart only as a type of its own.
        wide = tensor.astype(np.float64)
        found = [name for name, test in tests if np.any(test(wide))]
        raise InvalidArgumentError(f"{message} : Tensor had {' and '.join(found)} values")
    return tensor


class Print(OpKernel):
    """output: the input, once data are written to stderr, the first first_n times (always, if negative)."""

    stateful = True

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._message = construction.get_attr("message", str)
        self._summarize = construction.get_attr("summarize", int)
        self._left = construction.get_attr("first_n", int)
        self._lock = threading.Lock()

    def compute(self, context: KernelContext) -> None:
        context.set_output(0, context.input(0))
        with self._lock:
            if self._left == 0:
                return
            self._left -= self._left > 0
        shown = "".join(in_brackets(value, self._summarize) for value in context.inputs[1:])
        print(shown_lines(self._message + shown), file=sys.stderr)


def print_v2(input: np.ndarray, *, output_stream: str, end: str) -> None:
    """Write a string to stdout, or to stderr also where TensorFlow would log it."""
    if input.shape != ():
        raise InvalidArgumentError(f"PrintV2: input must be a scalar, got {list(input.shape)}")
    if output_stream not in ("stdout", "stderr") and not output_stream.startswith("log("):
        raise UnsupportedError(
            f"PrintV2: output_stream must be stdout, stderr or log(...), got {output_stream!r}"
        )
    stream = sys.stdout if output_stream == "stdout" else sys.stderr
    text: bytes = input.item()
    print(shown_lines(text.decode(errors="replace")), end=end, file=stream)


REGISTRATIONS = (
    kernel("Assert", assert_true),
    kernel("CheckNumerics", check_numerics, T=FLOATS),
    kernel("CheckNumericsV2", check_numerics_v2, T=FLOATS),
    kernel_class("Print", Print),
    kernel("PrintV2", print_v2),
)
