"""Queues: first in first out, padded, and by priority.

There is no other thread that would fill or empty a queue: where TensorFlow would wait for one, it is a
FailedPreconditionError.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Sequence
from itertools import count

import numpy as np

from .attributes import DataType, PartialShape
from .dtypes import numpy_dtype, type_name
from .kernel import KernelConstruction, KernelContext, OpKernel, zeros
from .partial_shape import in_words, known, merged_with
from .registry import kernel, kernel_class
from .status import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from .tensor_list import scalar
from .variable import handle_of, held, matches

_Element = tuple[np.ndarray, ...]


class Queue:
    """Elements of several components; capacity is how many there may be, -1 for any number."""

    def __init__(
        self, name: str, types: Sequence[int], shapes: Sequence[PartialShape], capacity: int
    ) -> None:
        self.name = name
        self.types = list(types)
        self.shapes = list(shapes)
        self.capacity = capacity
        self.is_closed = False
        self.lock = threading.RLock()
        self._elements: list[tuple[int, int, _Element]] = []
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._elements)

    def priority(self, element: _Element) -> int:
        """What comes out first: the least."""
        return 0

    def put(self, op: str, elements: Sequence[_Element]) -> None:
        """All of them, or an error."""
        if self.is_closed:
            raise FailedPreconditionError(f"{op}: queue {self.name!r} must be open, it is closed")
        if self.capacity >= 0 and len(self) + len(elements) > self.capacity:
            message = f"queue {self.name!r} must hold at most {self.capacity} elements"
            raise FailedPreconditionError(f"{op}: {message}, got {len(self) + len(elements)}")
        for element in elements:
            # A number of its own keeps those of one priority in order.
            heapq.heappush(self._elements, (self.priority(element), next(self._numbers), element))

    def take(self, op: str, wanted: int, or_fewer: bool = False) -> list[_Element]:
        """The next elements; of a closed queue, OutOfRangeError when there are not enough."""
        if wanted > len(self):
            if not self.is_closed:
                message = f"queue {self.name!r} must have {wanted} elements"
                raise FailedPreconditionError(f"{op}: {message}, got {len(self)}, and nobody adds more")
            if not or_fewer or not len(self):
                message = f"queue {self.name!r} is closed and must have {wanted} elements"
                raise OutOfRangeError(f"{op}: {message}, got {len(self)}")
        return [heapq.heappop(self._elements)[2] for _ in range(min(wanted, len(self)))]

    def check(self, op: str, components: Sequence[np.ndarray], rows: bool) -> None:
        """InvalidArgumentError unless the components (or, with rows, their slices) may be elements."""
        if len(components) != len(self.types):
            message = f"queue {self.name!r} has {len(self.types)} components"
            raise InvalidArgumentError(f"{op}: {message}, got {len(components)}")
        for i, (component, type) in enumerate(zip(components, self.types, strict=True)):
            if component.dtype != numpy_dtype(type):
                message = f"component {i} of queue {self.name!r} must be {type_name(type)}"
                raise InvalidArgumentError(f"{op}: {message}, got {component.dtype}")
            shape = component.shape[1:] if rows else component.shape
            wanted = self.shapes[i] if self.shapes else None
            if (rows and not component.ndim) or not matches(shape, wanted):
                message = f"component {i} of queue {self.name!r} must be like {in_words(wanted)}"
                raise InvalidArgumentError(f"{op}: {message}, got {list(shape)}")

    def batched(self, op: str, elements: Sequence[_Element]) -> list[np.ndarray]:
        """Each component's values along a new first axis."""
        return [self._stacked(op, i, [element[i] for element in elements]) for i in range(len(self.types))]

    def _stacked(self, op: str, i: int, values: Sequence[np.ndarray]) -> np.ndarray:
        shape = merged_with(op, self.shapes[i] if self.shapes else None, (value.shape for value in values))
        what = f"component {i} of queue {self.name!r}"
        made = zeros((len(values), *known(op, shape, what)), numpy_dtype(self.types[i]))
        for row, value in enumerate(values):
            made[row] = value
        return made


class PaddingQueue(Queue):
    """Values of one batch are made as large as the largest, with zeros behind."""

    def _stacked(self, op: str, i: int, values: Sequence[np.ndarray]) -> np.ndarray:
        shape = self.shapes[i] or ()
        sizes = [
            max((value.shape[axis] for value in values), default=0) if size < 0 else size
            for axis, size in enumerate(shape)
        ]
        made = zeros((len(values), *sizes), numpy_dtype(self.types[i]))
        for row, value in enumerate(values):
            place: tuple[int | slice, ...] = (row, *(slice(size) for size in value.shape))
            made[place] = value
        return made


class PriorityQueue(Queue):
    """The element with the least first component, an int64 scalar, comes out first."""

    def priority(self, element: _Element) -> int:
        return int(element[0])


class QueueOp(OpKernel):
    """handle: that of the queue with this container and shared name (or the node's).

    Source: TensorFlow tensorflow/core/kernels/queue_base.cc.
    """

    queue_class: type[Queue] = Queue

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._container = construction.get_attr("container", str)
        self._name = construction.get_attr("shared_name", str) or construction.name
        self._types: list[int] = list(construction.get_attr("component_types", list[DataType]))
        self._shapes = construction.get_attr("shapes", list[PartialShape])
        self._capacity = construction.get_attr("capacity", int)
        if self._shapes and len(self._shapes) != len(self._types):
            message = f"{construction.op}: there must be a shape for each of {len(self._types)} components"
            construction.failure(InvalidArgumentError(f"{message}, got {len(self._shapes)}"))

    def compute(self, context: KernelContext) -> None:
        resources = context.environment.resources
        queue = resources.lookup_or_create(self.queue_class, self._container, self._name, self._made)
        context.set_output(0, handle_of(queue))

    def _made(self) -> Queue:
        return self.queue_class(self._name, self._types, self._shapes, self._capacity)


class PaddingQueueOp(QueueOp):
    """handle: that of a padding queue, whose shapes have known ranks."""

    queue_class = PaddingQueue

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        if len(self._shapes) != len(self._types) or None in self._shapes:
            message = f"{construction.op}: every component must have a shape of known rank"
            construction.failure(InvalidArgumentError(f"{message}, got {self._shapes}"))


class PriorityQueueOp(QueueOp):
    """handle: that of a priority queue; its first component is the priority."""

    queue_class = PriorityQueue

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._types = [_INT64, *self._types]
        self._shapes = [(), *self._shapes]


_INT64 = 9  # DT_INT64


def enqueue(handle: np.ndarray, components: list[np.ndarray]) -> None:
    """One more element."""
    queue = held(handle, Queue, "QueueEnqueue")
    with queue.lock:
        queue.check("QueueEnqueue", components, rows=False)
        queue.put("QueueEnqueue", [tuple(component.copy() for component in components)])


def enqueue_many(handle: np.ndarray, components: list[np.ndarray]) -> None:
    """An element for each slice of the components along their first axis."""
    op = "QueueEnqueueMany"
    queue = held(handle, Queue, op)
    with queue.lock:
        queue.check(op, components, rows=True)
        lengths = {len(component) for component in components}
        if len(lengths) > 1:
            raise InvalidArgumentError(f"{op}: components must have one length, got {sorted(lengths)}")
        rows = range(lengths.pop() if lengths else 0)
        queue.put(op, [tuple(_row(component, i) for component in components) for i in rows])


def _row(component: np.ndarray, i: int) -> np.ndarray:
    return component[i : i + 1].reshape(component.shape[1:]).copy()


def dequeue(handle: np.ndarray) -> list[np.ndarray]:
    """The components of the next element."""
    queue = held(handle, Queue, "QueueDequeue")
    with queue.lock:
        return list(queue.take("QueueDequeue", 1)[0])


def dequeue_many(handle: np.ndarray, n: np.ndarray) -> list[np.ndarray]:
    """The next n elements, each component's values along a new first axis."""
    return _dequeued("QueueDequeueMany", handle, n, or_fewer=False)


def dequeue_up_to(handle: np.ndarray, n: np.ndarray) -> list[np.ndarray]:
    """The same; of a closed queue fewer, when there are no more."""
    return _dequeued("QueueDequeueUpTo", handle, n, or_fewer=True)


def _dequeued(op: str, handle: np.ndarray, n: np.ndarray, or_fewer: bool) -> list[np.ndarray]:
    queue, wanted = held(handle, Queue, op), scalar(op, "n", n)
    if wanted < 0:
        raise InvalidArgumentError(f"{op}: n must not be negative, got {wanted}")
    with queue.lock:
        return queue.batched(op, queue.take(op, wanted, or_fewer) if wanted else [])


def close(handle: np.ndarray) -> None:
    """Nothing more comes into the queue."""
    held(handle, Queue, "QueueClose").is_closed = True


def is_closed(handle: np.ndarray) -> np.ndarray:
    """Whether the queue was closed."""
    return np.array(held(handle, Queue, "QueueIsClosed").is_closed)


def size(handle: np.ndarray) -> np.ndarray:
    """The number of elements, int32."""
    return np.array(len(held(handle, Queue, "QueueSize")), np.int32)


REGISTRATIONS = tuple(
    registration
    for version in ("", "V2")
    for registration in (
        kernel_class(f"FIFOQueue{version}", QueueOp),
        kernel_class(f"PaddingFIFOQueue{version}", PaddingQueueOp),
        kernel_class(f"PriorityQueue{version}", PriorityQueueOp),
        kernel(f"QueueEnqueue{version}", enqueue),
        kernel(f"QueueEnqueueMany{version}", enqueue_many),
        kernel(f"QueueDequeue{version}", dequeue),
        kernel(f"QueueDequeueMany{version}", dequeue_many),
        kernel(f"QueueDequeueUpTo{version}", dequeue_up_to),
        kernel(f"QueueClose{version}", close),
        kernel(f"QueueIsClosed{version}", is_closed),
        kernel(f"QueueSize{version}", size),
    )
)
