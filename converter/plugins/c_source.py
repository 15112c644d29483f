"""Where a plugin of C runs: in a process of its own, or in this one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from google.protobuf.message import DecodeError

from ...kernels.fallback.registry import KernelRegistration
from ...kernels.fallback.status import OpError
from ...kernels.plugin.c_kernel import kernel_registrations
from ...lite.errors import PluginError
from ...schema.graph_def import OpDef, OpList
from .c_graph import CItem
from .process import PluginProcess

if TYPE_CHECKING:
    from .c_optimizer import COptimizer

Told = Mapping[str, Any]


class CSource(Protocol):
    """Where one C plugin runs: in a process of its own, or in this one.

    One instance of its optimizer is there at a time, between create and destroy. isolation is the name
    of the way, "process" or "none". Every method raises PluginError for what the plugin does wrong.
    """

    isolation: str

    def describe(self) -> tuple[Told, tuple[OpDef, ...]]:
        """What description tells of it, and the ops that it has registered."""

    def kernels(self) -> tuple[KernelRegistration, ...]:
        """Kernels that run in this process; none of a plugin that runs in another."""

    def create(self) -> None:
        """Make the instance."""

    def optimize(self, item: CItem) -> bytes | None:
        """The bytes that it gives for a graph, None where it did nothing."""

    def destroy(self) -> None:
        """Let go of the instance."""

    def close(self) -> None:
        """Nothing is asked any more."""


class OwnProcess:
    """A process that opens the plugin: what goes wrong there ends that process, and no other.

    timeout_s is for each request, in seconds; a process that is late is ended. After that, or a crash,
    the next describe or create starts a new one. Its kernels do not run here: there are none.
    """

    isolation = "process"

    def __init__(self, path: str, timeout_s: float) -> None:
        self._process = PluginProcess(path, timeout_s)

    def describe(self) -> tuple[Told, tuple[OpDef, ...]]:
        header, content = self._process.ask("describe")
        try:
            return header["description"], tuple(OpList.FromString(content).op)
        except (DecodeError, KeyError) as error:
            raise PluginError(f"plugin {self._process.path!r}: its process gave a wrong answer") from error

    def kernels(self) -> tuple[KernelRegistration, ...]:
        return ()

    def create(self) -> None:
        self._process.ask("create")

    def optimize(self, item: CItem) -> bytes | None:
        ops = OpList(op=item.ops.values()).SerializeToString()
        names = {"preserved": item.preserved, "feeds": item.feeds, "fetches": item.fetches}
        listed = {key: list(value) for key, value in names.items()}
        if not self._process.is_alive:
            raise PluginError(f"plugin {self._process.path!r}: its process has ended in this run")
        header, content = self._process.ask("optimize", ops + item.graph, ops_bytes=len(ops), **listed)
        return content if header.get("changed") else None

    def destroy(self) -> None:
        if self._process.is_alive:
            self._process.ask("destroy")

    def close(self) -> None:
        self._process.close()


@cache
def _opened_here(path: str) -> COptimizer:
    """The library, whose kernels are registered once in a process."""
    from .c_optimizer import COptimizer

    return COptimizer(path)


class ThisProcess:
    """This process: fast, and with the plugin's kernels, but a crash of the plugin ends it.

    The library is opened when it is first needed, once for all who name its path, and stays open.
    """

    isolation = "none"

    def __init__(self, path: str) -> None:
        self._path = path
        self._opened: COptimizer | None = None

    def _optimizer(self) -> COptimizer:
        if self._opened is None:
            self._opened = _opened_here(self._path)
        return self._opened

    def kernels(self) -> tuple[KernelRegistration, ...]:
        """What it has registered, as kernels of ours."""
        library = self._optimizer().library
        return tuple(kernel_registrations(library.kernels, library.host.ops, library.host.handles))

    def describe(self) -> tuple[Told, tuple[OpDef, ...]]:
        from .description import description

        return description(self._optimizer()), tuple(self._optimizer().library.ops)

    def create(self) -> None:
        self._optimizer().create()

    def optimize(self, item: CItem) -> bytes | None:
        try:
            return self._optimizer().optimize(item)
        except OpError as error:
            raise PluginError(f"plugin {self._path!r}: {error}") from error

    def destroy(self) -> None:
        if self._opened is not None:
            self._opened.destroy()

    def close(self) -> None:
        """A library that was opened stays."""
