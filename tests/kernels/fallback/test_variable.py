"""Variables by resource and by reference."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.node_runner import NodeRunner
from numlite.kernels.fallback.status import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
)
from numlite.kernels.fallback.variable import variable_of

from .graph_runs import Session
from .nodes import node

X = np.float32([1, 2])


def handle(session: Session, name: str = "v", **attributes: str) -> np.ndarray:
    defaults = {"dtype": "f32", "shape": "shape$2", "shared_name": f"string${name}"}
    return session.one("VarHandleOp", **{**defaults, **attributes})


def assign(session: Session, resource: np.ndarray, value: np.ndarray, **attributes: str) -> None:
    session.all("AssignVariableOp", [resource, value], **{"dtype": "f32", **attributes})


def read(session: Session, resource: np.ndarray) -> np.ndarray:
    return session.one("ReadVariableOp", resource, dtype="f32")


def test_assigning_and_reading() -> None:
    session = Session()
    v = handle(session)
    assert not session.one("VarIsInitializedOp", v)
    given = X.copy()
    assign(session, v, given)
    given += 100
    first = read(session, v)
    session.all("AssignAddVariableOp", [v, X], dtype="f32")
    session.all("AssignSubVariableOp", [v, X + X], dtype="f32")
    # What was read and what was given stay what they were.
    np.testing.assert_array_equal(first, X)
    np.testing.assert_array_equal(read(session, handle(session)), [0, 0])
    assert session.one("VarIsInitializedOp", v)
    assert session.one("VariableShape", v, out_type="i64").tolist() == [2]


def test_handles_by_one_name_are_of_one_variable() -> None:
    session = Session()
    assign(session, handle(session), X)
    np.testing.assert_array_equal(read(session, handle(session)), X)
    others = [handle(session, "w"), handle(session, container="string$elsewhere")]
    anonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
    others += [handle(session, anonymous), handle(session, anonymous)]
    assert len({id(variable_of(other)) for other in [handle(session), *others]}) == 5
    with pytest.raises(InvalidArgumentError, match="variable 'v' is float, got int32"):
        handle(session, dtype="i32")
    with pytest.raises(InvalidArgumentError, match="variable 'v' is float, got int32"):
        session.one("ReadVariableOp", handle(session), dtype="i32")


def test_several_handles_at_once() -> None:
    session = Session()
    lists = {"containers": "list(string)$,", "dtypes": "list(type)$f32,i32", "shapes": "list(shape)$2;"}
    a, b = session.all("_VarHandlesOp", shared_names="list(string)$a,b", N="i32$2", **lists)
    assign(session, a, X)
    assign(session, b, np.int32(3), dtype="i32")
    found = session.all("_ReadVariablesOp", [a, b], N="i32$2", dtypes="list(type)$f32,i32")
    assert [value.tolist() for value in found] == [X.tolist(), 3]
    np.testing.assert_array_equal(read(session, handle(session, "a")), X)


def test_a_variable_without_a_value_cannot_be_read() -> None:
    session = Session()
    for op in ("ReadVariableOp", "VariableShape"):
        with pytest.raises(FailedPreconditionError, match="'v' must be initialized before it is read"):
            session.one(op, handle(session), **({"dtype": "f32"} if op == "ReadVariableOp" else {}))


def test_a_variable_that_is_destroyed_is_gone() -> None:
    session = Session()
    v = handle(session)
    assign(session, v, X)
    session.all("DestroyResourceOp", [v])
    with pytest.raises(NotFoundError, match="it was destroyed"):
        read(session, v)
    assert not session.one("VarIsInitializedOp", handle(session))
    session.all("DestroyResourceOp", [v])
    with pytest.raises(NotFoundError, match="does not exist"):
        session.all("DestroyResourceOp", [v], ignore_lookup_error="bool$false")


def test_shapes_are_held_to_where_that_is_asked_for() -> None:
    session = Session()
    v = handle(session, shape="shape$-1x2")
    assign(session, v, X)
    assign(session, v, np.ones((3, 2), np.float32), validate_shape="bool$true")
    with pytest.raises(InvalidArgumentError, match=r"shape must be \(-1, 2\), got \[2\]"):
        assign(session, v, X, validate_shape="bool$true")
    with pytest.raises(InvalidArgumentError, match=r"shapes must be equal, got \[3, 2\] and \[2\]"):
        session.all("AssignAddVariableOp", [v, X], dtype="f32")


def test_counting_up_to_a_limit() -> None:
    session = Session()
    v = handle(session, dtype="i32", shape="shape$")
    assign(session, v, np.int32(3), dtype="i32")
    attributes = {"limit": "i32$5", "T": "i32"}
    assert [int(session.one("ResourceCountUpTo", v, **attributes)) for _ in range(2)] == [3, 4]
    with pytest.raises(OutOfRangeError, match="limit of 5"):
        session.one("ResourceCountUpTo", v, **attributes)


def reference(session: Session, op: str = "VariableV2", **attributes: str) -> np.ndarray:
    return session.one(op, **{"dtype": "f32", "shape": "shape$2", **attributes})


@pytest.mark.parametrize("op", ["VariableV2", "Variable"])
def test_references(op: str) -> None:
    session = Session()
    v = reference(session, op)
    assert not session.one("IsVariableInitialized", v, dtype="f32")
    assert session.one("Assign", v, X, T="f32")[()] is v[()]
    session.one("AssignAdd", v, X, T="f32")
    session.one("AssignSub", reference(session, op), np.float32([0, 1]), T="f32")
    np.testing.assert_array_equal(variable_of(v).value, [2, 3])
    other = reference(session, op, shared_name="string$other")
    assert session.one("RefSelect", np.int32(1), v, other, T="f32", N="i32$2")[()] is other[()]
    with pytest.raises(InvalidArgumentError, match="index must be a scalar of 0 to 1, got 2"):
        session.one("RefSelect", np.int32(2), v, other, T="f32", N="i32$2")


def test_what_is_read_by_reference_changes_with_the_variable() -> None:
    session = Session()
    v = reference(session)
    given = X.copy()
    session.one("Assign", v, given, T="f32")
    before = variable_of(v).value
    session.one("AssignAdd", v, X, T="f32")
    np.testing.assert_array_equal(before, [2, 4])
    session.one("Assign", v, np.float32([7, 8]), T="f32")
    np.testing.assert_array_equal(before, [7, 8])
    np.testing.assert_array_equal(given, X)
    session.one("Assign", v, np.zeros(3, np.float32), T="f32", validate_shape="bool$false")
    np.testing.assert_array_equal(before, [7, 8])
    with pytest.raises(ValueError, match="read-only"):
        before[0] = 1


def test_a_value_that_nobody_else_reads_takes_the_place_of_the_old_one() -> None:
    session = Session()
    v = reference(session)
    session.one("Assign", v, X, T="f32")
    before, value = variable_of(v).value, np.float32([7, 8])
    runner = NodeRunner(node("Assign", T="f32"))
    runner([v, value], session.environment, frozenset([1]))
    assert variable_of(v).value is value
    np.testing.assert_array_equal(before, X)


def test_counting_by_reference_gives_the_number_before() -> None:
    session = Session()
    v = reference(session, dtype="i32", shape="shape$")
    session.one("Assign", v, np.int32(3), T="i32")
    assert session.one("CountUpTo", v, limit="i32$5", T="i32") == 3
    assert variable_of(v).value == 4


def test_references_keep_their_shape_unless_told_otherwise() -> None:
    session = Session()
    v = reference(session)
    with pytest.raises(InvalidArgumentError, match=r"both shapes must be equal, got \[2\] and \[3\]"):
        session.one("Assign", v, np.zeros(3, np.float32), T="f32")
    session.one("Assign", v, np.zeros(3, np.float32), T="f32", validate_shape="bool$false")
    assert variable_of(v).value.shape == (3,)


def test_a_temporary_variable() -> None:
    session = Session()
    v = reference(session, "TemporaryVariable")
    session.one("Assign", v, X, T="f32")
    np.testing.assert_array_equal(session.one("DestroyTemporaryVariable", v, T="f32", var_name="string$n"), X)
    with pytest.raises(FailedPreconditionError, match="must be initialized"):
        session.one("DestroyTemporaryVariable", v, T="f32", var_name="string$n")
    assert reference(session, "TemporaryVariable")[()] is not v[()]


def test_what_is_no_handle() -> None:
    session = Session()
    for wrong in (np.array(None, object), np.array([None], object), np.array(b"v", object)):
        with pytest.raises(InvalidArgumentError, match="a handle must hold a Variable"):
            read(session, wrong)
