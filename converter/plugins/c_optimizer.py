"""A plugin's C optimizer in this process: its instance, and one optimization."""

from __future__ import annotations

import ctypes

from ...kernels.plugin.buffer import Buffer
from ...kernels.plugin.callbacks import install, raise_faults
from ...kernels.plugin.library import INIT_GRAPH, PluginLibrary
from ...kernels.plugin.status import ABORTED, Status, code_name
from ...lite.errors import PluginError
from .c_graph import CItem, graph_answers
from .c_registration import Registered, init_graph

_P = ctypes.c_void_p
_Create = ctypes.CFUNCTYPE(_P)
_Optimize = ctypes.CFUNCTYPE(None, _P, _P, _P, _P, _P)
_Destroy = ctypes.CFUNCTYPE(None, _P)


class COptimizer:
    """A plugin's shared object, opened in this process, and what it has registered.

    One instance of its optimizer is alive at a time. A plugin of kernels alone is one, too: registered is
    None then, and optimize raises.
    """

    def __init__(self, path: str) -> None:
        """Open the library at path and let it register its optimizer.

        Raises PluginError as PluginLibrary and init_graph do: no library, symbols that are missing, a
        registration that TensorFlow would refuse.
        """
        self.library = PluginLibrary(path)
        self._host = self.library.host
        install(graph_answers(self._host.handles, self._host.ops))
        # Kernels alone are a plugin, too; it optimizes nothing then.
        self.registered: Registered | None = None
        if self.library.has(INIT_GRAPH):
            self.registered = init_graph(self.library)
        self._instance: int | None = None
        self._is_made = False

    def create(self) -> None:
        """Make the instance that optimizes from now on."""
        self.destroy()
        if self.registered is not None and self.registered.create:
            self._instance = self.library.call(_Create(self.registered.create)) or None
        self._is_made = True

    def optimize(self, item: CItem) -> bytes | None:
        """The graph that it gives, None where it says ABORTED. PluginError for any other status, and for no
        graph.
        """
        registered = self.registered
        if registered is None:
            raise PluginError(f"plugin {self.library.path!r}: it must export {INIT_GRAPH}, got kernels alone")
        if not self._is_made:
            self.create()
        handles = self._host.handles
        handle = handles.new(item)
        try:
            with Status() as status, Buffer(item.graph) as graph, Buffer() as out:
                self.library.call(
                    _Optimize(registered.optimize),
                    *(self._instance, graph.address, handle, out.address, status.address),
                )
                if status.code == ABORTED:
                    return None
                if status.code:
                    message = f"optimize failed: {status.message} ({code_name(status.code)})"
                    raise PluginError(f"plugin {self.library.path!r}: {message}")
                if not out.is_set:
                    raise PluginError(f"plugin {self.library.path!r}: it must give a graph, got none")
                return out.content()
        finally:
            handles.drop(handle)

    def destroy(self) -> None:
        """Let go of the instance, if there is one."""
        instance, self._instance = self._instance, None
        made, self._is_made = self._is_made, False
        if made and self.registered is not None and self.registered.destroy:
            _Destroy(self.registered.destroy)(instance)
            raise_faults()
