"""V1 variables, which ops reach by reference."""

from __future__ import annotations

import numpy as np

from .attributes import DataType
from .dtypes import ANY, INDICES, NUMBERS, type_name
from .kernel import KernelContext
from .registry import kernel, kernel_class
from .resource_variable import VariableKernel, assign_arithmetic, count_up_to, is_initialized
from .status import InvalidArgumentError
from .variable import ReferencedVariable, handle_of, variable_of


class VariableV2(VariableKernel):
    """ref: a reference to the variable with this container and shared name (or the node's).

    Source: TensorFlow tensorflow/core/kernels/variable_ops.cc.
    """

    def compute(self, context: KernelContext) -> None:
        resources = context.environment.resources
        variable = resources.lookup_or_create(ReferencedVariable, self.container, self.name, self._made)
        context.set_output(0, handle_of(variable))

    def _made(self) -> ReferencedVariable:
        return ReferencedVariable(self.name, self.type, self.shape)


class TemporaryVariable(VariableKernel):
    """ref: a new variable without a value, which DestroyTemporaryVariable ends."""

    name_attribute = "var_name"

    def compute(self, context: KernelContext) -> None:
        context.set_output(0, handle_of(ReferencedVariable(self.name, self.type, self.shape)))


def destroy_temporary(ref: np.ndarray, *, T: DataType) -> np.ndarray:
    """The temporary variable's last value."""
    variable = variable_of(ref)
    value = variable.value
    if variable.data_type != T:
        names = type_name(variable.data_type), type_name(T)
        raise InvalidArgumentError(f"DestroyTemporaryVariable: the variable is {names[0]}, got {names[1]}")
    variable.forget()
    return value


def assign(ref: np.ndarray, value: np.ndarray, *, validate_shape: bool, context: KernelContext) -> np.ndarray:
    """The reference, whose value is exchanged; with validate_shape only for one of the same shape.

    Source: TensorFlow tensorflow/core/kernels/assign_op.h.
    """
    variable = variable_of(ref)
    wanted = variable.value.shape if variable.is_initialized else variable.shape
    fits = wanted is None or -1 in wanted or value.shape == tuple(wanted)
    # VariableV2 writes a shape that is not known as a scalar's or as unknown.
    declared = variable.is_initialized or bool(wanted)
    if validate_shape and declared and not fits:
        message = f"Assign: both shapes must be equal, got {list(wanted or ())} and {list(value.shape)}"
        raise InvalidArgumentError(message)
    if context.may_forward(1) and isinstance(variable, ReferencedVariable):
        variable.replace(value)
    else:
        variable.assign(value)
    return ref


def ref_identity(input: np.ndarray) -> np.ndarray:
    """The reference itself."""
    return input


def ref_select(index: np.ndarray, inputs: list[np.ndarray]) -> np.ndarray:
    """The reference at the index."""
    if index.shape != () or not 0 <= index < len(inputs):
        message = f"RefSelect: index must be a scalar of 0 to {len(inputs) - 1}"
        raise InvalidArgumentError(f"{message}, got {index.tolist()}")
    return inputs[int(index)]


REGISTRATIONS = (
    kernel_class("VariableV2", VariableV2),
    kernel_class("Variable", VariableV2),
    kernel_class("TemporaryVariable", TemporaryVariable),
    kernel("DestroyTemporaryVariable", destroy_temporary),
    kernel("Assign", assign, T=ANY),
    kernel("AssignAdd", assign_arithmetic("AssignAdd", np.add), T=NUMBERS),
    kernel("AssignSub", assign_arithmetic("AssignSub", np.subtract), T=NUMBERS),
    kernel("IsVariableInitialized", is_initialized, dtype=ANY),
    kernel("CountUpTo", count_up_to, T=INDICES),
    *(kernel(op, ref_identity, T=ANY) for op in ("RefIdentity", "DebugGradientRefIdentity")),
    kernel("RefSelect", ref_select, T=ANY),
)
