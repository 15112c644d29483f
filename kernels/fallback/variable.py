"""Variable: what a resource handle or a reference holds, and how kernels reach it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from .attributes import PartialShape
from .dtypes import numpy_dtype, type_name
from .status import FailedPreconditionError, InvalidArgumentError, NotFoundError

T = TypeVar("T")


class Variable:
    """A value that ops exchange for another; arrays that were read from it never change (see
    ReferencedVariable for those of which they do).

    Handles of resource variables and references to V1 variables are scalar object arrays that hold
    one. lock makes several steps on it one.
    """

    def __init__(self, name: str, data_type: int, shape: PartialShape = None) -> None:
        self.name = name
        self.data_type = data_type
        self.shape = shape
        self.lock = threading.RLock()
        self.destroyed = False
        self._value: np.ndarray | None = None

    @property
    def is_initialized(self) -> bool:
        return self._value is not None and not self.destroyed

    @property
    def value(self) -> np.ndarray:
        """The present value (read-only); FailedPreconditionError when it has none."""
        if self.destroyed:
            raise NotFoundError(f"variable {self.name!r} does not exist: it was destroyed")
        if self._value is None:
            raise FailedPreconditionError(f"variable {self.name!r} must be initialized before it is read")
        return self._value

    def assign(self, value: np.ndarray) -> None:
        """Exchange the value for an array that nobody else writes to."""
        if value.dtype != numpy_dtype(self.data_type):
            raise InvalidArgumentError(
                f"variable {self.name!r} must be {type_name(self.data_type)}, got {value.dtype}"
            )
        value.flags.writeable = False
        self._value = value

    def update(self, function: Callable[[np.ndarray], np.ndarray]) -> None:
        """Exchange the value for what function makes of it, as one step."""
        with self.lock:
            self.assign(function(self.value))

    def forget(self) -> None:
        """The variable has no value any more."""
        self._value = None


class ReferencedVariable(Variable):
    """A V1 variable: what was read by reference is its memory, which later assignments change.

    TensorFlow's own programs rely on it: a read that ran before an assignment gives the new value.
    """

    def assign(self, value: np.ndarray) -> None:
        """Copy a value of the present shape into the memory; one of another gets memory of its own."""
        held = self._value
        if held is None or held.shape != value.shape or held.dtype != value.dtype:
            self.replace(value.copy())
            return
        held.flags.writeable = True
        np.copyto(held, value)
        held.flags.writeable = False

    def replace(self, value: np.ndarray) -> None:
        """Take an array that nobody else reads; what was read before stays as it is."""
        super().assign(value)


def handle_of(resource: object) -> np.ndarray:
    """A scalar tensor that holds the resource."""
    handle = np.empty((), object)
    handle[()] = resource
    return handle


def held(handle: np.ndarray, kind: type[T], what: str = "") -> T:
    """The resource that a handle holds; InvalidArgumentError when it is of another class or none."""
    found = handle[()] if handle.shape == () else None
    if not isinstance(found, kind):
        message = f"{what or kind.__name__}: a handle must hold a {kind.__name__}"
        raise InvalidArgumentError(f"{message}, got {type(found).__name__} {list(handle.shape)}")
    return found


def variable_of(handle: np.ndarray) -> Variable:
    """The variable of a handle or a reference."""
    return held(handle, Variable)


def dereferenced(reference: np.ndarray) -> np.ndarray:
    """The value that a reference is read as; handles of what is no variable are themselves."""
    found = reference[()] if reference.shape == () else None
    return found.value if isinstance(found, Variable) else reference


def matches(shape: tuple[int, ...], wanted: PartialShape) -> bool:
    """Whether a known shape is one that a partial shape allows."""
    if wanted is None:
        return True
    return len(shape) == len(wanted) and all(b in (-1, a) for a, b in zip(shape, wanted, strict=True))
