"""KernelRegistry: TensorFlow kernels by op name, chosen by type constraints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...lite.errors import UnsupportedError
from .attributes import DataType
from .dtypes import type_name
from .function_kernel import BuiltKernel, FunctionKernel, PureFunction
from .kernel import KernelConstruction, KernelContext, KernelFactory, OpKernel
from .op_metadata import OpMetadata, tensorflow_op


@dataclass(frozen=True)
class KernelRegistration:
    """A kernel for an op whose type attributes are among the constraints.

    A stateful kernel is made once for each environment, a stateless one once for each node.
    """

    op: str
    factory: KernelFactory
    constraints: Mapping[str, frozenset[int]] = field(default_factory=dict)
    stateful: bool = False

    def mismatch(self, construction: KernelConstruction) -> str | None:
        """The first constraint that the node's attributes do not meet, in words."""
        for name, allowed in self.constraints.items():
            if not construction.has_attr(name):
                return f"attribute {name!r} is missing"
            wrong = [type for type in _types(construction, name) if type not in allowed]
            if wrong:
                return f"{name} must be one of {_names(allowed)}, got {type_name(wrong[0])}"
        return None


def _types(construction: KernelConstruction, name: str) -> list[DataType]:
    if construction.attributes[name].WhichOneof("value") == "list":
        return construction.get_attr(name, list[DataType])
    return [construction.get_attr(name, DataType)]


def _names(types: Iterable[int]) -> str:
    return ", ".join(sorted(map(type_name, types)))


def kernel(
    op: str, function: PureFunction, *, stateful: bool = False, **constraints: Collection[int]
) -> KernelRegistration:
    """A kernel that calls a function (see function_kernel.PureFunction)."""
    factory = partial(FunctionKernel, function=function)
    return KernelRegistration(op, factory, _frozen(constraints), stateful)


def kernel_class(op: str, cls: type[OpKernel], **constraints: Collection[int]) -> KernelRegistration:
    """A kernel that is a class."""
    return KernelRegistration(op, cls, _frozen(constraints), cls.stateful)


def built_kernel(
    op: str,
    create: Callable[[KernelConstruction], object],
    compute: Callable[[Any, KernelContext], None],
    delete: Callable[[Any], None] | None = None,
    *,
    stateful: bool = False,
    **constraints: Collection[int],
) -> KernelRegistration:
    """A kernel of three functions: create(construction), compute(state, context), delete(state)."""
    factory = partial(BuiltKernel, create=create, compute=compute, delete=delete)
    return KernelRegistration(op, factory, _frozen(constraints), stateful)


def _frozen(constraints: Mapping[str, Collection[int]]) -> dict[str, frozenset[int]]:
    return {name: frozenset(types) for name, types in constraints.items()}


class KernelRegistry:
    """Kernels by op name. What is registered later is asked first."""

    def __init__(self) -> None:
        self._kernels: dict[str, list[KernelRegistration]] = {}
        self._ops: dict[str, OpMetadata] = {}

    def register(self, registration: KernelRegistration) -> None:
        self._kernels.setdefault(registration.op, []).insert(0, registration)

    def unregister(self, registration: KernelRegistration) -> None:
        """Forget a kernel that was registered, if it is there."""
        kernels = self._kernels.get(registration.op, [])
        if registration in kernels:
            kernels.remove(registration)
            if not kernels:
                del self._kernels[registration.op]

    def register_kernel(
        self, op: str, factory: KernelFactory | type[OpKernel], **constraints: Collection[int]
    ) -> None:
        """A class, or what makes a kernel from its construction, for types within the constraints."""
        stateful = bool(getattr(factory, "stateful", False))
        self.register(KernelRegistration(op, factory, _frozen(constraints), stateful))

    def register_op(self, metadata: OpMetadata) -> None:
        """Inputs, outputs and attributes of an op that TensorFlow does not have."""
        self._ops[metadata.name] = metadata

    def unregister_op(self, name: str) -> None:
        """Forget an op that was registered, if it is there."""
        self._ops.pop(name, None)

    def registrations(self, op: str) -> list[KernelRegistration]:
        return self._kernels.get(op, [])

    def ops(self) -> list[str]:
        """The ops that have kernels, sorted."""
        return sorted(self._kernels)

    def metadata(self, op: str) -> OpMetadata:
        """UnsupportedError when the op has not been registered and TensorFlow has none of the name."""
        found = self._ops.get(op) or tensorflow_op(op)
        if found is None:
            raise UnsupportedError(f"{op}: no such op in TensorFlow; register_op can define it")
        return found

    def find(self, construction: KernelConstruction) -> KernelRegistration:
        """The kernel for the node; UnsupportedError that says which constraint each one failed by."""
        candidates = self.registrations(construction.op)
        if not candidates:
            message = f"{construction.op}: no fallback kernel; register_kernel({construction.op!r}, ...)"
            raise UnsupportedError(f"{message} would add one")
        reasons = []
        for candidate in candidates:
            reason = candidate.mismatch(construction)
            if reason is None:
                return candidate
            reasons.append(reason)
        raise UnsupportedError(f"{construction.op}: no fallback kernel takes the types: {'; '.join(reasons)}")

    def create_kernel(self, construction: KernelConstruction) -> OpKernel:
        """The node's kernel."""
        return self.find(construction).factory(construction)
