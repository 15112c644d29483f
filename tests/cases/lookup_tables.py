"""Cases of EMBEDDING_LOOKUP_SPARSE, HASHTABLE_LOOKUP, LSH_PROJECTION and SKIP_GRAM."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder
from .case import Case
from .movement_case import index, movement_case, random_array


def sparse_case(
    places: list[list[int]], shape: list[int], combiner: tflite.CombinerType, constant: bool
) -> Case:
    """Lookups of one row of the output follow one another."""
    id = f"EMBEDDING_LOOKUP_SPARSE-{combiner.name}-{shape}-{constant}"
    rows = index(1, 3, 0, 1, 4)[: len(places)]

    def oracle(
        rows: np.ndarray, places: np.ndarray, shape: np.ndarray, weights: np.ndarray, table: np.ndarray
    ) -> np.ndarray:
        y = np.zeros((*shape[:-1], *table.shape[1:]), np.float32)
        total: dict[tuple[int, ...], list[np.float32]] = {}
        for row, place, weight in zip(rows, places, weights, strict=True):
            y[tuple(place[:-1])] += table[row] * weight
            total.setdefault(tuple(place[:-1]), []).append(weight)
        for place, used in total.items():
            if combiner == tflite.CombinerType.MEAN:
                y[place] /= sum(used, np.float32(0))
            elif combiner == tflite.CombinerType.SQRTN:
                y[place] /= np.sqrt(sum((w * w for w in used), np.float32(0)))
        return y

    weights = np.abs(random_array(id, (len(places),), np.float32))
    return movement_case(
        id,
        BuiltinOperator.EMBEDDING_LOOKUP_SPARSE,
        [rows, np.array(places, np.int32), index(*shape), weights, random_array(id, (5, 3), np.float32)],
        oracle,
        tflite.EmbeddingLookupSparseOptionsT(combiner=combiner),
        constants=(2, 4) if constant else (),
    )


def table_case(dtype: type, shape: tuple[int, ...]) -> Case:
    id = f"HASHTABLE_LOOKUP-{np.dtype(dtype).name}-{list(shape)}"

    def oracle(wanted: np.ndarray, keys: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
        known = {int(key): row for key, row in zip(keys, values, strict=True)}
        y = [known.get(int(key), np.zeros_like(values[0])) for key in wanted]
        return [np.array(y, dtype), np.isin(wanted, keys).astype(np.uint8)]

    return movement_case(
        id,
        BuiltinOperator.HASHTABLE_LOOKUP,
        [index(3, -5, 100, 7, 3), index(-5, 1, 3, 7, 9), random_array(id, shape, dtype)],
        oracle,
        constants=(1, 2),
    )


def projection_case(kind: tflite.LSHProjectionType, width: int, weighted: bool) -> Case:
    """Items of all lengths that the hash treats differently."""
    id = f"LSH_PROJECTION-{kind.name}-{width}-{weighted}"

    def make() -> bytes:
        model = ModelBuilder()
        tensors = [model.tensor((3, 7), np.float32), model.tensor((4, width), np.int8)]
        if weighted:
            tensors.append(model.tensor((4,), np.float32))
        y = model.tensor((3 if kind == tflite.LSHProjectionType.SPARSE else 21,), np.int32)
        options = tflite.LSHProjectionOptionsT(type=kind)
        model.op(BuiltinOperator.LSH_PROJECTION, tensors, [y], options)
        return model.build(tensors, [y])

    inputs = [random_array(id, (3, 7), np.float32), random_array(id, (4, width), np.int8)]
    return Case(id=id, make=make, inputs=[*inputs, *[random_array(id, (4,), np.float32)] * weighted])


def skip_gram_case(sentence: str, size: int, skip: int, every_size: bool) -> Case:
    def make() -> bytes:
        model = ModelBuilder()
        x, y = model.tensor((1,), TensorType.STRING), model.tensor((1,), TensorType.STRING)
        options = tflite.SkipGramOptionsT(ngram_size=size, max_skip_size=skip, include_all_ngrams=every_size)
        model.op(BuiltinOperator.SKIP_GRAM, [x], [y], options)
        return model.build([x], [y])

    def oracle(x: np.ndarray) -> np.ndarray:
        words = x[0].split()
        chosen = [
            gram
            for n in (range(1, size + 1) if every_size else [size])
            for gram in combinations(range(len(words)), n)
            if all(b - a <= skip + 1 for a, b in pairwise(gram))
        ]
        # A gram comes behind those that continue it.
        chosen.sort(key=lambda gram: (*gram, len(words)))
        return np.array([b" ".join(words[i] for i in gram) for gram in chosen], object)

    return Case(
        id=f"SKIP_GRAM-{len(sentence)}-{size}-{skip}-{every_size}",
        make=make,
        inputs=[np.array([sentence.encode()], object)],
        oracle=oracle,
    )


_PLACES = [[0, 0], [0, 1], [1, 0], [3, 0], [3, 1]]
_DEEP_PLACES = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]]

CASES = [
    *(sparse_case(_PLACES, [4, 2], combiner, c) for combiner in tflite.CombinerType for c in (True, False)),
    *(sparse_case(_DEEP_PLACES, [2, 2, 2], combiner, True) for combiner in tflite.CombinerType),
    table_case(np.float32, (5,)),
    table_case(np.int8, (5, 3)),
    *(
        projection_case(kind, width, weighted)
        for kind in (tflite.LSHProjectionType.SPARSE, tflite.LSHProjectionType.DENSE)
        for width, weighted in ((3, False), (6, True), (20, True), (50, False), (200, True))
    ),
    skip_gram_case("the quick brown fox jumps over", 2, 1, False),
    skip_gram_case("the quick brown fox jumps over", 3, 2, True),
    skip_gram_case("one", 1, 0, True),
]
