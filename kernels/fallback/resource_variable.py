"""Resource variables: handles, reads and assignments."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from .attributes import DataType, PartialShape
from .dtypes import ANY, INDICES, NUMBERS, numpy_dtype, type_name
from .kernel import KernelConstruction, KernelContext, OpKernel
from .registry import kernel, kernel_class
from .status import InvalidArgumentError, NotFoundError, OutOfRangeError
from .variable import Variable, handle_of, matches, variable_of

# The shared name of variables that belong to their handle alone.
_ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"


class VariableKernel(OpKernel):
    """A kernel that makes variables of the node's type and shape.

    A variable's name is the attribute name_attribute, or the node's own where that is empty.
    """

    name_attribute: ClassVar[str] = "shared_name"

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self.name = construction.get_attr(self.name_attribute, str) or construction.name
        self.container = construction.get_attr("container", str) if construction.has_attr("container") else ""
        self.type = construction.get_attr("dtype", DataType)
        self.shape: PartialShape = construction.get_attr("shape", PartialShape)  # type: ignore[arg-type]


class VarHandleOp(VariableKernel):
    """resource: a handle of the variable with this container and shared name (or the node's).

    Source: TensorFlow tensorflow/core/kernels/resource_variable_ops.cc.
    """

    def compute(self, context: KernelContext) -> None:
        if self.name == _ANONYMOUS:
            context.set_output(0, handle_of(self._made()))
            return
        resources = context.environment.resources
        variable = resources.lookup_or_create(Variable, self.container, self.name, self._made)
        if variable.data_type != self.type:
            names = type_name(variable.data_type), type_name(self.type)
            context.failure(
                InvalidArgumentError(f"VarHandleOp: variable {self.name!r} is {names[0]}, got {names[1]}")
            )
        context.set_output(0, handle_of(variable))

    def _made(self) -> Variable:
        return Variable(self.name, self.type, self.shape)


class VarHandlesOp(OpKernel):
    """resources: a handle for each of N variables."""

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._keys = list(
            zip(
                construction.get_attr("containers", list[str]),
                construction.get_attr("shared_names", list[str]),
                construction.get_attr("dtypes", list[DataType]),
                construction.get_attr("shapes", list[PartialShape]),
                strict=True,
            )
        )

    def compute(self, context: KernelContext) -> None:
        for index, (container, name, data_type, shape) in enumerate(self._keys):
            made = Variable(name, data_type, shape)
            variable = context.environment.resources.lookup_or_create(
                Variable,
                container,
                name,
                lambda made=made: made,  # type: ignore[misc]
            )
            context.set_output(index, handle_of(variable))


def read(resource: np.ndarray, *, dtype: DataType) -> np.ndarray:
    """The variable's value, of the type that is asked for."""
    variable = variable_of(resource)
    if variable.data_type != dtype:
        names = type_name(variable.data_type), type_name(dtype)
        raise InvalidArgumentError(
            f"ReadVariableOp: variable {variable.name!r} is {names[0]}, got {names[1]}"
        )
    return variable.value


def read_all(resources: list[np.ndarray], *, dtypes: list[DataType]) -> list[np.ndarray]:
    """The values of several variables."""
    return [read(resource, dtype=dtype) for resource, dtype in zip(resources, dtypes, strict=True)]


def assign(resource: np.ndarray, value: np.ndarray, *, dtype: DataType, validate_shape: bool = False) -> None:
    """Exchange the value; with validate_shape one of a shape that the variable may not have is an error."""
    variable = variable_of(resource)
    if variable.data_type != dtype:
        names = type_name(variable.data_type), type_name(dtype)
        message = f"AssignVariableOp: variable {variable.name!r} is {names[0]}"
        raise InvalidArgumentError(f"{message}, got {names[1]}")
    if validate_shape and not matches(value.shape, variable.shape):
        message = f"AssignVariableOp: shape must be {variable.shape}"
        raise InvalidArgumentError(f"{message}, got {list(value.shape)}")
    variable.destroyed = False
    variable.assign(value.copy())


def assign_arithmetic(op: str, ufunc: np.ufunc) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The function that adds to (or subtracts from) a variable's value, and gives its handle.

    The shapes must be equal.
    """

    def changed(handle: np.ndarray, value: np.ndarray) -> np.ndarray:
        def combined(old: np.ndarray) -> np.ndarray:
            if old.shape != value.shape:
                shapes = f"{list(old.shape)} and {list(value.shape)}"
                raise InvalidArgumentError(f"{op}: shapes must be equal, got {shapes}")
            return np.asarray(ufunc(old, value))

        variable_of(handle).update(combined)
        return handle

    return changed


def is_initialized(resource: np.ndarray) -> np.ndarray:
    """Whether the variable has a value."""
    return np.array(variable_of(resource).is_initialized)


def shape_of(input: np.ndarray, *, out_type: DataType) -> np.ndarray:
    """The shape of the variable's value."""
    return np.array(variable_of(input).value.shape, numpy_dtype(out_type))


def destroy(resource: np.ndarray, *, context: KernelContext, ignore_lookup_error: bool) -> None:
    """Forget the resource that the handle holds."""
    found = resource[()] if resource.shape == () else None
    known = context.environment.resources.delete(found)
    if isinstance(found, Variable):
        known |= found.is_initialized
        found.forget()
        found.destroyed = True
    if not known and not ignore_lookup_error:
        raise NotFoundError("DestroyResourceOp: the resource does not exist")


def count_up_to(resource: np.ndarray, *, limit: int) -> np.ndarray:
    """The value, which becomes one more; OutOfRangeError at the limit."""
    variable = variable_of(resource)
    with variable.lock:
        before = variable.value.copy()
        if before.shape != ():
            raise InvalidArgumentError(f"CountUpTo: the variable must be a scalar, got {list(before.shape)}")
        if before >= limit:
            raise OutOfRangeError(f"CountUpTo: reached the limit of {limit}")
        variable.assign(np.asarray(before + before.dtype.type(1)))
    return before


REGISTRATIONS = (
    kernel_class("VarHandleOp", VarHandleOp),
    kernel_class("_VarHandlesOp", VarHandlesOp),
    kernel("ReadVariableOp", read),
    kernel("_ReadVariablesOp", read_all),
    kernel("AssignVariableOp", assign, dtype=ANY),
    kernel("AssignAddVariableOp", assign_arithmetic("AssignAddVariableOp", np.add), dtype=NUMBERS),
    kernel("AssignSubVariableOp", assign_arithmetic("AssignSubVariableOp", np.subtract), dtype=NUMBERS),
    kernel("VarIsInitializedOp", is_initialized),
    kernel("VariableShape", shape_of, out_type=INDICES),
    kernel("DestroyResourceOp", destroy),
    kernel("ResourceCountUpTo", count_up_to, T=INDICES),
)
