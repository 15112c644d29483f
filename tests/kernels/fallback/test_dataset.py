"""Datasets: their elements in order, through all that is made of them."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import (
    FailedPreconditionError,
    InvalidArgumentError,
    OutOfRangeError,
)
from numlite.lite.errors import UnsupportedError

from .graph_runs import Session

LONG = {"output_types": "list(type)$i64", "output_shapes": "list(shape)$?"}
NONE = {"Targuments": "list(type)$"}


def appended(session: Session, handle: np.ndarray) -> list[int]:
    """The elements of a dataset of numbers."""
    types = {"Tstate": "list(type)$i64", "output_types": "list(type)$i64", "output_shapes": "list(shape)$?"}
    inputs = [handle, np.zeros(0, np.int64)]
    return session.one("ReduceDataset", *inputs, f="func$append", **types, **NONE).tolist()


def append(state: np.ndarray, element: np.ndarray) -> list[np.ndarray]:
    return [np.append(state, element)]


def numbers(session: Session, *bounds: int) -> np.ndarray:
    return session.one("RangeDataset", *map(np.int64, bounds), **LONG)


def of(session: Session, op: str, *inputs: object, **attributes: str) -> np.ndarray:
    return session.one(op, *inputs, **{**LONG, **attributes})


@pytest.mark.parametrize("bounds", [(0, 5, 1), (5, 0, -2), (3, 3, 1), (0, 5, -1)])
def test_numbers(bounds: tuple[int, int, int]) -> None:
    session = Session(append=append)
    assert appended(session, numbers(session, *bounds)) == list(range(*bounds))


@pytest.mark.parametrize(
    ("op", "count", "expected"),
    [
        ("TakeDataset", 2, [0, 1]),
        ("TakeDataset", 9, [0, 1, 2, 3]),
        ("TakeDataset", -1, [0, 1, 2, 3]),
        ("SkipDataset", 1, [1, 2, 3]),
        ("SkipDataset", 9, []),
        ("SkipDataset", -1, []),
        ("RepeatDataset", 2, [0, 1, 2, 3, 0, 1, 2, 3]),
        ("RepeatDataset", 0, []),
    ],
)
def test_parts_and_rounds(op: str, count: int, expected: list[int]) -> None:
    session = Session(append=append)
    assert appended(session, of(session, op, numbers(session, 0, 4, 1), np.int64(count))) == expected


def test_rounds_without_end() -> None:
    session = Session(append=append)
    endless = of(session, "RepeatDataset", numbers(session, 0, 2, 1), np.int64(-1))
    assert appended(session, of(session, "TakeDataset", endless, np.int64(5))) == [0, 1, 0, 1, 0]
    nothing = of(session, "RepeatDataset", numbers(session, 0, 0, 1), np.int64(-1))
    assert appended(session, nothing) == []


def test_functions_of_elements() -> None:
    session = Session(
        append=append,
        times=lambda x, by: [x * by],
        is_even=lambda x: [np.array(x % 2 == 0)],
        up_to=lambda x: [numbers(session, 0, int(x), 1)],
    )
    source = numbers(session, 0, 5, 1)
    three = {"Targuments": "list(type)$i64"}
    assert appended(session, of(session, "MapDataset", source, np.int64(3), f="func$times", **three)) == [
        0,
        3,
        6,
        9,
        12,
    ]
    kept = of(session, "FilterDataset", source, predicate="func$is_even", **NONE)
    assert appended(session, kept) == [0, 2, 4]
    assert appended(session, of(session, "FlatMapDataset", kept, f="func$up_to", **NONE)) == [
        0,
        1,
        0,
        1,
        2,
        3,
    ]


@pytest.mark.parametrize(("drops", "expected"), [(False, [[0, 1], [2, 3], [4]]), (True, [[0, 1], [2, 3]])])
def test_batches(drops: bool, expected: list[list[int]]) -> None:
    found: list[list[int]] = []
    session = Session(note=lambda state, batch: found.append(batch.tolist()) or [state])
    batches = of(session, "BatchDatasetV2", numbers(session, 0, 5, 1), np.int64(2), np.array(drops))
    types = {"Tstate": "list(type)$i64"}
    session.one("ReduceDataset", batches, np.int64(0), f="func$note", **types, **LONG, **NONE)
    assert found == expected


def test_tensors_as_elements() -> None:
    session = Session(append=append)
    x = np.array([3, 1, 2], np.int64)
    types = {"Toutput_types": "list(type)$i64", "output_shapes": "list(shape)$?"}
    rows = session.one("TensorSliceDataset", x, **types)
    whole = session.one("TensorDataset", x, **types)
    assert appended(session, rows) == [3, 1, 2]
    assert appended(session, of(session, "ConcatenateDataset", rows, whole)) == [3, 1, 2, 3, 1, 2]
    assert appended(session, of(session, "ShardDataset", rows, np.int64(2), np.int64(0))) == [3, 2]


def test_datasets_side_by_side() -> None:
    session = Session(sum=lambda state, a, b: [state + a * b])
    sources = [numbers(session, 0, 3, 1), numbers(session, 5, 9, 1)]
    pairs = of(session, "ZipDataset", *sources, N="i32$2")
    types = {"Tstate": "list(type)$i64"}
    found = session.one("ReduceDataset", pairs, np.int64(0), f="func$sum", **types, **LONG, **NONE)
    assert found == 0 * 5 + 1 * 6 + 2 * 7


def test_ways_to_map() -> None:
    session = Session(append=append, double=lambda x: [x * 2], is_small=lambda x: [np.array(x < 2)])
    source = numbers(session, 0, 4, 1)
    parallel = of(session, "ParallelMapDatasetV2", source, np.int64(2), f="func$double", **NONE)
    assert appended(session, parallel) == [0, 2, 4, 6]
    inputs = source, np.int64(3), np.int64(1), np.array(False)
    both = of(session, "MapAndBatchDataset", *inputs, f="func$double", **NONE)
    assert appended(session, both) == [0, 2, 4, 6]
    assert appended(session, of(session, "TakeWhileDataset", source, predicate="func$is_small", **NONE)) == [
        0,
        1,
    ]


def test_a_cache_makes_its_elements_once() -> None:
    seen: list[int] = []
    session = Session(append=append, note=lambda x: seen.append(int(x)) or [x])
    noted = of(session, "MapDataset", numbers(session, 0, 3, 1), f="func$note", **NONE)
    cache = of(session, "CacheDataset", noted, np.array(b"", object))
    assert [appended(session, cache) for _ in range(2)] == [[0, 1, 2]] * 2
    assert seen == [0, 1, 2]
    with pytest.raises(UnsupportedError, match="kept in memory"):
        of(session, "CacheDataset", noted, np.array(b"file", object))


def next_of(session: Session, iterator: np.ndarray) -> int:
    return int(session.one("IteratorGetNext", iterator, **LONG))


@pytest.mark.parametrize("op", ["IteratorV2", "AnonymousIteratorV3"])
def test_an_iterator_goes_on_from_run_to_run(op: str) -> None:
    session = Session()
    names = {"shared_name": "string$i", "container": "string$"} if op == "IteratorV2" else {}
    iterator = session.one(op, **names, **LONG)
    with pytest.raises(FailedPreconditionError, match="must be given a dataset"):
        next_of(session, iterator)
    for _ in range(2):
        session.all("MakeIterator", [numbers(session, 5, 7, 1), iterator])
        assert [next_of(session, iterator) for _ in range(2)] == [5, 6]
    with pytest.raises(OutOfRangeError, match="end of sequence"):
        next_of(session, iterator)


def test_an_iterator_with_a_dataset_of_its_own() -> None:
    session = Session(make=lambda: [numbers(session, 0, 2, 1)])
    iterators = [session.one("OneShotIterator", dataset_factory="func$make", **LONG) for _ in range(2)]
    assert [next_of(session, iterator) for iterator in iterators] == [0, 1]


def test_what_only_says_how_to_compute() -> None:
    session = Session(append=append)
    source = numbers(session, 0, 2, 1)
    for op, inputs, attributes in (
        ("ModelDataset", [], {}),
        ("OptionsDataset", [], {"serialized_options": "string$"}),
        ("PrefetchDataset", [np.int64(1)], {}),
        ("FinalizeDataset", [], {}),
        ("OptimizeDatasetV2", [np.zeros(0, object)] * 3, {}),
        ("RewriteDataset", [np.array(b"replicate", object)], {}),
    ):
        assert appended(session, of(session, op, source, *inputs, **attributes)) == [0, 1]


def test_what_datasets_refuse() -> None:
    session = Session(append=append, not_a_bool=lambda x: [x])
    source = numbers(session, 0, 3, 1)
    with pytest.raises(InvalidArgumentError, match="step must not be 0"):
        numbers(session, 0, 3, 0)
    with pytest.raises(InvalidArgumentError, match="batch_size must be at least 1, got 0"):
        of(session, "BatchDatasetV2", source, np.int64(0), np.array(False))
    with pytest.raises(InvalidArgumentError, match="index must be 0 to num_shards - 1, got 2 of 2"):
        of(session, "ShardDataset", source, np.int64(2), np.int64(2))
    with pytest.raises(InvalidArgumentError, match="the predicate must give one bool"):
        appended(session, of(session, "FilterDataset", source, predicate="func$not_a_bool", **NONE))
    with pytest.raises(InvalidArgumentError, match="must hold a Dataset"):
        of(session, "TakeDataset", np.array(None, object), np.int64(1))
    with pytest.raises(InvalidArgumentError, match="of one length"):
        types = {"Toutput_types": "list(type)$i64,i64", "output_shapes": "list(shape)$?;?"}
        session.one("TensorSliceDataset", np.zeros(2, np.int64), np.zeros(3, np.int64), **types)
