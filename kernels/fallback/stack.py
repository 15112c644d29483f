"""Stacks of tensors, which the gradients of V1 loops pop from."""

from __future__ import annotations

import threading

import numpy as np

from .attributes import DataType
from .dtypes import type_name
from .registry import kernel
from .status import InvalidArgumentError
from .tensor_list import scalar
from .variable import handle_of, held


class Stack:
    """Elements of one type; most is how many there may be, -1 for any number."""

    def __init__(self, data_type: int, most: int) -> None:
        self.data_type = data_type
        self.most = most
        self.elements: list[np.ndarray] = []
        self.is_closed = False
        self.lock = threading.RLock()


def _stack_of(op: str, handle: np.ndarray, data_type: int) -> Stack:
    found = held(handle, Stack, op)
    if found.is_closed:
        raise InvalidArgumentError(f"{op}: the stack must not be closed")
    if found.data_type != data_type:
        names = type_name(found.data_type), type_name(data_type)
        raise InvalidArgumentError(f"{op}: the stack's elements must be {names[1]}, got {names[0]}")
    return found


def make(max_size: np.ndarray, *, elem_type: DataType) -> np.ndarray:
    """A handle of a new stack."""
    return handle_of(Stack(elem_type, scalar("StackV2", "max_size", max_size)))


def make_endless(*, elem_type: DataType) -> np.ndarray:
    """A handle of a new stack of any number of elements."""
    return handle_of(Stack(elem_type, -1))


def push(handle: np.ndarray, elem: np.ndarray, *, T: DataType) -> np.ndarray:
    """The element, which is then the stack's last."""
    stack = _stack_of("StackPushV2", handle, T)
    with stack.lock:
        if 0 <= stack.most <= len(stack.elements):
            raise InvalidArgumentError(f"StackPushV2: the stack must hold at most {stack.most}, got one more")
        stack.elements.append(elem)
    return elem


def pop(handle: np.ndarray, *, elem_type: DataType) -> np.ndarray:
    """The stack's last element, which is then no longer on it."""
    stack = _stack_of("StackPopV2", handle, elem_type)
    with stack.lock:
        if not stack.elements:
            raise InvalidArgumentError("StackPopV2: the stack must have an element, got an empty one")
        return stack.elements.pop()


def close(handle: np.ndarray) -> None:
    """The stack and its elements are gone."""
    stack = held(handle, Stack, "StackCloseV2")
    with stack.lock:
        stack.is_closed = True
        stack.elements.clear()


REGISTRATIONS = (
    kernel("Stack", make_endless),
    kernel("StackV2", make),
    *(
        registration
        for version in ("", "V2")
        for registration in (
            kernel(f"StackPush{version}", push),
            kernel(f"StackPop{version}", pop),
            kernel(f"StackClose{version}", close),
        )
    ),
)
