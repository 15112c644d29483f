"""The version of each operator, the newest that is asked for, and the release that runs it.

What asks for a version stands in the table of operators (kernels/operators.py), in these words. All words of
a line must hold, or all of one of the lines that `or` separates; `!` before a word negates it.

    i8/u8, 1:i8, ->i16, ->1:i16   the types that the first input, input 1, the first or second result may have
    quantized, 1:per_channel      the tensor has quantization parameters, has scales for its channels
    rank=5, rank>4                the number of its dimensions (0 where they are not known)
    3:given                       the operator has such an operand
    .offset, .dilation_h_factor!=1  an option is set; is not what it usually is
    always, and the names in _OPERATOR_WORDS
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from operator import eq, gt
from typing import NamedTuple

from ..kernels.operator_facts import NAMED_TYPES
from ..kernels.operators import OPERATORS
from ..schema.operator_code import operator_name
from .lite_graph import LiteOperator, LiteTensor

Condition = Callable[[LiteOperator], bool]


class _Version(NamedTuple):
    """A version: the release that brought it, () where unknown, and what asks for it."""

    release: tuple[int, ...]
    is_asked_for: Condition


def version_of(operator: LiteOperator) -> int:
    """Version to write for the operator.

    Source: LiteRT tflite/converter/tools/versioning/op_version.cc; of DEPTHWISE_CONV_2D in int16 beside int8
    filters, which that does not know, the files of TensorFlow's quantizer.
    """
    versions = _versions(operator_name(operator.code))
    return next((n for n in range(len(versions), 1, -1) if versions[n - 1].is_asked_for(operator)), 1)


def runtime_version(codes: Iterable[tuple[int, int]]) -> str:
    """The release of TensorFlow that first ran all operators (code, version); "" when none is known."""
    newest = max((_release(code, version) for code, version in codes), default=())
    return ".".join(map(str, newest))


def _release(code: int, version: int) -> tuple[int, ...]:
    """The release that brought the operator's version, as its three numbers; () where none is known."""
    versions = _versions(operator_name(code))
    return versions[version - 1].release if 0 < version <= len(versions) else ()


@cache
def _versions(name: str) -> tuple[_Version, ...]:
    """The versions of an operator, from 1 on; none where the table knows of none."""
    facts = OPERATORS.get(name)
    return tuple(map(_version, facts.versions.split(", "))) if facts is not None and facts.versions else ()


def _version(text: str) -> _Version:
    release, _, words = text.partition(" ")
    numbers = () if release == "-" else tuple(map(int, release.split(".")))
    return _Version((*numbers, 0) if len(numbers) == 2 else numbers, _condition(words))


def _condition(words: str) -> Condition:
    if not words:
        return lambda operator: False
    lines = [[_word(word) for word in line.split()] for line in words.split(" or ")]
    return lambda operator: any(all(holds(operator) for holds in line) for line in lines)


def _word(word: str) -> Condition:
    if word.startswith("!"):
        holds = _word(word[1:])
        return lambda operator: not holds(operator)
    if word.startswith("."):
        return _option(*word[1:].split("!="))
    return _OPERATOR_WORDS[word] if word in _OPERATOR_WORDS else _tensor_word(word)


def _option(name: str, usual: str = "0") -> Condition:
    """An option has another value than usual."""
    value = int(usual)
    return lambda operator: getattr(operator.options, name, value) not in (value, None)


def _tensor_word(word: str) -> Condition:
    """What is said of an input, or behind an arrow of a result."""
    place, colon, rest = word.removeprefix("->").rpartition(":")
    index, is_result, test = int(place) if colon else 0, word.startswith("->"), _tensor_test(rest)

    def holds(operator: LiteOperator) -> bool:
        tensors = operator.results if is_result else operator.operands
        return test(tensors[index] if index < len(tensors) else None)

    return holds


def _tensor_test(word: str) -> Callable[[LiteTensor | None], bool]:
    if word in _TENSOR_WORDS:
        return _TENSOR_WORDS[word]
    if word.startswith("rank"):
        compare, rank = eq if word[4] == "=" else gt, int(word[5:])
        return lambda tensor: compare(_rank(tensor), rank)
    types = {NAMED_TYPES[name] for name in word.split("/")}
    return lambda tensor: tensor is not None and tensor.type in types


def _rank(tensor: LiteTensor | None) -> int:
    return 0 if tensor is None or tensor.shape is None else len(tensor.shape)


def _has_scales(tensor: LiteTensor | None) -> bool:
    """Whether each channel has a scale of its own."""
    scales = None if tensor is None or tensor.quantization is None else tensor.quantization.scale
    return scales is not None and len(scales) > 1


def _two(operator: LiteOperator) -> tuple[LiteTensor | None, LiteTensor | None]:
    """The first two operands, None for those that are not there."""
    a, b, *_ = (*operator.operands, None, None)
    return a, b


def _stretches(operator: LiteOperator) -> bool:
    """Whether operands of different shapes, one of more than four dimensions, are broadcast."""
    a, b = _two(operator)
    differ = a is not None and b is not None and a.shape != b.shape
    return differ and max(_rank(a), _rank(b)) > 4


def _is_grouped(operator: LiteOperator) -> bool:
    x, weights = _two(operator)
    if x is None or weights is None or not x.shape or not weights.shape:
        return False
    return x.shape[-1] != weights.shape[-1]


def _rescales_up(operator: LiteOperator) -> bool:
    """The product of the operands' scales is at least the result's."""
    scales = []
    for tensor in (*_two(operator), operator.results[0]):
        quantization = None if tensor is None else tensor.quantization
        if quantization is None or quantization.scale is None or len(quantization.scale) != 1:
            return False
        scales.append(float(quantization.scale[0]))
    return 0.0 not in scales and scales[0] * scales[1] / scales[2] >= 1.0


_OPERATOR_WORDS: dict[str, Condition] = {
    "always": lambda operator: True,
    "stretches": _stretches,
    "grouped": _is_grouped,
    "unbiased": lambda operator: len(operator.operands) == 2,
    "rescales_up": _rescales_up,
}
_TENSOR_WORDS: dict[str, Callable[[LiteTensor | None], bool]] = {
    "given": lambda tensor: tensor is not None,
    "quantized": lambda tensor: tensor is not None and tensor.quantization is not None,
    "per_channel": _has_scales,
}
