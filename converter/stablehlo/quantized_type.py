"""Quantized element types: integers with a scale and a zero point, or those of each index of an axis."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...lite.errors import ModelError, UnsupportedError

_WHOLE = re.compile(
    r"\s*(?P<storage>[su]?i\d{1,2})\s*(?:<\s*(?P<low>-?\d{1,10})\s*:\s*(?P<high>-?\d{1,10})\s*>)?\s*"
    r":\s*(?P<expressed>\w+)\s*(?::\s*(?P<axis>\d{1,4}|\{[^}]*\}))?\s*,\s*(?P<parameters>.*)",
    re.DOTALL,
)
_NUMBER = r"[-+]?(?:\d{1,400}(?:\.\d{0,400})?(?:[eE][-+]?\d{1,4})?|0x[0-9A-Fa-f]{1,16})"
_PARAMETER = re.compile(rf"\s*(?P<scale>{_NUMBER})\s*(?::\s*(?P<zero>-?\d{{1,10}}))?\s*")
# So many bits at most have integers that float32 holds, but for sums, whose low bits count little.
_STORED = (2, 4, 8, 16, 32)
_LEAST_SCALE, _MOST_SCALE = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Quantized:
    """Integers from low to high; scales and zeros are one, or one for each index of the axis (else -1)."""

    bits: int
    is_signed: bool
    expressed: str
    low: int
    high: int
    scales: tuple[float, ...]
    zeros: tuple[int, ...]
    axis: int = -1

    def __post_init__(self) -> None:
        if self.bits not in _STORED:
            raise UnsupportedError(f"quantized integers of {self.bits} bits have no operators")
        if self.expressed not in ("f32", "f16", "bf16", "f64"):
            raise ModelError(f"quantized type: integers must stand for floats, got {self.expressed}")
        if len(self.scales) != len(self.zeros) or not self.scales or (self.axis < 0 and len(self.scales) > 1):
            raise ModelError("quantized type: there must be a zero point for each scale, of an axis or one")
        if not all(_LEAST_SCALE <= scale <= _MOST_SCALE for scale in self.scales):
            raise ModelError(
                f"quantized type: scales must be positive and finite in float32, got {list(self.scales)}"
            )
        least, most = self.limits
        own = f"from {self.low} to {self.high}"
        if not least <= self.low < self.high <= most:
            raise ModelError(f"quantized type: integers must be from {least} to {most}, got {own}")
        if not all(self.low <= zero <= self.high for zero in self.zeros):
            raise ModelError(f"quantized type: zero points must be {own}, got {list(self.zeros)}")

    @property
    def limits(self) -> tuple[int, int]:
        """What so many bits hold."""
        if self.is_signed:
            return -(1 << self.bits - 1), (1 << self.bits - 1) - 1
        return 0, (1 << self.bits) - 1

    @property
    def storage(self) -> str:
        """The type of the integers alone."""
        return f"{'' if self.is_signed else 'u'}i{self.bits}"

    @property
    def is_int8(self) -> bool:
        """Whether a model's inputs and outputs have the scale of such a tensor themselves."""
        return self.bits == 8 and self.is_signed and (self.low, self.high) == self.limits and self.axis < 0

    @property
    def is_sum(self) -> bool:
        """Whether it has as many bits as sums of products, which are not rounded to it."""
        return self.bits == 32

    @cached_property
    def name(self) -> str:
        """As texts have it, each type in one way."""
        ends = "" if (self.low, self.high) == self.limits else f"<{self.low}:{self.high}>"
        pairs = [f"{s!r}" + (f":{z}" if z else "") for s, z in zip(self.scales, self.zeros, strict=True)]
        kind = f"{'i' if self.is_signed else 'u'}{self.bits}{ends}:{self.expressed}"
        if self.axis < 0:
            return f"!quant.uniform<{kind}, {pairs[0]}>"
        return f"!quant.uniform<{kind}:{self.axis}, {{{','.join(pairs)}}}>"

    def scale_array(self) -> np.ndarray:
        """float32, a scalar or a vector."""
        return np.array(self.scales if self.axis >= 0 else self.scales[0], np.float32)

    def zero_array(self) -> np.ndarray:
        """int32, a scalar or a vector."""
        return np.array(self.zeros if self.axis >= 0 else self.zeros[0], np.int32)


def quantized_of_text(text: str) -> Quantized:
    """What stands between the brackets of !quant.uniform<...>.

    ModelError for what is wrong, UnsupportedError for scales of blocks.
    """
    found = _WHOLE.fullmatch(text if "u" not in text[:2] else text.replace("u", "ui", 1))
    if found is None:
        raise ModelError(f"quantized type: it must be storage:expressed, scale:zero, got {text[:80]!r}")
    if (found["axis"] or "").startswith("{"):
        raise UnsupportedError("scales of blocks: one for all or one for each index of an axis is built")
    is_signed, bits = not found["storage"].startswith("u"), int(found["storage"].lstrip("usi"))
    parameters, axis = found["parameters"].strip(), -1 if found["axis"] is None else int(found["axis"])
    if axis >= 0:
        if not (parameters.startswith("{") and parameters.endswith("}")):
            raise ModelError("quantized type: scales of an axis must stand between braces")
        parameters = parameters[1:-1]
    pairs = [_PARAMETER.fullmatch(each) for each in parameters.split(",")]
    if any(pair is None for pair in pairs):
        raise ModelError(f"quantized type: scales and zero points must be numbers, got {parameters[:80]!r}")
    scales = tuple(_number(pair["scale"]) for pair in pairs if pair)
    zeros = tuple(int(pair["zero"] or 0) for pair in pairs if pair)
    if bits not in _STORED:
        raise UnsupportedError(f"quantized integers of {bits} bits have no operators")
    ends = _ends(found["low"], found["high"], bits, is_signed)
    return Quantized(bits, is_signed, found["expressed"], *ends, scales, zeros, axis)


def _ends(low: str | None, high: str | None, bits: int, is_signed: bool) -> tuple[int, int]:
    if low is not None and high is not None:
        return int(low), int(high)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)


def _number(text: str) -> float:
    if text.startswith("0x"):
        return float(np.array(int(text, 16), np.uint64).view(np.float64))
    return float(text)
