"""Environment: what the kernels of one interpreter or one graph run share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from ...lite.errors import UnsupportedError
from .attributes import FunctionName

if TYPE_CHECKING:
    from .file_access import FileAccess

CallFunction = Callable[[FunctionName, Sequence[np.ndarray]], list[np.ndarray]]
Watch = Callable[[str, int, Sequence[object]], None]
T = TypeVar("T")


class ResourceManager:
    """Variables, tables, queues ... by class, container and name. Safe from several threads."""

    def __init__(self) -> None:
        self._resources: dict[tuple[type, str, str], object] = {}
        self._lock = threading.RLock()

    def lookup_or_create(self, kind: type[T], container: str, name: str, create: Callable[[], T]) -> T:
        """The resource of that class and name; create makes it when there is none."""
        key = kind, container, name
        with self._lock:
            if key not in self._resources:
                self._resources[key] = create()
            return cast(T, self._resources[key])

    def delete(self, resource: object) -> bool:
        """Forget a resource; False when it is not there (any more)."""
        with self._lock:
            keys = [key for key, held in self._resources.items() if held is resource]
            for key in keys:
                del self._resources[key]
        return bool(keys)


def _no_functions(function: FunctionName, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    del inputs
    raise UnsupportedError(f"function {function.name!r}: there is no function library here")


def _never() -> None:
    """The check of runs that nothing stops."""


class Environment:
    """Resources, the way to call functions of the graph's library, and files.

    call_function takes the function's data inputs and returns its data results. check raises an error when
    the run is to stop; loops call it. watch is told of each node that has run: name, nanoseconds, outputs.
    """

    watch: Watch | None = None

    def __init__(
        self,
        call_function: CallFunction = _no_functions,
        producer: int = 0,
        resources: ResourceManager | None = None,
        files: FileAccess | None = None,
        check: Callable[[], None] = _never,
    ) -> None:
        self.resources = ResourceManager() if resources is None else resources
        self.call_function = call_function
        # Version of the graph's producer: old ops behave as they did then.
        self.producer = producer
        # None where graphs may not touch files.
        self.files = files
        self.check = check
