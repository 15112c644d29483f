"""Messages of the interpreter: arguments, values, shapes, the order of calls, models at fault."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from unittest import mock

import numpy as np
from numlite.interpreter import Interpreter, InterpreterWithCustomOps, OpResolver
from numlite.kernels.compiled.driver import library
from numlite.lite.environment import debug_level
from numlite.lite.errors import InvokeError, ModelError, PrepareError, StateError, UnsupportedError
from numlite.schema import tflite

from ..fuzzing.found import variable_of_another_shape, variable_of_no_known_shape
from ..model_builder import ModelBuilder
from ..row_chains import as_keras_has_it
from ..row_chains import model as row_chain
from ..small_models import Op, add_constant, chain, custom, two_signatures
from .rows import Row

LONG = "first/BiasAdd;" + "fused/" * 40 + "last/Relu"
ONNX = b"\x08\x07\x12\x07pytorch\x3a\x08\n\x06\n\x01x\x12\x01y\x42\x02\x10\x0d"


def allocated(content: bytes | None = None) -> Interpreter:
    interpreter = Interpreter(model_content=content or chain())
    interpreter.allocate_tensors()
    return interpreter


def convolution() -> bytes:
    """A CONV_2D of images whose batch is open; its output's name is that of a fused operator."""
    model = ModelBuilder()
    x = model.tensor((1, 8, 8, 3), name="image", shape_signature=(-1, 8, 8, 3))
    w = model.constant(np.zeros((16, 3, 3, 3), np.float32))
    y = model.tensor((1, 8, 8, 16), name=LONG, shape_signature=(-1, 8, 8, 16))
    model.op(Op.CONV_2D, [x, w], [y], tflite.Conv2DOptionsT(stride_w=1, stride_h=1))
    return model.build([x], [y], {"serve": ({"picture": x}, {"result": y})})


def resized(content: bytes, shape: list[int]) -> None:
    interpreter = Interpreter(model_content=content)
    interpreter.resize_tensor_input(0, shape)
    interpreter.allocate_tensors()


def pooled(code: int) -> None:
    model = ModelBuilder()
    x, y = model.tensor((1, 2, 5, 1)), model.tensor((1, 1, 3, 1))
    options = tflite.Pool2DOptionsT(padding=1, stride_w=2, stride_h=2, filter_width=3, filter_height=3)
    model.op(code, [x], [y], options)
    allocated(model.build([x], [y]))


def strings(values: Iterable[object]) -> None:
    model = ModelBuilder()
    x = model.tensor((2,), tflite.TensorType.STRING, name="words")
    allocated(model.build([x], [x])).set_tensor(0, np.array(list(values), object))


def string_copy() -> bytes:
    """An operator of strings, whose output has no value until it has run; and a tensor that nobody uses."""
    model = ModelBuilder()
    x, y = (model.tensor((2,), tflite.TensorType.STRING, name=name) for name in ("words", "copied"))
    unused = model.tensor((3,), name="unused")
    missing = model.tensor((3,), name="missing")
    model.op(Op.RESHAPE, [x, model.constant([2])], [y])
    assert (unused, missing) == (2, 3)
    return model.build([x], [y, missing])


def unknown_operator(code: int, version: int = 1) -> bytes:
    model = ModelBuilder()
    x, between, y = (model.tensor((4,), name=name) for name in ("x", "between", "y"))
    model.op(Op.ABS, [x], [between])
    model.op(code, [between], [y], version=version)
    return model.build([x], [y])


def reentrant(_: Path) -> None:
    class CallsItself:
        def invoke(self, context: object, node: object) -> None:
            interpreter.invoke()

    interpreter = InterpreterWithCustomOps([("Twice", CallsItself())], model_content=custom())
    interpreter.allocate_tensors()
    interpreter.invoke()


def environment(name: str, text: str, read: Callable[[], object]) -> None:
    with mock.patch.dict(os.environ, {name: text}):
        read()


COPIED = (
    "an Interpreter cannot be copied or pickled, since it holds memory and native code: make another one ..."
)
TOO_SMALL = "...: the filter must fit the input under VALID padding, got extent 3 and input size 2"

ROWS = {
    "a model's bytes as path": Row(
        lambda _: Interpreter(chain()),  # type: ignore[arg-type]
        ValueError,
        "model_path: must be the path of a file, got ... bytes: a model's content is given as "
        "Interpreter(model_content=...)",
    ),
    "a number as path": Row(
        lambda _: Interpreter(5),  # type: ignore[arg-type]
        TypeError,
        "model_path: must be the path of a file (expected str, bytes or os.PathLike object, not int)",
    ),
    "a path as content": Row(
        lambda _: Interpreter(model_content="model.tflite"),  # type: ignore[arg-type]
        TypeError,
        "model_content: must be a model's bytes, got the str 'model.tflite': a path is given as "
        "Interpreter(model_path=...)",
    ),
    "an ONNX model": Row(
        lambda _: Interpreter(model_content=ONNX * 4),
        ModelError,
        "The model is not a valid Flatbuffer buffer: identifier must be TFL3, got ...; it is an ONNX model",
    ),
    "deepcopy": Row(lambda _: copy.deepcopy(allocated()), TypeError, COPIED),
    "copy": Row(lambda _: copy.copy(allocated()), TypeError, COPIED),
    "pickle": Row(lambda _: pickle.dumps(allocated()), TypeError, COPIED),
    "deepcopy of a signature runner": Row(
        lambda _: copy.deepcopy(allocated().get_signature_runner()), TypeError, COPIED
    ),
    "get_tensor before allocate_tensors": Row(
        lambda _: Interpreter(model_content=chain()).get_tensor(1),
        ValueError,
        "Tensor data is null. Run allocate_tensors() first",
    ),
    "get_tensor of an output before invoke": Row(
        lambda _: allocated(string_copy()).get_tensor(1),
        ValueError,
        "output tensor 1 'copied' string 2: it has no value yet, invoke() gives it one",
    ),
    "get_tensor of what lies between operators that run as one": Row(
        lambda _: allocated(row_chain(as_keras_has_it, (9, 16))).get_tensor(2),
        ValueError,
        "tensor 2 't2' float32 9x1: it has no value, since it lies between operators that run as one; "
        "experimental_preserve_all_tensors=True has each run by itself",
    ),
    "get_tensor of an input that is not set": Row(
        lambda _: allocated(string_copy()).get_tensor(0),
        ValueError,
        "input tensor 0 'words' string 2: it has no value yet, set_tensor() gives it one",
    ),
    "get_tensor of an output that no operator writes": Row(
        lambda _: allocated(string_copy()).get_tensor(3),
        ModelError,
        "output tensor 3 'missing' float32 3: it has no value, since no operator writes it and the model "
        "has no "
        "data for it",
    ),
    "view of a tensor that no operator writes": Row(
        lambda _: allocated(string_copy()).tensor(2)(),
        ModelError,
        "tensor 2 'unused' float32 3: it has no value, since no operator writes it and the model has no "
        "data ...",
    ),
    "get_tensor of a subgraph that nothing has run": Row(
        lambda _: allocated(two_signatures()).get_tensor(1, 1),
        ValueError,
        "subgraph 1, output tensor 1 'y' float32 2: it has no memory, since nothing has run its subgraph "
        "yet: invoke() does where an operator calls it, and get_signature_runner() where it is a signature's",
    ),
    "set_tensor of a tensor that no operator uses": Row(
        lambda _: allocated(string_copy()).set_tensor(2, np.zeros(3, np.float32)),
        ValueError,
        "Cannot set tensor: tensor 2 'unused' float32 3: it has no memory, no operator that runs uses it",
    ),
    "set_tensor of another rank": Row(
        lambda _: allocated().set_tensor(0, np.zeros(4, np.float32)),
        ValueError,
        "Cannot set tensor: Dimension mismatch. Got 1 but expected 2 for input 0.\n"
        "Tensor 'x' float32 1x4 was given 4: give it its own shape, or call resize_tensor_input() first",
    ),
    "set_tensor of another size": Row(
        lambda _: allocated().set_tensor(0, np.zeros((1, 5), np.float32)),
        ValueError,
        "Cannot set tensor: Dimension mismatch. Got 5 but expected 4 for dimension 1 of input 0.\n"
        "Tensor 'x' float32 1x4 was given 1x5: give it its own shape, or call resize_tensor_input() first",
    ),
    "an input of another rank": Row(
        lambda _: resized(convolution(), [8, 8, 3]),
        PrepareError,
        "input 'image' ('picture' of signature 'serve'): its shape must be ?x8x8x3 as the model declares it, "
        "got 8x8x3; node 0 (CONV_2D), output 'first/BiasAdd;fused/...last/Relu': CONV_2D: input and filter "
        "must ...",
    ),
    "an input of another size where the model says of none that it is open": Row(
        lambda _: resized(add_constant(np.zeros((2, 3), np.float32)), [2, 5]),
        PrepareError,
        "node 0 (ADD), output 'y': ADD: operands must have equal or broadcastable shapes, got 2x5 and 2x3; "
        "input 'x': its shape must be 2x3 as the model declares it, got 2x5",
    ),
    "an argument of another size": Row(
        lambda _: Interpreter(model_content=convolution()).get_signature_runner()(
            picture=np.zeros((1, 8, 8, 5), np.float32)
        ),
        PrepareError,
        "input 'image' ('picture' of signature 'serve'): its shape must be ?x8x8x3 as the model declares it, "
        "got 1x8x8x5; node 0 (CONV_2D), output 'first/...': CONV_2D: input channels must be ...",
    ),
    "None among strings": Row(
        lambda _: strings(["a", None]),
        ValueError,
        "Cannot set tensor: element 1 of tensor 'words' string 2 must be str or bytes, got None",
    ),
    "a number among strings": Row(
        lambda _: strings([5, b"a"]),
        ValueError,
        "Cannot set tensor: element 0 of tensor 'words' string 2 must be str or bytes, got 5 (int)",
    ),
    "an object among strings": Row(
        lambda _: strings(["a", object()]),
        ValueError,
        "Cannot set tensor: element 1 of tensor 'words' string 2 must be str or bytes, got <object "
        "object...> (object)",
    ),
    "half a surrogate pair": Row(
        lambda _: strings(["\ud800", "a"]),
        ValueError,
        "Cannot set tensor: element 0 of tensor 'words' string 2 must be str or bytes that UTF-8 can hold, "
        "got ...",
    ),
    "an unknown operator": Row(
        lambda _: Interpreter(model_content=unknown_operator(Op.PLACEHOLDER_FOR_GREATER_OP_CODES)),
        UnsupportedError,
        "node 1, output 'y': Didn't find op for builtin opcode 'PLACEHOLDER_FOR_GREATER_OP_CODES' version "
        "'1'",
    ),
    "an operator of an unknown version": Row(
        lambda _: Interpreter(model_content=unknown_operator(Op.NEG, 99)),
        UnsupportedError,
        "node 1, output 'y': Didn't find op for builtin opcode 'NEG' version '99': versions up to 1 are "
        "built",
    ),
    "an unknown custom operator": Row(
        lambda _: allocated(custom()),
        UnsupportedError,
        "node 1 (Twice), output 'b': Encountered unresolved custom op: Twice. Register it with "
        "InterpreterWithCustomOps(custom_op_registerers=[...])",
    ),
    "re-entrant invoke": Row(
        reentrant,
        InvokeError,
        "node 1 (Twice), output 'b': Twice: The interpreter is running, and the call comes from an "
        "operator or "
        "delegate that it runs: that must use the context which its hooks are given, or an Interpreter of "
        "its own",
    ),
    "a window larger than the input of MAX_POOL_2D": Row(
        lambda _: pooled(Op.MAX_POOL_2D), PrepareError, TOO_SMALL
    ),
    "a window larger than the input of AVERAGE_POOL_2D": Row(
        lambda _: pooled(Op.AVERAGE_POOL_2D), PrepareError, TOO_SMALL
    ),
    "a window larger than the input of L2_POOL_2D": Row(
        lambda _: pooled(Op.L2_POOL_2D), PrepareError, TOO_SMALL
    ),
    "a node that writes a variable in another shape": Row(
        lambda _: allocated(variable_of_another_shape()),
        PrepareError,
        "node 0 (SUM), output 't1': tensor 't1' float32 1048576: a variable cannot be resized to (1,)",
    ),
    "a node that writes a variable in a shape that is not known yet": Row(
        lambda _: allocated(variable_of_no_known_shape()),
        PrepareError,
        "node 1 (FILL), output 't1': tensor 't1' float32 1048576: a variable cannot be dynamic",
    ),
    "NUMLITE_DEBUG": Row(
        lambda _: environment("NUMLITE_DEBUG", "foo", debug_level),
        UnsupportedError,
        "NUMLITE_DEBUG: must be 0 (nothing), 1 (plans), 2 (nodes), 3 (times) or 4 (values), got 'foo'",
    ),
    "NUMLITE_DEBUG above the highest level": Row(
        lambda _: environment("NUMLITE_DEBUG", "5", debug_level),
        UnsupportedError,
        "NUMLITE_DEBUG: ... got '5'",
    ),
    "NUMLITE_JIT": Row(
        lambda _: environment("NUMLITE_JIT", "yes", library._in_memory),
        UnsupportedError,
        "NUMLITE_JIT: must be 'memory', or not set, got 'yes'",
    ),
    "add_custom of None": Row(
        lambda _: OpResolver().add_custom("Twice", None),
        ValueError,
        "custom operator 'Twice': it must have invoke(context, node), got None",
    ),
    "invoke before allocate_tensors": Row(
        lambda _: Interpreter(model_content=chain()).invoke(),
        StateError,
        "Invoke called on model that is not ready.",
    ),
}
