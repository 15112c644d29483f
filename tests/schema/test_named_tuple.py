"""What NamedTuple promises, asked of typing's as well: they must not be told apart."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest
from numlite.schema import named_tuple


class Ours(named_tuple.NamedTuple):
    """Documented."""

    name: str
    size: int = 3
    kind: str = "plain"

    @property
    def double(self) -> int:
        return 2 * self.size


class Theirs(typing.NamedTuple):
    """Documented."""

    name: str
    size: int = 3
    kind: str = "plain"

    @property
    def double(self) -> int:
        return 2 * self.size


BOTH = pytest.mark.parametrize("kind", [Ours, Theirs])


@BOTH
def test_values_are_found_by_name_and_by_place(kind: type[Ours]) -> None:
    made = kind("a", kind="b")
    assert made == ("a", 3, "b") == kind(*made) and made.double == 6
    name, *rest = made
    assert (name, rest, made[1], made.kind) == ("a", [3, "b"], 3, "b")
    assert kind._fields == ("name", "size", "kind") and kind.__doc__ == "Documented."
    assert {made: 1}[kind("a", 3, "b")] == 1 and made._replace(size=4) == ("a", 4, "b")
    assert made._asdict() == {"name": "a", "size": 3, "kind": "b"}


@BOTH
def test_it_shows_its_fields(kind: type[Ours]) -> None:
    assert repr(kind("a")) == f"{kind.__name__}(name='a', size=3, kind='plain')"


@BOTH
def test_it_travels(kind: type[Ours]) -> None:
    made = kind("a", 5)
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert other == made and type(other) is kind


@BOTH
def test_it_is_matched_by_place(kind: type[Ours]) -> None:
    match kind("a", 5):
        case kind(name, size):
            assert (name, size) == ("a", 5)
        case _:
            pytest.fail("it has another shape")


@BOTH
def test_nothing_can_be_set(kind: type[Ours]) -> None:
    with pytest.raises(AttributeError):
        kind("a").size = 4  # type: ignore[misc]
    with pytest.raises(AttributeError):
        kind("a").other = 4  # type: ignore[attr-defined]


@BOTH
@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), (("a", 1, "b", 2), {}), (("a",), {"name": "b"}), (("a",), {"other": 1}), ((), {"size": 1})],
)
def test_other_values_are_refused(
    kind: type[Ours], values: tuple[object, ...], named: dict[str, object]
) -> None:
    with pytest.raises(TypeError):
        kind(*values, **named)  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError)):
        kind("a")._replace(other=1)  # type: ignore[call-arg]
