"""The other side of process.py: a process that opens one plugin and does what it is asked.

It ends with its pipe of requests, also while the plugin is busy, so that it never outlives who asks.
"""

from __future__ import annotations

import os
import threading
from queue import SimpleQueue
from typing import Any

from ...lite.errors import PluginError
from .frames import EndOfFramesError, Header, receive, send

Answer = tuple[Header, bytes]


def main(requests: int, answers: int, path: str) -> None:
    """Serve requests for the plugin at path until their pipe is closed, and end the process at once then.

    requests and answers are descriptors of pipes that carry frames (frames.py). Whatever a request raises
    is answered as {"error": text}; a crash leaves no core file.
    """
    for pipe in (requests, answers):
        os.set_inheritable(pipe, False)  # processes of the plugin's do not keep them open
    _keep_no_core()
    waiting = SimpleQueue[tuple[Header, bytes]]()
    threading.Thread(target=_listen, args=(requests, waiting), daemon=True).start()
    served = _Served(path)
    while True:
        header, content = waiting.get()
        try:
            answer, found = served.answer(header, content)
        except PluginError as error:
            answer, found = {"error": str(error)}, b""
        except Exception as error:
            answer, found = {"error": f"plugin {path!r}: {type(error).__name__}: {error}"}, b""
        send(answers, answer, found)


def _listen(requests: int, waiting: SimpleQueue[tuple[Header, bytes]]) -> None:
    try:
        while True:
            waiting.put(receive(requests))
    except EndOfFramesError:
        pass
    finally:
        os._exit(0)  # not by Python's own end: threads of the plugin may be in our functions


def _keep_no_core() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class _Served:
    """The plugin, opened when it is first needed."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._optimizer: Any = None

    def answer(self, header: Header, content: bytes) -> Answer:
        if self._optimizer is None:
            from .c_optimizer import COptimizer

            self._optimizer = COptimizer(self._path)
        return {"describe": self._describe, "create": self._create, "optimize": self._optimize}.get(
            header["request"], self._destroy
        )(header, content)

    def _describe(self, header: Header, content: bytes) -> Answer:
        from ...schema.graph_def import OpList
        from .description import description

        ops = OpList(op=self._optimizer.library.ops)
        return {"description": description(self._optimizer)}, ops.SerializeToString()

    def _create(self, header: Header, content: bytes) -> Answer:
        self._optimizer.create()
        return {}, b""

    def _optimize(self, header: Header, content: bytes) -> Answer:
        from ...schema.graph_def import OpList
        from .c_graph import CItem

        ops_bytes = int(header["ops_bytes"])
        ops = {op.name: op for op in OpList.FromString(content[:ops_bytes]).op}
        preserved, feeds, fetches = (header[key] for key in ("preserved", "feeds", "fetches"))
        found = self._optimizer.optimize(CItem(content[ops_bytes:], preserved, feeds, fetches, ops))
        return {"changed": found is not None}, found or b""

    def _destroy(self, header: Header, content: bytes) -> Answer:
        self._optimizer.destroy()
        return {"alive": self._alive()}, b""

    def _alive(self) -> dict[str, int]:
        """How many handles and structs are left, for those who look for leaks."""
        from ...kernels.plugin.shim import shim

        return {"handles": len(self._optimizer.library.host.handles), **shim().live()}
