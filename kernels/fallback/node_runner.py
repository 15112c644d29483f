"""Nodes run one at a time: a kernel, made once and computed as often as wanted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...lite.errors import InvokeError, ModelError, UnsupportedError
from ...schema.graph_def import NodeDef
from .dtypes import numpy_dtype, type_name
from .environment import Environment
from .function_kernel import FunctionKernel
from .kernel import KernelConstruction, KernelContext
from .register import fallback_kernels
from .registry import KernelRegistry
from .status import InternalError, InvalidArgumentError, OpError, ResourceExhaustedError


class NodeRunner:
    """A node with its kernel. Stateless ones are safe from several threads."""

    def __init__(self, node: NodeDef, registry: KernelRegistry | None = None) -> None:
        """Makes the kernel; UnsupportedError when there is none, ModelError for wrong attributes."""
        registry = fallback_kernels() if registry is None else registry
        self.construction = KernelConstruction(registry.metadata(node.op), node.attr, node.name)
        found = registry.find(self.construction)
        self.construction.metadata.check(self.construction.attributes)
        self.stateful = found.stateful
        try:
            self._kernel = found.factory(self.construction)
        except (OpError, ModelError, UnsupportedError):
            raise
        except ValueError as error:
            raise ModelError(f"{node.op}: attributes do not fit each other: {error}") from error
        kernel = self._kernel
        self._pure = kernel if isinstance(kernel, FunctionKernel) and kernel.is_pure else None
        self.input_types = [type for argument in self.construction.inputs for type in argument.types]
        self.output_types = self.construction.output_types

    def __call__(
        self,
        inputs: Sequence[np.ndarray],
        environment: Environment,
        forwardable: frozenset[int] = frozenset(),
    ) -> list[np.ndarray]:
        """The outputs; an OpError when the kernel fails."""
        with np.errstate(all="ignore"):
            return self.compute(inputs, environment, forwardable)

    def compute(
        self, inputs: Sequence[np.ndarray], environment: Environment, forwardable: frozenset[int]
    ) -> list[np.ndarray]:
        """The same for who has told NumPy not to warn, once for many nodes."""
        self._check(inputs)
        try:
            if self._pure is not None:
                return self._pure.outputs_of(inputs)
            context = KernelContext(self.construction, inputs, environment, forwardable)
            self._kernel.compute(context)
        except (InvokeError, ModelError, UnsupportedError):
            raise
        except (ValueError, IndexError, OverflowError) as error:
            # NumPy's word for inputs that do not fit each other.
            raise InvalidArgumentError(f"{self.construction.op}: {error}") from error
        except (TypeError, AttributeError, LookupError, ArithmeticError) as error:
            # The kernel's own fault: it should have looked at what it was given.
            raise InternalError(f"{self.construction.op}: {type(error).__name__}: {error}") from error
        except MemoryError as error:
            raise ResourceExhaustedError(f"{self.construction.op}: {error}") from error
        return context.results()

    def _check(self, inputs: Sequence[np.ndarray]) -> None:
        if [value.dtype for value in inputs] == self._input_dtypes:
            return
        op, types = self.construction.op, self.input_types
        if len(inputs) != len(types):
            raise ModelError(f"{op}: must have {len(types)} inputs, got {len(inputs)}")
        for index, (value, type) in enumerate(zip(inputs, types, strict=True)):
            if value.dtype != numpy_dtype(type):
                raise InvalidArgumentError(
                    f"{op}: input {index} must be {type_name(type)}, got {value.dtype} {list(value.shape)}"
                )

    @cached_property
    def _input_dtypes(self) -> list[np.dtype]:
        return [numpy_dtype(type) for type in self.input_types]

    @property
    def takes_memory(self) -> bool:
        """Whether an output may take the memory of an input, as only a kernel with a context can."""
        return self._pure is None

    def delete(self) -> None:
        """The kernel does not run again."""
        self._kernel.delete()


def run_node(
    node: NodeDef,
    inputs: Sequence[np.ndarray],
    registry: KernelRegistry | None = None,
    environment: Environment | None = None,
) -> list[np.ndarray]:
    """Outputs of the node for these inputs, in the order of its op's definition.

    Raises UnsupportedError when no kernel takes it, ModelError for wrong attributes and OpError
    (status.py) when the kernel fails.
    """
    runner = NodeRunner(node, registry)
    try:
        return runner(inputs, Environment() if environment is None else environment)
    finally:
        runner.delete()
