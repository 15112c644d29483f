"""tftext's functions of strings as its custom operators.

Source of names, attributes and signatures: TensorFlow compiler/mlir/lite/utils/tftext_utils.cc.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....lite.tensor import TensorType
from ...lite_graph import PartialShape
from ..flex import flexbuffer_map
from .call import CompositeCall
from .custom import CustomComposite, no_options, takes_two

_STRING, _INT64 = frozenset((TensorType.STRING,)), frozenset((TensorType.INT64,))
_FLOATS = frozenset((TensorType.FLOAT32, TensorType.FLOAT64))
_TEXTS = (b"ab c", b" d", b"", b"e  f\tgh", b"\xe3\x80\x80i\xc2\xa0j k ", b"l")
_WORDS = (b"a", b"bc", b"", b"def", b"\xc3\xa9", b"g h")
# How many strings, and rows of them, a body is tried with where their number is not known.
_SOME_STRINGS, _SOME_SPLITS = 24, 5


def _strings(words: Sequence[bytes], shape: tuple[int, ...]) -> np.ndarray:
    made = np.empty(shape, object)
    made.reshape(-1)[:] = [words[i % len(words)] for i in range(made.size)]
    return made


def _texts(call: CompositeCall) -> list[np.ndarray]:
    return [_strings(_TEXTS, call.sizes(0))]


def _gives_splits_for_each_axis(call: CompositeCall, operands: int, results: int) -> bool:
    rank = len(call.inputs[0].shape or ())
    return operands == 1 and results == rank + 1


def _shapes_of_words(call: CompositeCall) -> list[PartialShape]:
    """Values, and splits of as many rows as there are elements along the axes so far."""
    found: list[PartialShape] = [(-1,)]
    rows = 1
    for size in call.inputs[0].shape or ():
        rows = -1 if -1 in (rows, size) else rows * size
        found.append((-1,) if rows == -1 else (rows + 1,))
    return found


WHITESPACE_TOKENIZER = CustomComposite(
    "tftext:WhitespaceTokenizer",
    ((_STRING, None),),
    (_STRING, _INT64),
    no_options,
    _texts,
    _gives_splits_for_each_axis,
    _shapes_of_words,
)


def _ngrams_options(call: CompositeCall) -> bytes | None:
    """The operator joins strings along the last axis, and does nothing else."""
    held = call.attributes
    names = ("width", "string_separator", "axis", "reduction_type")
    if held.get("reduction_type") != b"STRING_JOIN" or held.get("axis") != -1:
        return None
    width, separator = held.get("width"), held.get("string_separator")
    if not isinstance(width, int) or width < 1 or not isinstance(separator, bytes):
        return None
    return flexbuffer_map({name: held[name] for name in names})


def _rows(call: CompositeCall) -> list[np.ndarray] | None:
    """Strings and, for each further operand, splits of the rows below, the innermost last."""
    inputs = call.inputs
    if len(inputs) == 1:
        sizes = [5 if size == -1 else size for size in inputs[0].shape or ()]
        return [_strings(_WORDS, tuple(sizes))] if sizes else None
    counts = [x.shape[0] if x.shape else -1 for x in inputs]
    count = _SOME_STRINGS if counts[0] == -1 else counts[0]
    values, splits = _strings(_WORDS, (count,)), []
    random = np.random.default_rng(0)
    for size in reversed(counts[1:]):
        length = _SOME_SPLITS if size == -1 else size
        if length < 2:
            return None
        between = np.sort(random.integers(0, count + 1, length - 2))
        splits.append(np.array([0, *between, count], np.int64))
        count = length - 1
    return [values, *reversed(splits)]


def _has_as_many_results(call: CompositeCall, operands: int, results: int) -> bool:
    return operands == results and (operands == 1 or len(call.inputs[0].shape or ()) == 1)


def _shapes_of_ngrams(call: CompositeCall) -> list[PartialShape]:
    values, *splits = (x.shape for x in call.inputs)
    if splits or values is None:
        return [(-1,) if splits else None, *splits]
    width, last = call.attributes["width"], values[-1]
    assert isinstance(width, int)
    return [(*values[:-1], -1 if last == -1 else max(0, last - width + 1))]


NGRAMS = CustomComposite(
    "tftext:Ngrams",
    ((_STRING, None), (_INT64, 1)),
    (_STRING, _INT64),
    _ngrams_options,
    _rows,
    _has_as_many_results,
    _shapes_of_ngrams,
)


def _projection_options(call: CompositeCall) -> bytes | None:
    from flatbuffers import flexbuffers

    seeds, buckets = call.attributes.get("hash_seed"), call.attributes.get("buckets")
    if not isinstance(seeds, tuple) or not isinstance(buckets, int) or not 2 <= buckets < 1 << 31:
        return None
    if not all(isinstance(seed, int) and abs(seed) < 1 << 31 for seed in seeds):
        return None
    builder = flexbuffers.Builder()
    with builder.Map():
        builder.Int("buckets", buckets)
        builder.Key("hash_seed")
        builder.TypedVectorFromElements(seeds)
    return bytes(builder.Finish())


def _full_rows(call: CompositeCall) -> list[np.ndarray] | None:
    """As _rows; no row is empty, since the mean of none is one thing here and another there."""
    values, splits = (x.shape[0] if x.shape else -1 for x in call.inputs)
    length = _SOME_SPLITS if splits == -1 else splits
    count = max(_SOME_STRINGS, 2 * length) if values == -1 else values
    if length < 2 or count < length - 1:
        return None
    ends = np.linspace(0, count, length).astype(np.int64)
    return [_strings(_WORDS, (count,)), ends]


def _shapes_of_projection(call: CompositeCall) -> list[PartialShape]:
    seeds, [splits] = call.attributes["hash_seed"], call.inputs[1].shape or (-1,)
    assert isinstance(seeds, tuple)
    return [(-1 if splits == -1 else splits - 1, len(seeds))]


PROJECTION = CustomComposite(
    "tftext:custom:SgnnProjection",
    ((_STRING, 1), (_INT64, 1)),
    (_FLOATS,),
    _projection_options,
    _full_rows,
    takes_two,
    _shapes_of_projection,
    given=TensorType.FLOAT32,
)
