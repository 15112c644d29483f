"""Failures: nodes that cannot be converted, gathered into one error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...lite.errors import UnsupportedError
from ...schema.shown import shown
from ..lite_graph import Failure


class Failures:
    """The failures so far, each node once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Failure] = {}

    def add(self, failure: Failure) -> None:
        self._found.setdefault((failure.name, failure.op), failure)

    def __iter__(self) -> Iterator[Failure]:
        """By op."""
        return iter(sorted(self._found.values(), key=lambda failure: failure.op))

    def error(self) -> UnsupportedError | None:
        """One error that lists every op, its reason, its nodes and what would take it; None without any."""
        found = list(self)
        if not found:
            return None
        count = "1 node" if len(found) == 1 else f"{len(found)} nodes"
        text = f"{count} cannot be converted: {'; '.join(_ops(found))}"
        return UnsupportedError(shown(". ".join([text, *_settings(found)])))


def _ops(failures: Iterable[Failure]) -> Iterator[str]:
    """Each op with its reason and its nodes, and where they are."""
    groups: dict[tuple[str, str], list[str]] = {}
    for failure in failures:
        where = f"{failure.name!r} of function {failure.scope!r}" if failure.scope else repr(failure.name)
        groups.setdefault((failure.op, failure.reason), []).append(where)
    for (op, reason), nodes in groups.items():
        what = f"{op}: {reason}" if reason else op
        yield f"{what} ({'nodes' if len(nodes) > 1 else 'node'} {', '.join(nodes)})"


def _settings(failures: Iterable[Failure]) -> Iterator[str]:
    """What would take which ops."""
    groups: dict[str, dict[str, None]] = {}
    for failure in failures:
        groups.setdefault(failure.setting, {})[failure.op] = None
    for setting, ops in groups.items():
        if setting:
            yield f"{setting} would take {', '.join(ops)}"
        else:
            yield f"No setting would take {', '.join(ops)}"
