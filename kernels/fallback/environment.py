"""Environment: what the kernels of one interpreter or one graph run share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from ...lite.errors import UnsupportedError
from .attributes import FunctionName
from .status import NotFoundError

CallFunction = Callable[[FunctionName, Sequence[np.ndarray]], list[np.ndarray]]


class ResourceManager:
    """Variables, tables, queues ... by container and name. Safe from several threads."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, str], object] = {}
        self._lock = threading.RLock()

    def lookup_or_create(self, container: str, name: str, create: Callable[[], object]) -> object:
        with self._lock:
            if (container, name) not in self._resources:
                self._resources[container, name] = create()
            return self._resources[container, name]

    def lookup(self, container: str, name: str) -> object:
        """NotFoundError when there is no such resource."""
        with self._lock:
            if (container, name) not in self._resources:
                raise NotFoundError(f"resource {container or 'localhost'}/{name} does not exist")
            return self._resources[container, name]

    def delete(self, container: str, name: str) -> None:
        """NotFoundError when there is no such resource."""
        with self._lock:
            self.lookup(container, name)
            del self._resources[container, name]


def _no_functions(function: FunctionName, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    del inputs
    raise UnsupportedError(f"function {function.name!r}: there is no function library here")


class Environment:
    """Resources, the way to call functions of the graph's library, and the graph's seed.

    call_function takes the function's data inputs and returns its data results.
    """

    def __init__(self, call_function: CallFunction = _no_functions, producer: int = 0) -> None:
        self.resources = ResourceManager()
        self.call_function = call_function
        # Version of the graph's producer: old ops behave as they did then.
        self.producer = producer
