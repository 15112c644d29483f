"""Messages about delegates and compiled models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numlite.delegates import Delegate, SimpleDelegate, compile_model, load_delegate
from numlite.interpreter import Interpreter
from numlite.lite.errors import (
    DelegateError,
    MissingDelegateError,
    ModelError,
    PrepareError,
    StateError,
)
from numlite.schema import tflite

from ..delegates.graphs import sine_model
from ..delegates.numpy_delegate import NumpyDelegate
from ..small_models import chain
from .rows import Row


class Idle(Delegate):
    """Takes nothing."""

    def prepare(self, context: object) -> None:
        pass


class Failing(Delegate):
    """Fails when it is prepared."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def prepare(self, context: object) -> None:
        raise self.error


class Kernels(SimpleDelegate):
    """Takes everything, with whatever it is given as a kernel."""

    def __init__(self, kernel: object) -> None:
        super().__init__()
        self.kernel = kernel

    def is_node_supported(self, *_: object) -> bool:
        return True

    def create_kernel(self) -> Any:
        return self.kernel


def applied(delegates: Any) -> None:
    Interpreter(model_content=chain(), experimental_delegates=delegates)


def compiled() -> bytes:
    delegate = NumpyDelegate("SIN")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    return compile_model(interpreter, delegate, "numpy").content


def opened(content: bytes) -> Interpreter:
    return Interpreter(model_content=content, experimental_delegates=[NumpyDelegate("NONE")])


def declared(tensor: int) -> None:
    """A compiled model whose file says another shape of a tensor."""
    tables = tflite.unpack(tflite.read(compiled()))
    assert tables.subgraphs is not None and tables.subgraphs[0].tensors is not None
    tables.subgraphs[0].tensors[tensor].shape = np.array([9, 9], np.int32)
    opened(tflite.pack(tables))


def resized() -> None:
    interpreter = opened(compiled())
    interpreter.resize_tensor_input(0, [7, 3])
    interpreter.allocate_tensors()


FAILED = "Failed to load delegate from "
NO_KERNEL = (
    "delegate Kernels: create_kernel must return a SimpleDelegateKernel, got {}. Restored original execution "
    "plan after delegate application failure."
)
NATIVE = (
    "it is a native library, and there is no such file; numlite loads delegates that are written in "
    "Python, "
    "by the name of their module or of their entry point in 'numlite.delegates'"
)

ROWS = {
    "a delegate without a list": Row(
        lambda _: applied(Idle()),
        TypeError,
        "experimental_delegates: must be a list of delegates, got <...Idle object at ...>: put it in a list",
    ),
    "a delegate's name without a list": Row(
        lambda _: applied("cuda"),
        TypeError,
        "experimental_delegates: must be a list of delegates, got 'cuda': put it in a list",
    ),
    "a delegate's name": Row(
        lambda _: applied(["cuda"]),
        StateError,
        "delegate: it must be a Delegate, got 'cuda'; load_delegate('cuda') looks for one of that name",
    ),
    "a delegate's class": Row(
        lambda _: applied([Idle]),
        StateError,
        "delegate: it must be a Delegate, got <class ...Idle'>; Idle() makes one",
    ),
    "an error in a delegate's prepare": Row(
        lambda _: applied([Failing(KeyError("x"))]),
        DelegateError,
        "delegate Failing: KeyError: 'x'. Restored original execution plan after ...",
    ),
    "an error with words in a delegate's prepare": Row(
        lambda _: applied([Failing(ValueError("too odd"))]),
        DelegateError,
        "delegate Failing: ValueError: too odd. Restored original execution plan after ...",
    ),
    "create_kernel without return": Row(
        lambda _: applied([Kernels(None)]), DelegateError, NO_KERNEL.format("None")
    ),
    "create_kernel that returns a number": Row(
        lambda _: applied([Kernels(5)]), DelegateError, NO_KERNEL.format("5")
    ),
    "a native library": Row(
        lambda _: load_delegate("libedgetpu.so.1"), MissingDelegateError, f"{FAILED}libedgetpu.so.1: {NATIVE}"
    ),
    "a file's path": Row(
        lambda _: load_delegate("./folder/mine.py"),
        ValueError,
        f"{FAILED}./folder/mine.py: it is a path; a delegate is named by its module: have './folder' in "
        "PYTHONPATH, "
        "and name it 'mine'",
    ),
    "a file in this folder": Row(
        lambda _: load_delegate("mine.py"),
        ValueError,
        f"{FAILED}mine.py: it is a path; ... have 'its folder' in PYTHONPATH, and name it 'mine'",
    ),
    "a module that makes no delegate": Row(
        lambda _: load_delegate("json"),
        ValueError,
        f"{FAILED}json: module 'json' has no 'create_delegate', which makes the delegate; 'module:name' "
        "names "
        "another class or function",
    ),
    "no name": Row(
        lambda _: load_delegate(""),
        ValueError,
        f"{FAILED}: it must name a module or an installed delegate, got nothing",
    ),
    "compile_model of a delegate that is not applied": Row(
        lambda _: compile_model(Interpreter(model_content=chain()), Idle()),
        StateError,
        "compile: delegate Idle must be applied to the interpreter first",
    ),
    "compile_model of bytes": Row(
        lambda _: compile_model(chain(), Idle()),  # type: ignore[arg-type]
        TypeError,
        "compile_model: it must be given an Interpreter, got bytes",
    ),
    "a compiled model that declares another input": Row(
        lambda _: declared(0),
        ModelError,
        "node 0 (numlite-delegate:numpy), output 't2': compiled partition: input shapes must be declared "
        "as it was "
        "compiled for, ((2, 3),), got ((9, 9),) (tensor 0 'x'); compile the model again",
    ),
    "a compiled model that declares another output": Row(
        lambda _: declared(5),
        ModelError,
        "node 3 (numlite-delegate:numpy), output 't5': compiled partition: output shapes must be declared "
        "as it was "
        "compiled for, ((2, 3),), got ((9, 9),) (tensor 5 't5'); compile the model again",
    ),
    "a compiled model that is resized": Row(
        lambda _: resized(),
        PrepareError,
        "...input shapes must be those it was compiled for, ((2, 3),), got ((7, 3),) (tensor 0 'x'); "
        "compile the "
        "model for these shapes; input 'x': its shape must be 2x3 as the model declares it, got 7x3",
    ),
}
