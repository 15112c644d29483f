"""TensorArrays, their gradients and stacks."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .graph_runs import Session

X = np.arange(6, dtype=np.float32).reshape(3, 2)
FLOW = np.float32(0)
ANY = "shape$?"


def array(session: Session, size: int = 3, **attributes: str) -> np.ndarray:
    defaults = {"dtype": "f32", "element_shape": ANY}
    return session.one("TensorArrayV3", np.int32(size), **{**defaults, **attributes})


def write(session: Session, handle: np.ndarray, index: int, value: object) -> None:
    session.one("TensorArrayWriteV3", handle, np.int32(index), np.float32(value), FLOW, T="f32")


def read(session: Session, handle: np.ndarray, index: int) -> np.ndarray:
    return session.one("TensorArrayReadV3", handle, np.int32(index), FLOW, dtype="f32")


def gather(session: Session, handle: np.ndarray, *indices: int, shape: str = ANY) -> np.ndarray:
    inputs = handle, np.array(indices, np.int32), FLOW
    return session.one("TensorArrayGatherV3", *inputs, dtype="f32", element_shape=shape)


def scatter(session: Session, handle: np.ndarray, *indices: int) -> None:
    inputs = handle, np.array(indices, np.int32), X[: len(indices)], FLOW
    session.one("TensorArrayScatterV3", *inputs, T="f32")


def test_writing_and_reading() -> None:
    session = Session()
    handle = array(session)
    write(session, handle, 1, [1, 2])
    write(session, handle, 0, [3, 4])
    assert session.one("TensorArraySizeV3", handle, FLOW) == 3
    np.testing.assert_array_equal(gather(session, handle, 1, 0), [[1, 2], [3, 4]])


def test_rows_of_a_tensor() -> None:
    session = Session()
    handle = array(session)
    scatter(session, handle, 2, 0, 1)
    np.testing.assert_array_equal(gather(session, handle, 0, 1, 2), X[[1, 2, 0]])


@pytest.mark.parametrize("lengths", [[1, 2, 0], [3, 0, 0]])
def test_parts_of_a_tensor(lengths: list[int]) -> None:
    session = Session()
    handle = array(session)
    session.one("TensorArraySplitV3", handle, X, np.array(lengths, np.int64), FLOW, T="f32")
    inputs = handle, FLOW
    value, found = session.all("TensorArrayConcatV3", inputs, dtype="f32", element_shape_except0=ANY)
    np.testing.assert_array_equal(value, X)
    assert found.tolist() == lengths


@pytest.mark.parametrize("how", [{"element_shape": "shape$2"}, {"identical_element_shapes": "bool$true"}])
def test_elements_that_were_never_written_are_zeros_of_a_known_shape(how: dict[str, str]) -> None:
    session = Session()
    handle = array(session, **how)
    write(session, handle, 1, [1, 2])
    np.testing.assert_array_equal(gather(session, handle, 0, 1), [[0, 0], [1, 2]])


def test_an_empty_gather_needs_a_shape() -> None:
    session = Session()
    assert gather(session, array(session, 0), shape="shape$2").shape == (0, 2)
    with pytest.raises(InvalidArgumentError, match="shape that is known"):
        gather(session, array(session, 0))


def test_arrays_grow_where_that_is_allowed() -> None:
    session = Session()
    handle = array(session, 1, dynamic_size="bool$true", identical_element_shapes="bool$true")
    write(session, handle, 3, [1, 2])
    assert session.one("TensorArraySizeV3", handle, FLOW) == 4
    fixed = array(session, 1)
    with pytest.raises(InvalidArgumentError, match="index must be 0 to 0, got 3"):
        write(session, fixed, 3, [1, 2])


def test_gradients_add_up() -> None:
    session = Session()
    handle = array(session)
    scatter(session, handle, 0, 1, 2)
    attributes = {"source": "string$gradients"}
    gradient, _ = session.all("TensorArrayGradV3", [handle, FLOW], **attributes)
    again, _ = session.all("TensorArrayGradV3", [handle, FLOW], **attributes)
    assert gradient[()] is again[()]
    write(session, gradient, 0, [1, 2])
    write(session, gradient, 0, [10, 20])
    np.testing.assert_array_equal(gather(session, gradient, 0, 1), [[11, 22], [0, 0]])
    with pytest.raises(InvalidArgumentError, match="must not be read before it is written"):
        write(session, gradient, 0, [1, 2])


def test_gradients_with_more_axes() -> None:
    session = Session()
    handle = array(session)
    write(session, handle, 0, [1, 2])
    inputs = [handle, FLOW, np.array([3], np.int32)]
    gradient, _ = session.all("TensorArrayGradWithShape", inputs, source="string$g")
    assert read(session, gradient, 0).shape == (3, 2)


@pytest.mark.parametrize("clear", ["bool$true", "bool$false"])
def test_an_element_is_read_once_unless_it_is_kept(clear: str) -> None:
    session = Session()
    handle = array(session, clear_after_read=clear)
    write(session, handle, 0, [1, 2])
    read(session, handle, 0)
    if clear == "bool$false":
        np.testing.assert_array_equal(read(session, handle, 0), [1, 2])
    else:
        with pytest.raises(InvalidArgumentError, match="index 0 must be read once"):
            read(session, handle, 0)


def test_what_a_tensor_array_refuses() -> None:
    session = Session()
    handle = array(session, element_shape="shape$2")
    write(session, handle, 0, [1, 2])
    with pytest.raises(InvalidArgumentError, match="index 0 must not be written before"):
        write(session, handle, 0, [1, 2])
    with pytest.raises(InvalidArgumentError, match=r"elements must be like \[2\], got \[3\]"):
        write(session, handle, 1, [1, 2, 3])
    with pytest.raises(InvalidArgumentError, match="must be int32, got float"):
        session.one("TensorArrayReadV3", handle, np.int32(0), FLOW, dtype="i32")
    with pytest.raises(InvalidArgumentError, match="size must be 0 to"):
        array(session, -1)
    with pytest.raises(InvalidArgumentError, match="lengths must not be negative, and 3 together"):
        session.one("TensorArraySplitV3", handle, X, np.array([1, 1], np.int64), FLOW, T="f32")
    session.all("TensorArrayCloseV3", [handle])
    with pytest.raises(InvalidArgumentError, match="must not be closed"):
        read(session, handle, 0)


@pytest.mark.parametrize("version", ["", "V2"])
def test_older_versions(version: str) -> None:
    session = Session()
    attributes = {"dtype": "f32"}
    handle = session.one(f"TensorArray{version}", np.int32(2), **attributes)
    for i in range(2):
        session.one(f"TensorArrayWrite{version}", handle, np.int32(i), X[i], FLOW, T="f32")
    gradient = session.one(f"TensorArrayGrad{version}", handle, FLOW, source="string$g")
    session.one(f"TensorArrayWrite{version}", gradient, np.int32(1), X[2], FLOW, T="f32")
    indices = np.array([1, 0], np.int32)
    found = session.one(f"TensorArrayGather{version}", handle, indices, FLOW, **attributes)
    np.testing.assert_array_equal(found, X[1::-1])
    found = session.one(f"TensorArrayGather{version}", gradient, indices, FLOW, **attributes)
    np.testing.assert_array_equal(found, [X[2], [0, 0]])
    stack = session.one("Stack", elem_type="f32")
    session.one("StackPush", stack, X[0], T="f32")
    assert session.one("StackPop", stack, elem_type="f32").tolist() == X[0].tolist()


def test_a_stack_gives_the_last_first() -> None:
    session = Session()
    handle = session.one("StackV2", np.int32(2), elem_type="f32")
    for row in X[:2]:
        session.one("StackPushV2", handle, row, T="f32")
    with pytest.raises(InvalidArgumentError, match="at most 2, got one more"):
        session.one("StackPushV2", handle, X[2], T="f32")
    popped = [session.one("StackPopV2", handle, elem_type="f32").tolist() for _ in range(2)]
    assert popped == X[1::-1].tolist()
    with pytest.raises(InvalidArgumentError, match="must have an element"):
        session.one("StackPopV2", handle, elem_type="f32")
    session.all("StackCloseV2", [handle])
    with pytest.raises(InvalidArgumentError, match="must not be closed"):
        session.one("StackPopV2", handle, elem_type="f32")


def test_a_map_of_tensors() -> None:
    session = Session()
    types = {"key_dtype": "f32", "value_dtype": "i32"}
    empty = session.one("EmptyTensorMap")
    one = session.one("TensorMapInsert", empty, X[0], np.int32(7), **types)
    two = session.one("TensorMapInsert", one, X[1], np.int32([8, 9]), **types)
    assert [session.one("TensorMapSize", handle) for handle in (empty, one, two)] == [0, 1, 2]
    assert session.one("TensorMapLookup", two, X[1], **types).tolist() == [8, 9]
    np.testing.assert_array_equal(session.one("TensorMapStackKeys", two, key_dtype="f32"), X[:2])
    erased = session.one("TensorMapErase", two, X[0], **types)
    assert not session.one("TensorMapHasKey", erased, X[0], key_dtype="f32")
    assert session.one("TensorMapHasKey", two, X[0], key_dtype="f32")
    for op in ("TensorMapLookup", "TensorMapErase"):
        with pytest.raises(InvalidArgumentError, match="the key must be in the map"):
            session.one(op, empty, X[0], **types)
    with pytest.raises(InvalidArgumentError, match="the value must be float32, got int32"):
        session.one("TensorMapLookup", one, X[0], key_dtype="f32", value_dtype="f32")
