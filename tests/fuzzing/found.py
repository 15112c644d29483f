"""What the fuzzer has found, built anew: each once ended in a crash, a wrong result or an error of a bug."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numlite.lite.partition_program import pack_program, unpack_program
from numlite.lite.string_tensor import pack_strings
from numlite.lite.tensor import TensorType
from numlite.schema import tflite

from tests.delegates.flex.flex_models import add_flex
from tests.fuzzing.compiled_models import _compiled, _inner, _program
from tests.model_builder import ModelBuilder, SubgraphBuilder
from tests.small_models import chain, two_signatures

Op = tflite.BuiltinOperator
STRING = TensorType.STRING


def strings_that_are_fewer() -> bytes:
    """The header says none: NumPy does not see a copy out of an empty array."""
    model = ModelBuilder()
    x = model.tensor((2, 300_000), tflite.TensorType.STRING, bytes(4) + np.int32(8).tobytes() + bytes(40))
    y = model.tensor((300_000, 2), tflite.TensorType.STRING)
    model.op(Op.TRANSPOSE, [x, model.constant([1, 0])], [y])
    return model.build([], [y])


def many_strings() -> bytes:
    """A hundred bytes of file that fill gigabytes."""
    model = ModelBuilder()
    text = model.tensor((), tflite.TensorType.STRING, pack_strings([b"a" * 20]).tobytes())
    y = model.tensor((), tflite.TensorType.STRING)
    model.op(Op.FILL, [model.constant([100_000_000]), text], [y])
    return model.build([], [y])


def strings_of_no_coordinates() -> bytes:
    model = ModelBuilder()
    x, y = model.tensor((2,), tflite.TensorType.STRING), model.tensor((2,), tflite.TensorType.STRING)
    model.op(Op.GATHER_ND, [x, model.tensor((0,), np.int32, b"")], [y])
    return model.build([x], [y])


def options_of_another_operator() -> bytes:
    model = ModelBuilder()
    x, y = model.tensor((2, 3)), model.tensor((2, 3))
    model.op(Op.SOFTMAX, [x], [y], tflite.DepthwiseConv2DOptionsT())
    return model.build([x], [y])


def constant_input_of_a_branch() -> bytes:
    """The caller's value was written into the file."""
    model = ModelBuilder()
    chosen, x, y = model.tensor((), np.bool_), model.tensor((3,)), model.tensor((3,))
    branches = [_branch(model, value) for value in (None, np.ones(3, np.float32))]
    model.op(Op.IF, [chosen, x], [y], _branches(branches))
    return model.build([chosen, x], [y])


def _branches(subgraphs: list[int]) -> tflite.IfOptionsT:
    return tflite.IfOptionsT(then_subgraph_index=subgraphs[0], else_subgraph_index=subgraphs[1])


def _branch(model: ModelBuilder, value: np.ndarray | None) -> int:
    branch: SubgraphBuilder = model.add_subgraph("branch")
    x, y = branch.tensor((3,), np.float32, value), branch.tensor((3,))
    branch.op(Op.NEG, [x], [y], tflite.NegOptionsT())
    branch.finish([x], [y])
    return branch.index


def sparse_but_no_constant() -> bytes:
    """What sparsity says of a tensor that has no buffer made it lose its shape."""
    model = tflite.unpack(tflite.read(chain()))
    model.subgraphs[0].tensors[1].sparsity = tflite.SparsityParametersT(
        traversal_order=[0, 1],
        block_map=[],
        dim_metadata=[tflite.DimensionMetadataT(dense_size=size) for size in (1, 4)],
    )
    return tflite.pack(model)


def sparse_table() -> bytes:
    """Rows were read from where a dense table has them."""
    model = ModelBuilder()
    positions, y = model.tensor((3,), np.int32), model.tensor((3, 12), np.float16)
    table = model.tensor((6, 12), tflite.TensorType.INT4, bytes(8), scale=[0.1] * 6)
    _make_sparse(model.subgraph.tensors[table])
    model.op(Op.EMBEDDING_LOOKUP, [positions, table], [y], version=4)
    return model.build([positions], [y])


def sparse_without_places() -> bytes:
    model = ModelBuilder()
    x, y = model.tensor((6, 12), np.float32, np.ones((6, 12))), model.tensor((6, 12))
    _make_sparse(model.subgraph.tensors[x])
    model.op(Op.DENSIFY, [x], [y], tflite.DensifyOptionsT())
    return model.build([], [y])


def _make_sparse(tensor: tflite.TensorT) -> None:
    """In a form that says nothing of where the values are."""
    tensor.sparsity = tflite.SparsityParametersT(
        traversal_order=[0, 1],
        block_map=[],
        dim_metadata=[tflite.DimensionMetadataT(dense_size=6), tflite.DimensionMetadataT(format=1)],
    )


def zero_point_out_of_range() -> bytes:
    """The bias of the fast kernel is an int32."""
    model = ModelBuilder()
    x, y = model.tensor((3,), np.int8, scale=0.1, zero_point=65535), model.tensor((3,), np.int8, scale=0.1)
    model.op(Op.ADD, [x, x], [y], tflite.AddOptionsT())
    return model.build([x], [y])


def scale_beyond_fixed_point() -> bytes:
    model = ModelBuilder()
    x, y = model.tensor((3,), np.int16, scale=3e38), model.tensor((3,), np.int16, scale=1 / 32768)
    model.op(Op.TANH, [x], [y])
    return model.build([x], [y])


def reduced_to_nothing() -> bytes:
    """Over no elements, along axes that are known late."""
    model = ModelBuilder()
    x, axes, y = model.tensor((2, 0), np.bool_), model.tensor((1,), np.int32), model.tensor((2,), np.bool_)
    model.op(Op.REDUCE_ANY, [x, axes], [y], tflite.ReducerOptionsT())
    return model.build([x, axes], [y])


def mean_of_nothing() -> bytes:
    """Quantized, along axes that are known late."""
    model = ModelBuilder()
    x, axes = model.tensor((0, 2), np.int8, scale=0.1), model.tensor((1,), np.int32)
    y = model.tensor((2,), np.int8, scale=0.1)
    model.op(Op.MEAN, [x, axes], [y], tflite.ReducerOptionsT())
    return model.build([x, axes], [y])


def body_without_value() -> bytes:
    """A reduction whose body gives a tensor that nothing writes."""
    model = ModelBuilder()
    x, start, y = model.tensor((2, 3)), model.constant(np.zeros((), np.float32)), model.tensor((2,))
    body = model.add_subgraph("body")
    a, b, c = (body.tensor(()) for _ in range(3))
    body.finish([a, b], [c])
    options = tflite.StablehloReduceOptionsT(dimensions=[1], body_subgraph_index=body.index)
    model.op(Op.STABLEHLO_REDUCE, [x, start], [y], options)
    return model.build([x], [y])


def variable_of_another_shape() -> bytes:
    """A variable that is summed up into itself."""
    model = ModelBuilder()
    x, v = model.tensor((1,)), model.tensor((1 << 20,), is_variable=True)
    model.op(Op.SUM, [v, model.constant([0])], [v], tflite.ReducerOptionsT(keep_dims=True))
    return model.build([x], [v])


def variable_of_no_known_shape() -> bytes:
    """A variable that is read, and then written in a shape that is known while running."""
    model = ModelBuilder()
    shape, v = model.tensor((1,), np.int32), model.tensor((1 << 20,), is_variable=True)
    y = model.tensor((1 << 20,))
    model.op(Op.NEG, [v], [y], tflite.NegOptionsT())
    model.op(Op.FILL, [shape, model.constant(np.zeros((), np.float32))], [v], tflite.FillOptionsT())
    return model.build([shape], [y])


def constant_state() -> bytes:
    """An LSTM whose previous activation is the graph's input, and a constant."""
    model = ModelBuilder()
    x, before, state = (
        model.tensor((3, 11)),
        model.constant(np.zeros((3, 19), np.float32)),
        model.tensor((3, 19)),
    )
    weights, bias = (model.constant(np.ones(shape, np.float32)) for shape in ((76, 30), (76,)))
    outputs = [model.tensor((3, columns)) for columns in (19, 19, 30, 76)]
    options = tflite.LSTMOptionsT(fused_activation_function=4, kernel_type=1)
    model.op(Op.LSTM, [x, before, weights, bias, state], outputs, options)
    return model.build([x, before, state], outputs)


def wide_numbers() -> bytes:
    """Numbers written two thousand million characters wide."""
    model = ModelBuilder()
    x, y = model.tensor((2,)), model.tensor((2,), tflite.TensorType.STRING)
    add_flex(model, "AsString", [x], [y], T="f32", width=f"i32${2**31 - 1}")
    return model.build([x], [y])


def signature_without_tensors() -> bytes:
    model = tflite.unpack(tflite.read(two_signatures()))
    model.signature_defs[0].inputs[0].tensor_index = 2**32 - 1
    return tflite.pack(model)


def signature_of_a_wrong_shape() -> bytes:
    """Whose argument is no tensor, and whose node cannot be prepared."""
    model = ModelBuilder()
    x, y = model.tensor((2, 3)), model.tensor((2, 4))
    model.op(Op.ADD, [x, model.constant(np.zeros(4, np.float32))], [y], tflite.AddOptionsT())
    return model.build([x], [y], {"serve": ({"x": 99}, {"y": y})})


def compiled_with(inner: bytes, header: dict[str, object] | None = None) -> bytes:
    """A compiled model of one operator, whose program holds another model than the operator was made for."""
    model = tflite.unpack(tflite.read(_compiled(chain())))
    operator = model.subgraphs[0].operators[0]
    carried = unpack_program(bytes(operator.custom_options))
    program = _program(inner or _inner(carried), header)
    operator.custom_options = pack_program(replace(carried, program=program))
    return tflite.pack(model)


def compiled_without_tensors() -> bytes:
    """A compiled model whose graph has lost all that its operator names."""
    model = tflite.unpack(tflite.read(_compiled(chain())))
    model.subgraphs[0].tensors = []
    return tflite.pack(model)


def _of_other_type() -> bytes:
    model = ModelBuilder()
    x, y = model.tensor((1, 4), np.int32), model.tensor((1, 4), np.int32)
    model.op(Op.ABS, [x], [y])
    return model.build([x], [y])


def _with_constant_input() -> bytes:
    model = ModelBuilder()
    x, y = model.tensor((1, 4), np.float32, np.ones((1, 4))), model.tensor((1, 4))
    model.op(Op.ABS, [x], [y])
    return model.build([x], [y])


def _with_late_shape() -> bytes:
    model = ModelBuilder()
    x, found, y = model.tensor((1, 4)), model.tensor((), np.int64), model.tensor(())
    model.op(Op.WHERE, [x], [found])
    model.op(Op.CAST, [found], [y], tflite.CastOptionsT())
    return model.build([x], [y])


def _endless_header() -> dict[str, object]:
    return {"model": json.loads("1e400"), "cubins": []}


# name: kind, model, and what the ending says.
FOUND: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "strings that are fewer": ("strings", strings_that_are_fewer, "ModelError: tensor 0"),
    "many strings": ("strings", many_strings, "InvokeError: node 0 (FILL)"),
    "no coordinates": ("strings", strings_of_no_coordinates, "invoked"),
    "options of another operator": ("models", options_of_another_operator, "invoked"),
    "constant input": ("models", constant_input_of_a_branch, "PrepareError: node 0 (IF)"),
    "sparse table": ("models", sparse_table, "stored sparse, which only DENSIFY reads"),
    "sparse without places": ("models", sparse_without_places, "PrepareError: node 0 (DENSIFY)"),
    "zero point": ("models", zero_point_out_of_range, "invoked"),
    "scale": ("models", scale_beyond_fixed_point, "PrepareError: node 0 (TANH)"),
    "reduced to nothing": ("models", reduced_to_nothing, "invoked"),
    "mean of nothing": ("models", mean_of_nothing, "invoked"),
    "body without value": ("models", body_without_value, "Error: node 0 (STABLEHLO_REDUCE)"),
    "variable": ("models", variable_of_another_shape, "a variable cannot be resized to (1,)"),
    "late variable": ("models", variable_of_no_known_shape, "a variable cannot be dynamic"),
    "sparse": ("models", sparse_but_no_constant, "invoked"),
    "wide numbers": ("flex", wide_numbers, "does not fit in memory"),
    "signature": ("descriptions", signature_without_tensors, "ValueError: Invalid tensor index -1"),
    "signature and shape": ("models", signature_of_a_wrong_shape, "PrepareError: node 0 (ADD)"),
    "several graphs": ("compiled", lambda: compiled_with(two_signatures()), "must be one subgraph, got 2"),
    "other types": ("compiled", lambda: compiled_with(_of_other_type()), "its inputs must be the operator's"),
    "constants": ("compiled", lambda: compiled_with(_with_constant_input()), "inputs no constants"),
    "late shape": ("compiled", lambda: compiled_with(_with_late_shape()), "must be known before it runs"),
    "no tensors": ("compiled", compiled_without_tensors, "ModelError: subgraph 0 "),
    "header": ("compiled", lambda: compiled_with(b"", _endless_header()), "it must be a program of"),
}
