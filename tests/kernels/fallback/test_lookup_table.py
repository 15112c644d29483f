"""Tables: entries, defaults, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import FailedPreconditionError, InvalidArgumentError

from .graph_runs import Session
from .nodes import strings

WORDS = strings([b"a", b"b", b"c"])
NUMBERS = np.array([1, 2, 3], np.int64)
TYPES = {"key_dtype": "string", "value_dtype": "i64"}
IN_OUT = {"Tin": "string", "Tout": "i64"}


def hash_table(session: Session, **attributes: str) -> np.ndarray:
    return session.one("HashTableV2", **{**TYPES, **attributes})


def initialize(session: Session, handle: np.ndarray, keys: np.ndarray = WORDS) -> None:
    session.all("InitializeTableV2", [handle, keys, NUMBERS], Tkey="string", Tval="i64")


def find(session: Session, handle: np.ndarray, keys: np.ndarray, default: object = -1) -> list:
    return session.one("LookupTableFindV2", handle, keys, np.int64(default), **IN_OUT).tolist()


def test_a_table_gets_its_entries_once() -> None:
    session = Session()
    handle = hash_table(session)
    with pytest.raises(FailedPreconditionError, match="must be initialized"):
        find(session, handle, WORDS)
    initialize(session, handle)
    assert find(session, handle, strings([[b"c", b"z"], [b"", b"a"]])) == [[3, -1], [-1, 1]]
    assert session.one("LookupTableSizeV2", handle) == 3
    initialize(session, handle)
    with pytest.raises(FailedPreconditionError, match="initialized already"):
        initialize(session, handle, WORDS[::-1])
    with pytest.raises(InvalidArgumentError, match="must be mutable"):
        session.all("LookupTableInsertV2", [handle, WORDS, NUMBERS], **IN_OUT)


def test_a_key_has_one_value() -> None:
    session = Session()
    with pytest.raises(InvalidArgumentError, match="key b'a' must have one value"):
        initialize(session, hash_table(session), strings([b"a", b"b", b"a"]))


def test_tables_by_one_name_are_one() -> None:
    session = Session()
    initialize(session, hash_table(session, shared_name="string$t"))
    assert find(session, hash_table(session, shared_name="string$t"), WORDS) == [1, 2, 3]
    with pytest.raises(InvalidArgumentError, match="is from string to int64, got string to int32"):
        hash_table(session, shared_name="string$t", value_dtype="i32")
    first, second = (session.one("AnonymousHashTable", **TYPES) for _ in range(2))
    assert first[()] is not second[()]


def test_mutable_tables() -> None:
    session = Session()
    handle = session.one("MutableHashTableV2", **TYPES)
    session.all("LookupTableInsertV2", [handle, WORDS, NUMBERS], **IN_OUT)
    session.all("LookupTableInsertV2", [handle, WORDS[:1], NUMBERS[2:]], **IN_OUT)
    assert find(session, handle, WORDS) == [3, 2, 3]
    session.all("LookupTableRemoveV2", [handle, strings([b"b", b"z"])], Tin="string")
    assert find(session, handle, WORDS, [7, 8, 9]) == [3, 8, 3]
    keys, values = session.all("LookupTableExportV2", [handle], Tkeys="string", Tvalues="i64")
    assert dict(zip(keys.tolist(), values.tolist(), strict=True)) == {b"a": 3, b"c": 3}
    session.all("LookupTableImportV2", [handle, WORDS[1:2], NUMBERS[:1]], **IN_OUT)
    assert find(session, handle, WORDS) == [-1, 1, -1]


def test_values_may_be_vectors() -> None:
    session = Session()
    handle = session.one("MutableHashTableOfTensorsV2", **TYPES, value_shape="shape$2")
    rows = np.array([[1, 2], [3, 4], [5, 6]], np.int64)
    session.all("LookupTableInsertV2", [handle, WORDS, rows], **IN_OUT)
    assert find(session, handle, strings([b"b", b"z"]), [0, 9]) == [[3, 4], [0, 9]]
    with pytest.raises(InvalidArgumentError, match=r"values must be \[3, 2\], got \[3\]"):
        session.all("LookupTableInsertV2", [handle, WORDS, NUMBERS], **IN_OUT)


def test_dense_tables_have_two_keys_that_are_none() -> None:
    session = Session()
    attributes = {"key_dtype": "i64", "value_dtype": "f32"}
    empty, deleted = np.array([0, 0], np.int64), np.array([0, 1], np.int64)
    handle = session.one("MutableDenseHashTableV2", empty, deleted, **attributes)
    keys, types = np.array([[1, 2], [3, 4]], np.int64), {"Tin": "i64", "Tout": "f32"}
    session.all("LookupTableInsertV2", [handle, keys, np.float32([10, 20])], **types)
    found = session.one("LookupTableFindV2", handle, keys[::-1], np.float32(0), **types)
    assert found.tolist() == [20, 10]
    with pytest.raises(InvalidArgumentError, match="must not be the empty or the deleted key"):
        session.all("LookupTableInsertV2", [handle, deleted[None], np.float32([1])], **types)
    with pytest.raises(InvalidArgumentError, match="must differ"):
        session.one("MutableDenseHashTableV2", empty, empty, **attributes, shared_name="string$b")


def test_what_tables_refuse() -> None:
    session = Session()
    handle = hash_table(session)
    initialize(session, handle)
    with pytest.raises(InvalidArgumentError, match="keys must be string, got int64"):
        session.one("LookupTableFindV2", handle, NUMBERS, np.int64(0), Tin="i64", Tout="i64")
    with pytest.raises(InvalidArgumentError, match=r"values must be \[3\], got \[2\]"):
        find(session, handle, WORDS, [1, 2])
    with pytest.raises(InvalidArgumentError, match="vectors of one length"):
        initialize(session, hash_table(session, shared_name="string$b"), WORDS[:2])
