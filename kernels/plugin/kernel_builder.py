"""Kernels that a plugin registers: for which op, device and types, and its three functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...schema.kernel_def import KernelDef, KernelList
from ..fallback.dtypes import type_name
from ..fallback.register import fallback_kernels
from ..fallback.registry import KernelRegistration
from ..fallback.status import InvalidArgumentError
from .buffer import new_buffer
from .callbacks import Answer, name_text
from .handles import Handles


@dataclass
class CKernelRegistration:
    """A kernel of a plugin, as it was registered; the functions are addresses, 0 where there is none."""

    op: str
    device: str
    create: int
    compute: int
    delete: int
    is_async: bool = False
    name: str = ""
    priority: int = 0
    label: str = ""
    types: dict[str, list[int]] = field(default_factory=dict)
    host_memory: list[str] = field(default_factory=list)

    def definition(self) -> KernelDef:
        """What TensorFlow tells of a kernel."""
        made = KernelDef(op=self.op, device_type=self.device, label=self.label, priority=self.priority)
        made.host_memory_arg.extend(self.host_memory)
        _add_constraints(made, self.types)
        return made


def _add_constraints(definition: KernelDef, types: Mapping[str, Iterable[int]]) -> None:
    for name, allowed in types.items():
        definition.constraint.add(name=name).allowed_values.list.type.extend(allowed)


def kernel_builder_answers(handles: Handles, kernels: list[CKernelRegistration]) -> Mapping[str, Answer]:
    """What TF_KernelBuilder functions do: registered kernels go to the end of kernels."""

    def builder(handle: int) -> CKernelRegistration:
        return handles.get(handle, CKernelRegistration)

    def make(is_async: bool) -> Answer:
        def made(op: bytes | None, device: bytes | None, create: int, compute: int, delete: int) -> int:
            kernel = CKernelRegistration(name_text(op), name_text(device), create, compute, delete, is_async)
            return handles.new(kernel)

        return made

    def constrain(handle: int, attribute: bytes | None, type: int) -> None:
        if type_name(type).startswith("type "):
            raise InvalidArgumentError(
                f"kernel {builder(handle).op!r}: type must be TensorFlow's, got {type}"
            )
        builder(handle).types.setdefault(name_text(attribute), []).append(type)

    def host_memory(handle: int, argument: bytes | None) -> None:
        builder(handle).host_memory.append(name_text(argument))

    def register(name: bytes | None, handle: int) -> None:
        kernel = builder(handle)
        handles.drop(handle)
        if not kernel.compute:
            raise InvalidArgumentError(
                f"kernel {name_text(name)!r}: it must have a compute function, got null"
            )
        kernel.name = name_text(name)
        kernels.append(kernel)

    return {
        "TF_NewKernelBuilder": make(False),
        "TF_NewAsyncKernelBuilder": make(True),
        "TF_DeleteKernelBuilder": handles.drop,
        "TF_KernelBuilder_TypeConstraint": constrain,
        "TF_KernelBuilder_HostMemory": host_memory,
        "TF_KernelBuilder_Priority": lambda handle, value: setattr(builder(handle), "priority", value),
        "TF_KernelBuilder_Label": lambda handle, text: setattr(builder(handle), "label", name_text(text)),
        "TF_RegisterKernelBuilder": register,
    }


def registered_kernel_answers(kernels: Sequence[CKernelRegistration]) -> Mapping[str, Answer]:
    """What a plugin is told of kernels: ours run on the CPU, and its own are as it registered them."""

    def listed(found: Iterable[KernelDef]) -> int:
        return new_buffer(KernelList(kernel=found).SerializeToString())

    def of_op(name: bytes | None) -> int:
        op = name_text(name)
        own = [kernel.definition() for kernel in kernels if kernel.op == op]
        return listed([*own, *map(_definition, fallback_kernels().registrations(op))])

    def everything() -> int:
        # Ours by name alone: to look at the types would import all of them.
        ours = (KernelDef(op=op, device_type="CPU") for op in fallback_kernels().ops())
        return listed([*(kernel.definition() for kernel in kernels), *ours])

    return {"TF_GetRegisteredKernelsForOp": of_op, "TF_GetAllRegisteredKernels": everything}


def _definition(registration: KernelRegistration) -> KernelDef:
    made = KernelDef(op=registration.op, device_type="CPU")
    _add_constraints(made, {name: sorted(types) for name, types in registration.constraints.items()})
    return made
