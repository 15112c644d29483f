"""Queues: what comes out, in which order, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import (
    FailedPreconditionError,
    InvalidArgumentError,
    OutOfRangeError,
)

from .graph_runs import Session

TYPES = "list(type)$i64,f32"


def queue(session: Session, op: str = "FIFOQueueV2", **attributes: str) -> np.ndarray:
    defaults = {"component_types": TYPES, "shapes": "list(shape)$;2"}
    return session.one(op, **{**defaults, **attributes})


def fill(session: Session, handle: np.ndarray, *numbers: int) -> None:
    rows = np.array(numbers, np.int64), np.float32([[n, -n] for n in numbers])
    session.all("QueueEnqueueManyV2", [handle, *rows], Tcomponents=TYPES)


def take(session: Session, handle: np.ndarray, count: int, op: str = "QueueDequeueManyV2") -> list[list]:
    found = session.all(op, [handle, np.int32(count)], component_types=TYPES)
    return [value.tolist() for value in found]


def test_first_in_first_out() -> None:
    session = Session()
    handle = queue(session)
    fill(session, handle, 3, 1, 2)
    session.all("QueueEnqueueV2", [handle, np.int64(4), np.float32([4, -4])], Tcomponents=TYPES)
    assert session.one("QueueSizeV2", handle) == 4
    first = session.all("QueueDequeueV2", [handle], component_types=TYPES)
    assert [value.tolist() for value in first] == [3, [3, -3]]
    assert take(session, handle, 3) == [[1, 2, 4], [[1, -1], [2, -2], [4, -4]]]


def test_the_least_comes_out_first() -> None:
    session = Session()
    handle = queue(session, "PriorityQueueV2", component_types="list(type)$f32", shapes="list(shape)$2")
    fill(session, handle, 3, 1, 2, 1)
    assert take(session, handle, 3)[0] == [1, 1, 2]


def test_values_of_one_batch_are_padded() -> None:
    session = Session()
    types = {"component_types": "list(type)$f32"}
    handle = session.one("PaddingFIFOQueueV2", **types, shapes="list(shape)$-1x2")
    for rows in (1, 3):
        value = np.full((rows, 2), rows, np.float32)
        session.all("QueueEnqueueV2", [handle, value], Tcomponents="list(type)$f32")
    (found,) = session.all("QueueDequeueManyV2", [handle, np.int32(2)], **types)
    np.testing.assert_array_equal(found, [[[1, 1], [0, 0], [0, 0]], [[3, 3]] * 3])


def test_handles_by_one_name_are_of_one_queue() -> None:
    session = Session()
    fill(session, queue(session, shared_name="string$q"), 1)
    assert session.one("QueueSizeV2", queue(session, shared_name="string$q")) == 1
    assert session.one("QueueSizeV2", queue(session, shared_name="string$other")) == 0


def test_closed_queues() -> None:
    session = Session()
    handle = queue(session)
    fill(session, handle, 1, 2, 3)
    session.all("QueueCloseV2", [handle])
    assert session.one("QueueIsClosedV2", handle)
    with pytest.raises(FailedPreconditionError, match="must be open"):
        fill(session, handle, 4)
    with pytest.raises(OutOfRangeError, match="is closed and must have 5 elements, got 3"):
        take(session, handle, 5)
    assert take(session, handle, 5, "QueueDequeueUpToV2")[0] == [1, 2, 3]
    with pytest.raises(OutOfRangeError, match="got 0"):
        take(session, handle, 5, "QueueDequeueUpToV2")


def test_where_tensorflow_would_wait_is_an_error() -> None:
    session = Session()
    handle = queue(session, capacity="i32$2")
    with pytest.raises(FailedPreconditionError, match="must hold at most 2 elements, got 3"):
        fill(session, handle, 1, 2, 3)
    with pytest.raises(FailedPreconditionError, match="must have 1 elements, got 0"):
        take(session, handle, 1)


def test_what_queues_refuse() -> None:
    session = Session()
    handle = queue(session)
    with pytest.raises(InvalidArgumentError, match=r"component 1 .* must be float, got int64"):
        session.all("QueueEnqueueV2", [handle, np.int64(1), np.int64(1)], Tcomponents="list(type)$i64,i64")
    with pytest.raises(InvalidArgumentError, match=r"component 1 .* must be like \[2\], got \[3\]"):
        session.all("QueueEnqueueV2", [handle, np.int64(1), np.zeros(3, np.float32)], Tcomponents=TYPES)
    with pytest.raises(InvalidArgumentError, match="has 2 components, got 1"):
        session.all("QueueEnqueueV2", [handle, np.int64(1)], Tcomponents="list(type)$i64")
    with pytest.raises(InvalidArgumentError, match="must have one length"):
        rows = [np.zeros(2, np.int64), np.zeros((3, 2), np.float32)]
        session.all("QueueEnqueueManyV2", [handle, *rows], Tcomponents=TYPES)
    with pytest.raises(InvalidArgumentError, match="a shape for each of 2 components"):
        queue(session, shapes="list(shape)$2")
    with pytest.raises(InvalidArgumentError, match="shape of known rank"):
        queue(session, "PaddingFIFOQueueV2", shapes="list(shape)$?;2")
    with pytest.raises(InvalidArgumentError, match="n must not be negative"):
        take(session, handle, -1)
