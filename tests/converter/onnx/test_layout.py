"""Channels first become channels last: which transposes are left, and that nothing else changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter, run_graph
from numlite.lite.errors import ModelError
from numlite.schema import tflite
from numlite.schema.onnx import ModelProto, NodeProto

from ...onnx_builder import model, node, value
from ..graphs import checked, run_litert

RANDOM = np.random.default_rng(3)


def random(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def net(nodes: Sequence[NodeProto], **constants: np.ndarray) -> ModelProto:
    """x and z [1, 4, 6, 8] through convolutions to a and b, the nodes from those to y, and a convolution."""
    ends = [
        node("Conv", ["x", "wa"], "a"),
        node("Conv", ["z", "wb"], "b"),
        *nodes,
        node("Conv", ["y", "wy"], "out"),
    ]
    held = {"wa": random(4, 4, 1, 1), "wb": random(4, 4, 1, 1), **constants}
    return model(ends, [value("x", [1, 4, 6, 8]), value("z", [1, 4, 6, 8])], [value("out", None)], held)


def counted(content: bytes) -> Counter[str]:
    file = tflite.read(content)
    codes = [tflite.BuiltinOperator(code.builtin_code).name for code in file.operator_codes]
    return Counter(codes[operator.opcode_index] for operator in file.subgraphs[0].operators)


I64 = np.int64
NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
MOVED: dict[str, tuple[list[NodeProto], dict[str, np.ndarray], int]] = {
    "functions": ([node("Sigmoid", ["a"], "s"), node("Mul", ["a", "s"], "y")], {}, 4),
    "stretched constants": (
        [node("Mul", ["a", "k"], "m"), node("Max", ["m", "c"], "y")],
        {"k": random(4, 1, 1), "c": random(1, 1, 6, 8)},
        4,
    ),
    "comparisons": ([node("Greater", ["a", "b"], "g"), node("Where", ["g", "a", "b"], "y")], {}, 4),
    "concatenation": ([node("Concat", ["a", "b"], "y", axis=1)], {}, 8),
    "split": (
        [node("Split", ["a"], ["p", "q"], axis=1, num_outputs=2), node("Concat", ["q", "p"], "y", axis=1)],
        {},
        4,
    ),
    "padding": ([node("Pad", ["a", "p"], "y")], {"p": np.array([0, 0, 1, 2, 0, 0, 0, 1], I64)}, 4),
    "slice": (
        [node("Slice", ["a", "s", "e", "axes", "steps"], "y")],
        {
            "s": np.array([1, -1], I64),
            "e": np.array([4, -9], I64),
            "axes": np.array([1, 3], I64),
            "steps": np.array([1, -2], I64),
        },
        3,
    ),
    "gather": ([node("Gather", ["a", "i"], "y", axis=1)], {"i": np.array([3, 0, 1], I64)}, 3),
    "squeeze and excite": (
        [
            node("GlobalAveragePool", ["a"], "m"),
            node("Conv", ["m", "k"], "g"),
            node("HardSigmoid", ["g"], "h"),
            node("Mul", ["h", "a"], "y"),
        ],
        {"k": random(4, 4, 1, 1)},
        4,
    ),
    "pooling and resizing": (
        [
            node("MaxPool", ["a"], "m", kernel_shape=[2, 2], strides=[2, 2]),
            node("Resize", ["m", "", "s"], "r", **NEAREST),
            node("Add", ["r", "a"], "y"),
        ],
        {"s": np.array([1, 1, 2, 2], np.float32)},
        4,
    ),
    "attention of places": (
        [
            node("ReduceMean", ["a", "one"], "m"),
            node("ReduceMax", ["a", "one"], "n"),
            node("Concat", ["m", "n"], "y", axis=1),
        ],
        {"one": np.array([1], I64)},
        2,
    ),
    "normalization of groups": (
        [node("GroupNormalization", ["a", "s", "t"], "y", num_groups=2)],
        {"s": random(4), "t": random(4)},
        4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_transposes_are_left_at_the_ends_alone(name: str) -> None:
    nodes, constants, depth = MOVED[name]
    made = net(nodes, wy=random(5, depth, 1, 1), **constants)
    content = checked(Converter.from_onnx(made).convert())
    ends = 3 if "b" in {name for each in nodes for name in each.input} else 2
    assert counted(content)["TRANSPOSE"] <= ends, counted(content)
    given = {name: random(1, 4, 6, 8) for name in ("x", "z")}
    found = Interpreter(model_content=content).get_signature_runner()(**given)["out"]
    # The graph as it is, by NumPy.
    entry = Converter.from_onnx(made).entries[0]
    [wanted] = run_graph(entry.module, given, [entry.outputs["out"]])
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(run_litert(content, given["x"], given["z"])[0], wanted, rtol=1e-5, atol=1e-5)


def test_a_batch_that_is_not_known_leaves_no_more() -> None:
    nodes, constants, depth = MOVED["squeeze and excite"]
    made = net(nodes, wy=random(5, depth, 1, 1), **constants)
    for info in made.graph.input:
        info.type.tensor_type.shape.dim[0].dim_param = "n"
    content = Converter.from_onnx(made).convert()
    assert counted(content)["TRANSPOSE"] == 2, counted(content)


def test_a_shuffle_of_channels_moves_them_alone() -> None:
    nodes = [
        node("Reshape", ["a", "five"], "r"),
        node("Transpose", ["r"], "t", perm=[0, 2, 1, 3, 4]),
        node("Reshape", ["t", "four"], "y"),
    ]
    held = {"five": np.array([1, 2, 2, 6, 8], I64), "four": np.array([1, 4, 6, 8], I64)}
    content = Converter.from_onnx(net(nodes, wy=random(5, 4, 1, 1), **held)).convert()
    orders = [
        np.frombuffer(file.buffers[subgraph.tensors[operator.inputs[1]].buffer].data, np.int32).tolist()
        for file in [tflite.read(content)]
        for subgraph in file.subgraphs
        for operator in subgraph.operators
        if tflite.BuiltinOperator(file.operator_codes[operator.opcode_index].builtin_code).name == "TRANSPOSE"
    ]
    assert sorted(orders) == sorted([[0, 2, 3, 1], [0, 1, 2, 4, 3], [0, 3, 1, 2]])


def test_inputs_and_outputs_may_have_their_channels_last() -> None:
    made = net([node("Add", ["a", "b"], "y")], wy=random(5, 4, 1, 1))
    plain, last = (
        Converter.from_onnx(made, channels_last=names).convert() for names in ((), ("x", "z", "out"))
    )
    assert counted(last)["TRANSPOSE"] == 0
    given = {name: random(1, 4, 6, 8) for name in ("x", "z")}
    wanted = Interpreter(model_content=plain).get_signature_runner()(**given)["out"]
    moved = {name: x.transpose(0, 2, 3, 1) for name, x in given.items()}
    found = Interpreter(model_content=last).get_signature_runner()(**moved)["out"]
    np.testing.assert_allclose(found.transpose(0, 3, 1, 2), wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(ModelError, match="w is neither input nor output"):
        Converter.from_onnx(made, channels_last=["w"])


def test_patches_of_a_vision_transformer_need_no_transpose() -> None:
    """Convolution, [n, c, h * w], [n, h * w, c]."""
    nodes = [
        node("Conv", ["x", "w"], "a"),
        node("Reshape", ["a", "s"], "r"),
        node("Transpose", ["r"], "t", perm=[0, 2, 1]),
        node("MatMul", ["t", "k"], "y"),
    ]
    held = {"w": random(4, 3, 2, 2), "s": np.array([0, 4, -1], I64), "k": random(4, 2)}
    made = model(nodes, [value("x", [1, 3, 6, 6])], [value("y", None)], held)
    assert counted(Converter.from_onnx(made).convert())["TRANSPOSE"] == 1


def test_a_gelu_between_convolutions_is_one_operator() -> None:
    """The gate is found although a transpose stands before it."""
    nodes = [
        node("Div", ["a", "root"], "d"),
        node("Erf", ["d"], "e"),
        node("Add", ["e", "one"], "f"),
        node("Mul", ["a", "f"], "g"),
        node("Mul", ["g", "half"], "y"),
    ]
    numbers = {"root": np.sqrt(2), "one": 1, "half": 0.5}
    held = {name: np.array(number, np.float32) for name, number in numbers.items()}
    counts = counted(checked(Converter.from_onnx(net(nodes, wy=random(5, 4, 1, 1), **held)).convert()))
    assert counts["GELU"] == 1 and counts["TRANSPOSE"] == 2, counts


def test_windows_of_an_image_take_one_transpose() -> None:
    """[n, c, h, w] as MobileViT's rows of pixels, and back."""
    nodes = [
        node("Reshape", ["a", "s0"], "r0"),
        node("Transpose", ["r0"], "t0", perm=[0, 2, 1, 3]),
        node("Reshape", ["t0", "s1"], "r1"),
        node("Transpose", ["r1"], "t1", perm=[0, 3, 2, 1]),
        node("Reshape", ["t1", "s2"], "r2"),
        node("MatMul", ["r2", "k"], "y"),
    ]
    shapes = {"s0": [12, 2, 4, 2], "s1": [1, 4, 12, 4], "s2": [4, 12, 4]}
    held = {name: np.array(sizes, I64) for name, sizes in shapes.items()}
    made = model(
        [node("Conv", ["x", "w"], "a"), *nodes],
        [value("x", [1, 3, 6, 8])],
        [value("y", None)],
        {"w": random(4, 3, 1, 1), "k": random(4, 2), **held},
    )
    content = checked(Converter.from_onnx(made).convert())
    assert counted(content)["TRANSPOSE"] == 2, counted(content)
    entry = Converter.from_onnx(made).entries[0]
    x = random(1, 3, 6, 8)
    [wanted] = run_graph(entry.module, {"x": x}, [entry.outputs["y"]])
    np.testing.assert_allclose(run_litert(content, x)[0], wanted, rtol=1e-5, atol=1e-5)


def test_places_that_are_joined_need_no_reshape() -> None:
    nodes, constants, depth = MOVED["attention of places"]
    content = Converter.from_onnx(net(nodes, wy=random(5, depth, 1, 1), **constants)).convert()
    assert counted(content)["RESHAPE"] == 0, counted(content)


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_the_place_of_the_largest_channel_needs_no_transpose(op: str) -> None:
    nodes = [node("Conv", ["x", "w"], "a"), node(op, ["a"], "y", axis=1, keepdims=0)]
    made = model(nodes, [value("x", [1, 3, 4, 5])], [value("y", None, np.int64)], {"w": random(6, 3, 1, 1)})
    content = checked(Converter.from_onnx(made, channels_last=["x"]).convert())
    assert counted(content)["TRANSPOSE"] == 0, counted(content)
    x = random(1, 4, 5, 3)
    wanted = getattr(np, op.lower())(np.einsum("oi,nhwi->nohw", made_weights(made), x), 1)
    np.testing.assert_array_equal(run_litert(content, x)[0], wanted)


def made_weights(made: ModelProto) -> np.ndarray:
    return np.frombuffer(made.graph.initializer[0].raw_data, np.float32).reshape(6, 3)


@pytest.mark.parametrize("groups", [1, 2])
def test_groups_that_are_rows_of_an_instance_need_no_transpose(groups: int) -> None:
    """PyTorch's normalization of groups: [n, groups, rest], each by its own mean, and back."""
    nodes = [
        node("Reshape", ["a", "s"], "r"),
        node("InstanceNormalization", ["r", "one", "zero"], "i"),
        node("Shape", ["a"], "of"),
        node("Reshape", ["i", "of"], "back"),
        node("Mul", ["back", "f"], "c"),
        node("Add", ["c", "o"], "y"),
    ]
    held = {"s": np.array([0, groups, -1], I64), "f": random(4, 1, 1), "o": random(4, 1, 1)}
    held |= {"one": np.ones(groups, np.float32), "zero": np.zeros(groups, np.float32)}
    made = net(nodes, wy=random(5, 4, 1, 1), **held)
    content = checked(Converter.from_onnx(made).convert())
    assert counted(content)["TRANSPOSE"] == 2, counted(content)
    given = {name: random(1, 4, 6, 8) for name in ("x", "z")}
    weights = {
        each.name: np.frombuffer(each.raw_data, np.float32)
        for each in made.graph.initializer
        if each.name[0] == "w"
    }
    a = np.einsum("oi,nihw->nohw", weights["wa"].reshape(4, 4), given["x"])
    rows = a.reshape(1, groups, -1)
    rows = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-5)
    y = rows.reshape(a.shape) * held["f"] + held["o"]
    wanted = np.einsum("oi,nihw->nohw", weights["wy"].reshape(5, 4), y)
    np.testing.assert_allclose(run_litert(content, given["x"], given["z"])[0], wanted, rtol=1e-4, atol=1e-5)
