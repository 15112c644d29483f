"""A plugin's kernel as a kernel of ours."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable, Mapping
from functools import partial

from ...lite.errors import UnsupportedError
from ...schema.graph_def import OpDef
from ..fallback.kernel import KernelConstruction, KernelContext, OpKernel
from ..fallback.registry import KernelRegistration
from .callbacks import raise_faults
from .compute import KernelRun
from .construction import CConstruction
from .handles import Handles
from .kernel_builder import CKernelRegistration
from .shim import shim

_P = ctypes.c_void_p
_Create = ctypes.CFUNCTYPE(_P, _P)
_Delete = ctypes.CFUNCTYPE(None, _P)
_DEVICE = "CPU"


class CKernel(OpKernel):
    """A plugin's kernel for one node. Its state goes with it."""

    def __init__(
        self, construction: KernelConstruction, kernel: CKernelRegistration, handles: Handles
    ) -> None:
        """OpError as the plugin's create function reports it."""
        super().__init__(construction)
        self._types = [type for argument in construction.inputs for type in argument.types]
        self._compute = kernel.compute
        self._runs: list[KernelRun] = []
        held = CConstruction(construction)
        handle = handles.new(held)
        try:
            self._state = _Create(kernel.create)(handle) if kernel.create else None
        finally:
            handles.drop(handle)
        if kernel.delete:
            self._end = weakref.finalize(self, _delete, kernel.delete, self._state)
            self._end.atexit = False
        raise_faults()
        if held.error is not None:
            raise held.error

    def compute(self, context: KernelContext) -> None:
        """OpError as the plugin reports it; UnsupportedError for tensors of strings or resources."""
        try:
            run = self._runs.pop()  # another thread may have taken the last one
        except IndexError:
            run = KernelRun(self._types, context.output_types)
        try:
            run(self._compute, self._state, context)
        finally:
            self._runs.append(run)

    def delete(self) -> None:
        """Let the plugin delete its state."""
        if hasattr(self, "_end"):
            self._end()


def _delete(function: int, state: int | None) -> None:
    if not shim().is_gone:  # as the process ends the plugin's own library may be gone before
        _Delete(function)(state)


def kernel_registrations(
    kernels: Iterable[CKernelRegistration], ops: Mapping[str, OpDef], handles: Handles
) -> list[KernelRegistration]:
    """The kernels that can run here, those of the highest priority last. Ones of other devices, and ones
    that only a node's label asks for, are left out.
    """
    found = []
    for kernel in sorted(kernels, key=lambda kernel: kernel.priority):
        if kernel.device != _DEVICE or kernel.label:
            continue
        constraints = {name: frozenset(types) for name, types in kernel.types.items()}
        stateful = kernel.op in ops and ops[kernel.op].is_stateful
        make = _refuse if kernel.is_async else partial(CKernel, kernel=kernel, handles=handles)
        found.append(KernelRegistration(kernel.op, make, constraints, stateful))
    return found


def _refuse(construction: KernelConstruction) -> OpKernel:
    raise UnsupportedError(
        f"{construction.op}: a plugin's asynchronous kernel is not built; numlite's own runs the op"
    )
