"""Iterators: where a graph is in a dataset, from run to run."""

from __future__ import annotations

import threading
from collections.abc import Iterator as Elements

import numpy as np

from .attributes import DataType, FunctionName
from .dataset import Dataset, Element
from .dtypes import numpy_dtype
from .kernel import KernelConstruction, KernelContext, OpKernel
from .registry import kernel, kernel_class
from .status import FailedPreconditionError, InternalError, InvalidArgumentError, OutOfRangeError
from .variable import handle_of, held


class Iterator:
    """A place in a dataset, once it is given one."""

    def __init__(self) -> None:
        self.elements: Elements[Element] | None = None
        self.lock = threading.RLock()


class IteratorOp(OpKernel):
    """handle: that of the iterator with this container and shared name (or the node's)."""

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._container = construction.get_attr("container", str)
        self._name = construction.get_attr("shared_name", str) or construction.name

    def compute(self, context: KernelContext) -> None:
        context.set_output(0, handle_of(self._iterator(context)))

    def _iterator(self, context: KernelContext) -> Iterator:
        resources = context.environment.resources
        return resources.lookup_or_create(Iterator, self._container, self._name, Iterator)


class OneShotIteratorOp(IteratorOp):
    """handle: that of an iterator of the dataset that a function makes when it is first asked for."""

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._factory = construction.get_attr("dataset_factory", FunctionName)

    def compute(self, context: KernelContext) -> None:
        iterator = self._iterator(context)
        with iterator.lock:
            if iterator.elements is None:
                made = context.environment.call_function(self._factory, [])
                if len(made) != 1:
                    message = f"dataset_factory must give one dataset, got {len(made)} results"
                    context.failure(InvalidArgumentError(f"OneShotIterator: {message}"))
                iterator.elements = iter(held(made[0], Dataset, "OneShotIterator"))
        context.set_output(0, handle_of(iterator))


def anonymous() -> np.ndarray:
    """A handle of an iterator that belongs to it alone."""
    return handle_of(Iterator())


def begin(dataset: np.ndarray, iterator: np.ndarray) -> None:
    """Put the iterator before the dataset's first element."""
    found = held(iterator, Iterator, "MakeIterator")
    with found.lock:
        found.elements = iter(held(dataset, Dataset, "MakeIterator"))


def get_next(iterator: np.ndarray, *, output_types: list[DataType]) -> list[np.ndarray]:
    """The components of the next element; OutOfRangeError behind the last one."""
    op = "IteratorGetNext"
    found = held(iterator, Iterator, op)
    with found.lock:
        if found.elements is None:
            raise FailedPreconditionError(f"{op}: the iterator must be given a dataset before it is read")
        element = next(found.elements, None)
    if element is None:
        raise OutOfRangeError(f"{op}: end of sequence")
    if [component.dtype for component in element] != [numpy_dtype(type) for type in output_types]:
        kinds = [str(component.dtype) for component in element]
        raise InternalError(f"{op}: elements must have the types that the node says, got {kinds}")
    return list(element)


REGISTRATIONS = (
    *(kernel_class(op, IteratorOp) for op in ("Iterator", "IteratorV2")),
    kernel_class("OneShotIterator", OneShotIteratorOp),
    kernel("AnonymousIteratorV3", anonymous),
    kernel("MakeIterator", begin),
    kernel("IteratorGetNext", get_next),
)
