"""Constants, and the places of a graph that are fed."""

from __future__ import annotations

import numpy as np

from .attributes import DataType
from .dtypes import numpy_dtype, type_name
from .kernel import KernelConstruction, KernelContext, OpKernel, checked_shape
from .registry import kernel, kernel_class
from .status import InvalidArgumentError


class Const(OpKernel):
    """output: the attribute value, read-only, the same array every time.

    One that repeats a value takes no memory itself; what kernels make of it does.
    """

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._value = construction.get_attr("value", np.ndarray)
        data_type = construction.get_attr("dtype", DataType)
        if self._value.dtype != numpy_dtype(data_type):
            message = f"Const: value must be {type_name(data_type)}, got {self._value.dtype}"
            construction.failure(InvalidArgumentError(message))

    def compute(self, context: KernelContext) -> None:
        checked_shape(self._value.shape, self._value.dtype)
        context.set_output(0, self._value)


class Placeholder(OpKernel):
    """A tensor that the run must be given."""

    def compute(self, context: KernelContext) -> None:
        context.failure(InvalidArgumentError("Placeholder: a value must be fed, got none"))


def placeholder_with_default(input: np.ndarray) -> np.ndarray:
    """The default, which nothing was fed in place of."""
    return input


REGISTRATIONS = (
    kernel_class("Const", Const),
    kernel_class("HostConst", Const),
    kernel_class("Placeholder", Placeholder),
    kernel_class("PlaceholderV2", Placeholder),
    kernel("PlaceholderWithDefault", placeholder_with_default),
)
