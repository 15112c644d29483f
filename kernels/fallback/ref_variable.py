"""V1 variables, which ops reach by reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .attributes import DataType, PartialShape
from .dtypes import ANY, INDICES, NUMBERS, type_name
from .kernel import KernelConstruction, KernelContext, OpKernel
from .registry import kernel, kernel_class
from .resource_variable import count_up_to
from .status import InvalidArgumentError
from .variable import ReferencedVariable, handle_of, variable_of


class VariableV2(OpKernel):
    """ref: a reference to the variable with this container and shared name (or the node's).

    Source: TensorFlow tensorflow/core/kernels/variable_ops.cc.
    """

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._container = construction.get_attr("container", str)
        self._name = construction.get_attr("shared_name", str) or construction.name
        self._type = construction.get_attr("dtype", DataType)
        self._shape: PartialShape = construction.get_attr("shape", PartialShape)  # type: ignore[arg-type]

    def compute(self, context: KernelContext) -> None:
        resources = context.environment.resources
        variable = resources.lookup_or_create(ReferencedVariable, self._container, self._name, self._made)
        context.set_output(0, handle_of(variable))

    def _made(self) -> ReferencedVariable:
        return ReferencedVariable(self._name, self._type, self._shape)


class TemporaryVariable(OpKernel):
    """ref: a new variable without a value, which DestroyTemporaryVariable ends."""

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._name = construction.get_attr("var_name", str) or construction.name
        self._type = construction.get_attr("dtype", DataType)
        self._shape: PartialShape = construction.get_attr("shape", PartialShape)  # type: ignore[arg-type]

    def compute(self, context: KernelContext) -> None:
        context.set_output(0, handle_of(ReferencedVariable(self._name, self._type, self._shape)))


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


def _arithmetic(op: str, ufunc: np.ufunc) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def assign_arithmetic(ref: np.ndarray, value: np.ndarray) -> np.ndarray:
        """The reference, to whose value is added (or subtracted from); shapes must be equal."""

        def changed(old: np.ndarray) -> np.ndarray:
            if old.shape != value.shape:
                shapes = f"{list(old.shape)} and {list(value.shape)}"
                raise InvalidArgumentError(f"{op}: shapes must be equal, got {shapes}")
            made: np.ndarray = np.asarray(ufunc(old, value))
            return made

        variable_of(ref).update(changed)
        return ref

    return assign_arithmetic


def is_initialized(ref: np.ndarray) -> np.ndarray:
    """Whether the variable has a value."""
    return np.array(variable_of(ref).is_initialized)


def ref_identity(input: np.ndarray) -> np.ndarray:
    """The reference itself."""
    return input


def ref_select(index: np.ndarray, inputs: list[np.ndarray]) -> np.ndarray:
    """The reference at the index."""
    if index.shape != () or not 0 <= index < len(inputs):
        message = f"RefSelect: index must be a scalar of 0 to {len(inputs) - 1}"
        raise InvalidArgumentError(f"{message}, got {index.tolist()}")
    return inputs[int(index)]


KERNELS = (
    kernel_class("VariableV2", VariableV2),
    kernel_class("Variable", VariableV2),
    kernel_class("TemporaryVariable", TemporaryVariable),
    kernel("DestroyTemporaryVariable", destroy_temporary),
    kernel("Assign", assign, T=ANY),
    kernel("AssignAdd", _arithmetic("AssignAdd", np.add), T=NUMBERS),
    kernel("AssignSub", _arithmetic("AssignSub", np.subtract), T=NUMBERS),
    kernel("IsVariableInitialized", is_initialized, dtype=ANY),
    kernel("CountUpTo", count_up_to, T=INDICES),
    *(kernel(op, ref_identity, T=ANY) for op in ("RefIdentity", "DebugGradientRefIdentity")),
    kernel("RefSelect", ref_select, T=ANY),
)
