"""Datasets: sequences of elements that are made as they are asked for, and what they are reduced to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, takewhile

import numpy as np

from ...lite.errors import UnsupportedError
from .attributes import DataType, FunctionName
from .axis import row_of
from .control_flow import is_true
from .dtypes import numpy_dtype
from .kernel import KernelContext
from .registry import kernel
from .status import InvalidArgumentError
from .tensor_list import scalar
from .variable import handle_of, held

# The components of an element.
Element = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Dataset:
    """begin() gives the elements from the first one on, as often as it is called."""

    begin: Callable[[], Iterator[Element]]

    def __iter__(self) -> Iterator[Element]:
        return self.begin()


def _dataset(op: str, handle: np.ndarray) -> Dataset:
    return held(handle, Dataset, op)


def count_from(
    start: np.ndarray, stop: np.ndarray, step: np.ndarray, *, output_types: list[DataType]
) -> Dataset:
    """The numbers from start to stop, which is not among them, by step."""
    op = "RangeDataset"
    bounds = [scalar(op, name, x) for name, x in (("start", start), ("stop", stop), ("step", step))]
    if bounds[2] == 0:
        raise InvalidArgumentError(f"{op}: step must not be 0")
    if len(output_types) != 1:
        raise InvalidArgumentError(f"{op}: output_types must be one type, got {len(output_types)}")
    dtype = numpy_dtype(output_types[0])
    return Dataset(lambda: ((np.asarray(dtype.type(i)),) for i in range(*bounds)))


def single(components: list[np.ndarray]) -> Dataset:
    """One element."""
    element = tuple(components)
    return Dataset(lambda: iter((element,)))


def slices(components: list[np.ndarray]) -> Dataset:
    """The components' slices along their first axis."""
    lengths = {len(x) if x.ndim else -1 for x in components}
    if len(lengths) != 1 or -1 in lengths:
        shapes = [list(x.shape) for x in components]
        message = "components must have a first axis, of one length"
        raise InvalidArgumentError(f"TensorSliceDataset: {message}, got {shapes}")
    count = lengths.pop()
    return Dataset(lambda: (tuple(row_of(x, i) for x in components) for i in range(count)))


def mapped(
    input_dataset: np.ndarray, other_arguments: list[np.ndarray], *, f: FunctionName, context: KernelContext
) -> Dataset:
    """What f makes of each element and the other arguments."""
    source, call = _dataset("MapDataset", input_dataset), context.environment.call_function
    return Dataset(lambda: (tuple(call(f, [*element, *other_arguments])) for element in source))


def flat_mapped(
    input_dataset: np.ndarray, other_arguments: list[np.ndarray], *, f: FunctionName, context: KernelContext
) -> Dataset:
    """The elements of the datasets that f makes of each element, one dataset after another."""
    source, call = _dataset("FlatMapDataset", input_dataset), context.environment.call_function

    def inner(element: Element) -> Dataset:
        made = call(f, [*element, *other_arguments])
        if len(made) != 1:
            raise InvalidArgumentError(f"FlatMapDataset: f must give one dataset, got {len(made)} results")
        return _dataset("FlatMapDataset", made[0])

    return Dataset(lambda: chain.from_iterable(map(inner, source)))


def filtered(
    input_dataset: np.ndarray,
    other_arguments: list[np.ndarray],
    *,
    predicate: FunctionName,
    context: KernelContext,
) -> Dataset:
    """The elements of which the predicate is true."""
    source = _dataset("FilterDataset", input_dataset)
    return Dataset(lambda: filter(_test("FilterDataset", predicate, other_arguments, context), source))


def _test(
    op: str, predicate: FunctionName, others: Sequence[np.ndarray], context: KernelContext
) -> Callable[[Element], bool]:
    """Whether the predicate is true of an element."""

    def holds(element: Element) -> bool:
        found = context.environment.call_function(predicate, [*element, *others])
        if len(found) != 1 or found[0].dtype != np.bool_ or found[0].shape != ():
            raise InvalidArgumentError(f"{op}: the predicate must give one bool")
        return bool(found[0])

    return holds


def batched(input_dataset: np.ndarray, batch_size: np.ndarray, drop_remainder: np.ndarray) -> Dataset:
    """So many elements each as one, its components along a new first axis; the last one may have fewer."""
    op = "BatchDatasetV2"
    source, count = _dataset(op, input_dataset), scalar(op, "batch_size", batch_size)
    if count < 1:
        raise InvalidArgumentError(f"{op}: batch_size must be at least 1, got {count}")
    drops = is_true(op, drop_remainder)

    def batches() -> Iterator[Element]:
        elements = iter(source)
        while batch := list(islice(elements, count)):
            if len(batch) == count or not drops:
                yield tuple(_stacked(op, values) for values in zip(*batch, strict=True))

    return Dataset(batches)


def _stacked(op: str, values: Sequence[np.ndarray]) -> np.ndarray:
    shapes = sorted({value.shape for value in values})
    if len(shapes) > 1:
        raise InvalidArgumentError(f"{op}: the elements of a batch must have one shape, got {shapes}")
    return np.stack(values)


def repeated(input_dataset: np.ndarray, count: np.ndarray) -> Dataset:
    """The elements count times over, for ever when it is negative and there are any."""
    source, times = _dataset("RepeatDataset", input_dataset), scalar("RepeatDataset", "count", count)

    def rounds() -> Iterator[Element]:
        done = 0
        while times < 0 or done < times:
            done += 1
            is_empty = True
            for element in source:
                is_empty = False
                yield element
            if is_empty:
                return

    return Dataset(rounds)


def taken(input_dataset: np.ndarray, count: np.ndarray) -> Dataset:
    """The first count elements, all when it is negative."""
    source, most = _dataset("TakeDataset", input_dataset), scalar("TakeDataset", "count", count)
    return Dataset(lambda: islice(source, most if most >= 0 else None))


def skipped(input_dataset: np.ndarray, count: np.ndarray) -> Dataset:
    """The elements behind the first count, none when it is negative."""
    source, first = _dataset("SkipDataset", input_dataset), scalar("SkipDataset", "count", count)
    return Dataset(lambda: islice(source, first, None) if first >= 0 else iter(()))


def shard(input_dataset: np.ndarray, num_shards: np.ndarray, index: np.ndarray) -> Dataset:
    """Every num_shards-th element from the one with the index on."""
    op = "ShardDataset"
    source = _dataset(op, input_dataset)
    count, first = scalar(op, "num_shards", num_shards), scalar(op, "index", index)
    if not 0 <= first < count:
        raise InvalidArgumentError(f"{op}: index must be 0 to num_shards - 1, got {first} of {count}")
    return Dataset(lambda: islice(source, first, None, count))


def zipped(input_datasets: list[np.ndarray]) -> Dataset:
    """The first elements together, then the second ones, as long as all have some."""
    sources = [_dataset("ZipDataset", handle) for handle in input_datasets]
    return Dataset(lambda: (tuple(chain(*elements)) for elements in zip(*sources, strict=False)))


def concatenated(input_dataset: np.ndarray, another_dataset: np.ndarray) -> Dataset:
    """The elements of the one, then those of the other."""
    sources = [_dataset("ConcatenateDataset", handle) for handle in (input_dataset, another_dataset)]
    return Dataset(lambda: chain(*sources))


def as_it_is(input_dataset: np.ndarray) -> Dataset:
    """The dataset itself: only how it would be computed is said."""
    return _dataset("dataset", input_dataset)


def prefetched(input_dataset: np.ndarray, buffer_size: np.ndarray) -> Dataset:
    """The dataset itself; buffer_size says how much to compute ahead."""
    return _dataset("PrefetchDataset", input_dataset)


def rewritten(input_dataset: np.ndarray, rewrite_name: np.ndarray) -> Dataset:
    """The dataset itself; rewrite_name says how to compute it faster."""
    return _dataset("RewriteDataset", input_dataset)


def optimized(
    input_dataset: np.ndarray, enabled: np.ndarray, disabled: np.ndarray, default: np.ndarray
) -> Dataset:
    """The dataset itself; the others name ways to compute it faster."""
    return _dataset("OptimizeDatasetV2", input_dataset)


def taken_while(
    input_dataset: np.ndarray,
    other_arguments: list[np.ndarray],
    *,
    predicate: FunctionName,
    context: KernelContext,
) -> Dataset:
    """The elements before the first of which the predicate is false."""
    source = _dataset("TakeWhileDataset", input_dataset)
    return Dataset(lambda: takewhile(_test("TakeWhileDataset", predicate, other_arguments, context), source))


def cached(input_dataset: np.ndarray, filename: np.ndarray) -> Dataset:
    """The dataset, whose elements are made once."""
    source = _dataset("CacheDataset", input_dataset)
    made: list[list[Element]] = []
    if filename.shape != () or filename.item():
        raise UnsupportedError("CacheDataset: elements are kept in memory; one without a filename would run")

    def elements() -> Iterator[Element]:
        if not made:
            made.append(list(source))
        return iter(made[0])

    return Dataset(elements)


def mapped_in_parallel(
    input_dataset: np.ndarray,
    other_arguments: list[np.ndarray],
    num_parallel_calls: np.ndarray,
    *,
    f: FunctionName,
    context: KernelContext,
) -> Dataset:
    """What f makes of each element, one after another."""
    return mapped(input_dataset, other_arguments, f=f, context=context)


def mapped_and_batched(
    input_dataset: np.ndarray,
    other_arguments: list[np.ndarray],
    batch_size: np.ndarray,
    num_parallel_calls: np.ndarray,
    drop_remainder: np.ndarray,
    *,
    f: FunctionName,
    context: KernelContext,
) -> Dataset:
    """Batches of what f makes of the elements."""
    made = handle_of(mapped(input_dataset, other_arguments, f=f, context=context))
    return batched(made, batch_size, drop_remainder)


def reduced(
    input_dataset: np.ndarray,
    initial_state: list[np.ndarray],
    other_arguments: list[np.ndarray],
    *,
    f: FunctionName,
    context: KernelContext,
) -> list[np.ndarray]:
    """The state, which f makes anew of itself, of each element and of the other arguments."""
    state = initial_state
    for element in _dataset("ReduceDataset", input_dataset):
        state = context.environment.call_function(f, [*state, *element, *other_arguments])
        if len(state) != len(initial_state):
            message = f"f must have {len(initial_state)} results"
            raise InvalidArgumentError(f"ReduceDataset: {message}, got {len(state)}")
    return state


REGISTRATIONS = (
    kernel("RangeDataset", count_from),
    kernel("TensorDataset", single),
    kernel("TensorSliceDataset", slices),
    kernel("MapDataset", mapped),
    kernel("FlatMapDataset", flat_mapped),
    kernel("FilterDataset", filtered),
    kernel("BatchDatasetV2", batched),
    kernel("RepeatDataset", repeated),
    kernel("TakeDataset", taken),
    kernel("SkipDataset", skipped),
    kernel("ShardDataset", shard),
    kernel("ZipDataset", zipped),
    kernel("ConcatenateDataset", concatenated),
    kernel("TakeWhileDataset", taken_while),
    kernel("CacheDataset", cached),
    kernel("ParallelMapDatasetV2", mapped_in_parallel),
    kernel("MapAndBatchDataset", mapped_and_batched),
    *(kernel(op, as_it_is) for op in ("ModelDataset", "OptionsDataset", "FinalizeDataset")),
    *(kernel(op, as_it_is) for op in ("WrapDatasetVariant", "UnwrapDatasetVariant")),
    kernel("OptimizeDatasetV2", optimized),
    kernel("PrefetchDataset", prefetched),
    kernel("RewriteDataset", rewritten),
    kernel("ReduceDataset", reduced),
)
