"""TfIdfVectorizer: how often runs of words or numbers of a known pool are in a row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import pairwise

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32, DT_STRING
from ..building.movement import sliced
from ..building.tensor import Tensor
from .call import Call, Rule
from .text import text_constant

# Parts of a run that are compared, each an operator.
_MOST_COMPARISONS = 256


def tf_idf_vectorizer(c: Call) -> Tensor:
    """Counts of the pool's runs in x [n] or [rows, n], by columns; or whether they are there; with weights.

    Weights belong to columns, as in onnxruntime and in ONNX's reference.
    """
    x, mode = c.input(0), c.text("mode")
    if mode not in ("TF", "IDF", "TFIDF"):
        raise ModelError(f"mode must be TF, IDF or TFIDF, got {mode!r}")
    if x.rank not in (1, 2) or x.sizes[-1] == -1:
        raise UnsupportedError("x must be [n] or [rows, n] with a known n")
    rows = c.make("ExpandDims", x, c.body.scalar(0, DT_INT32)) if x.rank == 1 else x
    columns = c.integers("ngram_indexes")
    if not columns or min(columns) < 0:
        raise ModelError(f"ngram_indexes must be there and not negative, got {columns}")
    found = _placed(c, [(ids, _counts(c, rows, pool)) for ids, pool in _pools(c, x, columns)], rows, columns)
    if mode == "IDF":
        found = found.minimum(1)
    weights = c.reals("weights", [])
    if weights and mode != "TF":
        if len(weights) != max(columns) + 1:
            raise ModelError(
                f"weights must be one for each of {max(columns) + 1} columns, got {len(weights)}"
            )
        found = found * c.body.constant(np.array(weights, np.float32))
    return c.body.reshaped(found, [-1]) if x.rank == 1 else found


def _pools(c: Call, x: Tensor, columns: list[int]) -> Iterator[tuple[list[int], Tensor]]:
    """The runs of each length that counts, [runs, length], with the columns that they belong to."""
    pool = _pool(c, x)
    starts = [*c.integers("ngram_counts"), pool.sizes[0]]
    if starts != sorted(starts) or starts[0] < 0:
        raise ModelError(
            f"ngram_counts must be places of a pool of {pool.sizes[0]} in order, got {starts[:-1]}"
        )
    first = 0
    for length, (start, end) in enumerate(pairwise(starts), 1):
        if (end - start) % length:
            raise ModelError(f"the pool's runs of {length} must be whole, got {end - start} parts")
        count = (end - start) // length
        ids = columns[first : first + count]
        first += count
        if len(ids) == count > 0 and c.integer("min_gram_length") <= length <= c.integer("max_gram_length"):
            yield ids, c.body.reshaped(sliced(pool, [0], [start], [end], [1]), [len(ids), length])
    if first != len(columns):
        raise ModelError(f"ngram_indexes must be one for each of {first} runs, got {len(columns)}")


def _pool(c: Call, x: Tensor) -> Tensor:
    """The words or numbers, of x's type."""
    if (x.type == DT_STRING) != c.has("pool_strings"):
        raise ModelError("the pool must hold strings for strings, else numbers")
    if x.type == DT_STRING:
        return text_constant(c, c.texts("pool_strings"))
    return c.body.cast(c.body.constant(np.array(c.integers("pool_int64s"), np.int64)), x.type)


def _counts(c: Call, rows: Tensor, pool: Tensor) -> Tensor:
    """[runs, rows]: how often each run is there, of neighbours and with as many left out as may be."""
    runs, length = pool.sizes
    size = rows.sizes[1]
    steps = range(1, 2 if length == 1 else c.integer("max_skip_count") + 2)
    if len(steps) * length > _MOST_COMPARISONS:
        raise UnsupportedError(f"runs of {length} with {len(steps) - 1} left out: too many comparisons")
    parts = [sliced(pool, [1], [at], [at + 1], [1]) for at in range(length)]
    parts = [c.body.reshaped(part, [runs, 1, 1]) for part in parts]
    counted = []
    for step in steps:
        width = size - step * (length - 1)
        if width <= 0:
            break
        windows = [sliced(rows, [1], [step * at], [step * at + width], [1]) for at in range(length)]
        same = [
            c.make("ExpandDims", window, c.body.scalar(0, DT_INT32)).equals(part)
            for window, part in zip(windows, parts, strict=True)
        ]
        whole = reduce(lambda a, b: c.make("LogicalAnd", a, b), same)
        counted.append(c.make("Sum", c.body.cast(whole, DT_FLOAT), c.body.integers([2]), keep_dims=False))
    if not counted:
        return c.make("Fill", c.body.vector([runs, c.body.sizes_of(rows)[0]]), c.body.scalar(0, DT_FLOAT))
    return reduce(lambda a, b: a + b, counted)


def _placed(c: Call, counts: list[tuple[list[int], Tensor]], rows: Tensor, columns: list[int]) -> Tensor:
    """[rows, columns]: each run's counts in its column; those of one column together."""
    shape = c.body.vector([max(columns) + 1, c.body.sizes_of(rows)[0]])
    if not counts:
        return c.make("Transpose", c.make("Fill", shape, c.body.scalar(0, DT_FLOAT)), c.body.integers([1, 0]))
    ids = [number for each, _ in counts for number in each]
    tensors = [tensor for _, tensor in counts]
    together = tensors[0] if len(tensors) == 1 else c.make("ConcatV2", *tensors, c.body.scalar(0, DT_INT32))
    at = c.body.constant(np.array(ids, np.int32).reshape(-1, 1))
    return c.make("Transpose", c.make("ScatterNd", at, together, shape), c.body.integers([1, 0]))


REGISTRATIONS: dict[str, Rule] = {"TfIdfVectorizer": tf_idf_vectorizer}
