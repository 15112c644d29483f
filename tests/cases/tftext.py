"""Cases of custom operators of texts: words, joined neighbours, projections, and rows made dense."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numlite.schema.tflite import TensorType

from .case import EXACT, NO_KERNEL, Arrays, Case, Close
from .custom_case import Shapes, custom_model

_S = TensorType.STRING
_TEXTS = np.array([[b"a bc  d", b""], [b"x", b" y\tz"]], object)
_PIECES = np.array([b"^h", b"he", b"el", b"ll", b"lo", b"o$", b"^h", b"hi", b"i$"], object)
_ROWS = np.array([0, 6, 9], np.int64)
_PAIRS = {"width": 2, "axis": -1, "reduction_type": "STRING_JOIN", "string_separator": "+"}
_HASHES = {"hash_seed": [5, 7], "buckets": 0x7FFFFFFF}
_SPLITS = {"row_partition_types": ["ROW_SPLITS"]}
# The numbers of tflite-support's test of the operator.
_PROJECTED = np.array([[0.448691, -0.238499], [-0.037561, 0.080748]], np.float32)


def _case(
    id: str, name: str, inputs: Arrays, outputs: Shapes, options: dict[str, object] | bytes, expected: Arrays
) -> Case:
    return Case(
        id=f"{name}-{id}",
        make=lambda: custom_model(name, inputs, outputs, options),
        inputs=list(inputs),
        oracle=lambda *_: list(expected),
        closeness=Close(rtol=0, atol=1e-6) if expected[0].dtype == np.float32 else EXACT,
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


def _words(x: np.ndarray) -> list[np.ndarray]:
    """Of spaces and tabs alone."""
    rows = [text.split() for text in x.ravel().tolist()]
    most = max(map(len, rows))
    padded = np.array([row + [b""] * (most - len(row)) for row in rows], object)
    return [padded.reshape(*x.shape, most)]


def _splits(x: np.ndarray) -> list[np.ndarray]:
    rows = [text.split() for text in x.ravel().tolist()]
    words = np.array([word for row in rows for word in row], object)
    return [words, np.array([0, 2, 4]), np.cumsum([0, *map(len, rows)])]


def _pairs(x: np.ndarray) -> list[np.ndarray]:
    return [np.array([[a + b"+" + b for a, b in pairwise(row)] for row in x.tolist()], object)]


CASES = [
    _case("axis", "tftext:WhitespaceTokenizer", [_TEXTS], [((), _S)], b"", _words(_TEXTS)),
    _case(
        "rows",
        "tftext:WhitespaceTokenizer",
        [_TEXTS],
        [((), _S), ((), np.int64), ((), np.int64)],
        b"",
        _splits(_TEXTS),
    ),
    _case("axis", "tftext:Ngrams", [_TEXTS], [((), _S)], _PAIRS, _pairs(_TEXTS)),
    _case(
        "rows",
        "tftext:Ngrams",
        [_PIECES[:3], np.array([0, 1, 3], np.int64)],
        [((), _S), ((), np.int64)],
        _PAIRS,
        [np.array([b"he+el"], object), np.array([0, 0, 1])],
    ),
    _case(
        "rows",
        "tftext:custom:SgnnProjection",
        [_PIECES, _ROWS],
        [((), np.float32)],
        _HASHES,
        [_PROJECTED],
    ),
    _case(
        "strings",
        "RaggedTensorToTensor",
        [np.array([-1, -1]), _PIECES, np.array(b"-", object), _ROWS],
        [((), _S)],
        _SPLITS,
        [np.array([_PIECES[:6].tolist(), [*_PIECES[6:].tolist(), b"-", b"-", b"-"]], object)],
    ),
    _case(
        "cut",
        "RaggedTensorToTensor",
        [np.array([3, 2], np.int32), np.array([1, 2, 3, 4], np.float32), np.float32(9), np.array([0, 3, 4])],
        [((), np.float32)],
        _SPLITS,
        [np.array([[1, 2], [4, 9], [9, 9]], np.float32)],
    ),
    _case(
        "row numbers",
        "RaggedTensorToTensor",
        [
            np.array([-1, -1, 2]),
            np.array([[1, 2], [3, 4], [5, 6]]),
            np.array(0),
            np.array(3),
            np.array([0, 2, 2]),
        ],
        [((), np.int64)],
        {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]},
        [np.array([[[1, 2], [0, 0]], [[0, 0], [0, 0]], [[3, 4], [5, 6]]])],
    ),
]
