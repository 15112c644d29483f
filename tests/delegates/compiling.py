"""Models compiled ahead of time, for the tests of that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numlite.delegates import Delegate, DelegateFlags
from numlite.delegates.compile import CompiledModel, compile_model
from numlite.interpreter import Interpreter
from numlite.schema import tflite

from .numpy_delegate import NumpyDelegate

CODE = "numlite-delegate:numpy"


class DynamicDelegate(NumpyDelegate):
    """Its compiled partitions run inputs of any shape."""

    flags = DelegateFlags.ALLOW_DYNAMIC_TENSORS

    def load_partition(self, context: Any, node: Any, program: bytes) -> Any:
        kernel = super().load_partition(context, node, program)
        kernel.prepare = lambda context, node: context.resize_tensor(  # type: ignore[method-assign]
            context.output(node, 0), context.input(node, 0).shape
        )
        return kernel


def compiled(content: bytes, delegate: Delegate, name: str = "numpy") -> CompiledModel:
    interpreter = Interpreter(model_content=content, experimental_delegates=[delegate])
    return compile_model(interpreter.core, delegate, name)


def operator_names(content: bytes, subgraph: int = 0) -> list[str]:
    core = Interpreter(model_content=content).core
    return [node.registration.name for node in core.subgraph(subgraph).nodes]


def changed(content: bytes, change: Callable[[tflite.ModelT], None]) -> bytes:
    tables = tflite.unpack(tflite.read(content))
    change(tables)
    return tflite.pack(tables)


def entry_points(name: str, make: Callable[..., object]) -> Callable[..., list[Any]]:
    class Entry:
        @staticmethod
        def load() -> Any:
            return make

    Entry.name = name  # type: ignore[attr-defined]
    return lambda group, name=None: [Entry] if name in (None, Entry.name) else []  # type: ignore[attr-defined]
