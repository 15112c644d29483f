"""An opened plugin: its file, the ops and kernels that it registered, and its functions by name."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from threading import RLock

from ...lite.errors import PluginError
from ...schema.graph_def import OpDef
from .callbacks import install, raise_faults
from .compute import compute_answers
from .construction import construction_answers
from .elf_symbols import companions, read_symbols, wants
from .functions import UNBUILT
from .handles import Handles
from .kernel_builder import CKernelRegistration, kernel_builder_answers, registered_kernel_answers
from .op_definition import op_definition_answers, registered_op_answers
from .shim import Stubs, check_no_tensorflow, shim

INIT_KERNEL, INIT_GRAPH = "TF_InitKernel", "TF_InitGraph"
_OLD_INIT_GRAPH = "TF_InitGraphPlugin"
# TensorFlow calls them, too: devices and profilers of a plugin have no use here.
NOT_CALLED = ("SE_InitPlugin", "TFNPD_InitPlugin", "TF_InitProfiler")


class PluginHost:
    """What all plugins of a process share: handles, and the ops and kernels that they have registered."""

    def __init__(self) -> None:
        shim()
        self.handles = Handles()
        self.ops: dict[str, OpDef] = {}
        self.kernels: list[CKernelRegistration] = []
        self.lock = RLock()
        install(op_definition_answers(self.handles, self.ops))
        install(registered_op_answers(self.ops))
        install(kernel_builder_answers(self.handles, self.kernels))
        install(registered_kernel_answers(self.kernels))
        install(construction_answers(self.handles))
        install(compute_answers())


@cache
def plugin_host() -> PluginHost:
    """The process's host, made when the first plugin is opened in it."""
    return PluginHost()


class PluginLibrary:
    """A plugin's shared library in this process, its kernels registered. It is never closed."""

    def __init__(self, path: str) -> None:
        """PluginError where it cannot be opened, with the reason; nothing of it has run then if it wants
        what only TensorFlow has."""
        self.path = os.path.abspath(path)
        check_file(self.path)
        check_no_tensorflow()
        self.host = plugin_host()
        self._stubs = Stubs(sorted({*UNBUILT, *wants(self.path).functions}))
        self._library = self._open()
        first = len(self.host.kernels)
        before = set(self.host.ops)
        if self.has(INIT_KERNEL):
            self.call(self.function(INIT_KERNEL, None))
        self.kernels = self.host.kernels[first:]
        self.ops = [op for name, op in self.host.ops.items() if name not in before]

    def _open(self) -> ctypes.CDLL:
        try:
            for_all = os.RTLD_NOW | os.RTLD_GLOBAL
            _keep.extend(ctypes.CDLL(library, for_all) for library in companions(self.path))
            opened = ctypes.CDLL(self.path, os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise PluginError(
                f"plugin {self.path!r}: it must open as a shared library, got: {error}"
            ) from error
        _keep.append(opened)
        return opened

    def has(self, name: str) -> bool:
        return hasattr(self._library, name)

    def function(self, name: str, result: type | None, *arguments: type) -> Callable[..., int | None]:
        """An exported function; PluginError where there is none."""
        if not self.has(name):
            raise PluginError(f"plugin {self.path!r}: it must export {name}, got none")
        found: ctypes._NamedFuncPointer = self._library[name]
        found.restype, found.argtypes = result, arguments
        called: Callable[..., int | None] = found
        return called

    def call(self, function: Callable[..., int | None], *arguments: object) -> int:
        """Call one of the plugin's functions; then raise what went wrong in ours that it called."""
        answer = function(*arguments)
        raise_faults()
        called = self._stubs.called()
        if called:
            raise PluginError(
                f"plugin {self.path!r}: it must do without {', '.join(called)}, which is not built"
            )
        return answer or 0


# What is opened stays: a plugin's threads may run on.
_keep: list[ctypes.CDLL] = []


def check_file(path: str) -> None:
    """PluginError where the file is no plugin for this processor, or wants what only TensorFlow has.

    Read from the file; nothing of it is opened.
    """
    _check_entry_points(path, read_symbols(path).given)
    missing = wants(path).cpp
    if missing:
        raise PluginError(
            f"plugin {path!r}: it must use TensorFlow's C interface alone, got {len(missing)} C++ symbols of "
            f"TensorFlow's own libraries ({', '.join(missing[:3])} ...); only TensorFlow can run it"
        )


def _check_entry_points(path: str, given: set[str]) -> None:
    """PluginError where the library exports nothing that a host calls."""
    if INIT_KERNEL in given or INIT_GRAPH in given:
        return
    if _OLD_INIT_GRAPH in given:
        raise PluginError(
            f"plugin {path!r}: it must export {INIT_GRAPH}, got {_OLD_INIT_GRAPH} alone: that is the older "
            "form of RFC 318, whose optimize function takes no item and whose functions take other arguments"
        )
    others = [name for name in NOT_CALLED if name in given]
    got = f"{', '.join(others)} alone, which is not called here" if others else "neither"
    raise PluginError(f"plugin {path!r}: it must export {INIT_GRAPH} or {INIT_KERNEL}, got {got}")
