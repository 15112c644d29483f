"""layout: which way nodes are converted, what stands around them, and equal results."""

from collections.abc import Callable

import numpy as np
import pytest
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.optimizers.layout.data_format import Conversion
from numlite.converter.optimizers.layout.forms import AGNOSTIC, SENSITIVE
from numlite.schema.graph_def import DT_FLOAT, AttrValue, GraphDef

from .optimized import Net, check, ops, optimized

GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
OLD = {"compute_capability": 6.1}


def conv(net: Net, x: str, channels: int = 4, filters: int = 4, data_format: str = "NHWC") -> str:
    values = np.linspace(-1, 1, 9 * channels * filters).reshape(3, 3, channels, filters)
    return net.op("Conv2D", x, net.c(values), strides=[1, 1, 1, 1], padding="SAME", data_format=data_format)


def converted(net: Net, *, aggressive: bool = False, **options: object) -> GraphDef:
    """The graph after layout alone, with equal results."""
    level = {"layout_optimizer": 3} if aggressive else {}
    after = optimized(
        net.on(GPU).graph_def, list(net.feeds), net.fetches, "layout", **level, **{**OLD, **options}
    )
    for name, a, b in zip(
        net.fetches,
        GraphRunner(net.graph_def).run(net.feeds, net.fetches),
        GraphRunner(after).run(net.feeds, net.fetches),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=5e-4, err_msg=name)
    return after


def formats(graph: GraphDef) -> set[bytes]:
    return {node.attr["data_format"].s for node in graph.node if "data_format" in node.attr}


def test_a_chain_is_transposed_at_its_ends() -> None:
    net = Net()
    first = net.op("BiasAdd", conv(net, net.x(1, 6, 6, 4)), net.c([1, 2, 3, 4]))
    pooled = net.op(
        "MaxPool", net.op("Relu", first), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"
    )
    after = converted(net.out(conv(net, pooled)))
    assert ops(after)["Transpose"] == 2
    assert formats(after) == {b"NCHW"}
    pool = next(node for node in after.node if node.op == "MaxPool")
    assert list(pool.attr["ksize"].list.i) == [1, 1, 2, 2]


def test_what_several_use_is_transposed_once() -> None:
    net = Net()
    x = net.x(1, 6, 6, 4)
    total = net.op("AddN", conv(net, x), conv(net, x), conv(net, x))
    after = converted(net.out(total, net.op("Softmax", total)))
    assert ops(after)["Transpose"] == 2


@pytest.mark.parametrize(
    ("capability", "data_format", "changes"),
    [
        (6.1, "NHWC", True),
        (6.1, "NCHW", False),
        (7.0, "NHWC", True),
        (8.0, "NHWC", False),
        (8.6, "NCHW", True),
    ],
)
def test_the_gpu_says_which_way(capability: float, data_format: str, changes: bool) -> None:
    net = Net()
    net.out(conv(net, net.x(1, 4, 6, 4), data_format=data_format))
    after = converted(net, compute_capability=capability)
    assert (ops(after)["Transpose"] > 0) == changes


def test_a_volta_wants_half_convolutions_with_channels_last() -> None:
    net = Net()
    half = AttrValue(type=19)
    x, w = (net.op("Cast", name, DstT=half) for name in (net.x(1, 3, 6, 6), net.c(np.ones((3, 3, 3, 4)))))
    y = net.op("Conv2D", x, w, strides=[1, 1, 1, 1], padding="SAME", data_format="NCHW")
    after = converted(net.out(net.op("Cast", y, DstT=AttrValue(type=DT_FLOAT))), compute_capability=7.0)
    assert formats(after) == {b"NHWC"}


def test_the_cpu_is_converted_when_asked_for_and_only_one_way() -> None:
    def made(data_format: str) -> Net:
        net = Net()
        return net.out(conv(net, net.x(1, 4, 6, 4), data_format=data_format)).on("/device:CPU:0")

    check(made("NCHW"), "Conv2D Const", "layout")
    check(made("NCHW"), {"Conv2D": 1, "Const": 3, "Transpose": 2}, "layout", cpu_layout_conversion=1)
    check(made("NHWC"), "Conv2D Const", "layout", cpu_layout_conversion=2)


def test_preserved_nodes_keep_their_format() -> None:
    net = Net()
    net.fetches = [conv(net, net.x(1, 6, 6, 4))]
    assert ops(converted(net))["Transpose"] == 0


def ints(net: Net, *values: int) -> str:
    return net.c(list(values), np.int32)


# Ops behind a convolution of [2, 6, 6, 4], and how many Transposes there are when another one follows.
BEHIND: dict[str, tuple[Callable[[Net, str], str], int]] = {
    "pad": (lambda n, a: n.op("Pad", a, n.c([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32)), 2),
    "slice": (lambda n, a: n.op("Slice", a, ints(n, 0, 1, 0, 0), ints(n, 2, 4, 5, 4)), 2),
    "strided slice": (
        lambda n, a: n.op(
            "StridedSlice",
            a,
            ints(n, 0, 1, 0, 0),
            ints(n, 0, 5, 0, 0),
            ints(n, 1, 2, 1, 1),
            begin_mask=13,
            end_mask=13,
        ),
        2,
    ),
    "tile": (lambda n, a: n.op("Tile", a, ints(n, 1, 2, 1, 1)), 2),
    "reverse": (lambda n, a: n.op("ReverseV2", a, ints(n, 1, -1)), 2),
    "vector": (lambda n, a: n.op("Mul", a, n.c([1, 2, 3, 4])), 2),
    "vector before": (lambda n, a: n.op("Sub", n.c([1, 2, 3, 4]), a), 2),
    "scalar": (lambda n, a: n.op("Maximum", n.c(0.1), a), 2),
    "matrix": (lambda n, a: n.op("AddV2", a, n.c(np.arange(24).reshape(6, 4))), 4),
    "concat": (
        lambda n, a: n.op(
            "Slice", n.op("ConcatV2", a, a, n.c(3, np.int32)), ints(n, 0, 0, 0, 2), ints(n, -1, -1, -1, 4)
        ),
        2,
    ),
    "select": (lambda n, a: n.op("SelectV2", n.op("Greater", a, n.c(0.1)), a, n.op("Neg", a)), 2),
    "mean": (lambda n, a: n.op("Mul", a, n.op("Mean", a, ints(n, 1, 2), keep_dims=True)), 2),
    "fill": (lambda n, a: n.op("AddV2", a, n.op("Fill", n.op("Shape", a), n.c(2.0))), 2),
    "softmax": (lambda n, a: n.op("Softmax", a), 4),
}


@pytest.mark.parametrize("name", BEHIND)
def test_ops_of_any_order_are_computed_in_the_new_one(name: str) -> None:
    net = Net()
    make, transposes = BEHIND[name]
    made = make(net, conv(net, net.x(2, 6, 6, 4)))
    assert ops(converted(net.out(conv(net, made))))["Transpose"] == transposes


@pytest.mark.parametrize(
    ("axes", "keeps", "transposes"),
    [([1, 2], False, 1), ([3], False, 1), ([-1, 1, 2], False, 1), ([1], False, 2), ([0], True, 2)],
)
def test_reductions_keep_the_order_of_what_is_left(axes: list[int], keeps: bool, transposes: int) -> None:
    net = Net()
    total = net.op("Sum", conv(net, net.x(2, 6, 6, 4)), ints(net, *axes), keep_dims=keeps)
    assert ops(converted(net.out(total)))["Transpose"] == transposes


def test_a_squeeze_takes_the_axes_where_they_are() -> None:
    net = Net()
    mean = net.op("Mean", conv(net, net.x(2, 6, 6, 4)), ints(net, 1, 2), keep_dims=True)
    after = converted(net.out(net.op("Squeeze", mean, squeeze_dims=[1, 2])))
    squeeze = next(node for node in after.node if node.op == "Squeeze")
    assert list(squeeze.attr["squeeze_dims"].list.i) == [2, 3] and ops(after)["Transpose"] == 1


def test_five_axes() -> None:
    net = Net()
    x = net.op(
        "Conv3D", net.x(1, 4, 4, 4, 2), net.c(np.ones((2, 2, 2, 2, 3))), strides=[1] * 5, padding="SAME"
    )
    pooled = net.op(
        "MaxPool3D",
        net.op("BiasAdd", x, net.c([1, 2, 3])),
        ksize=[1, 2, 2, 2, 1],
        strides=[1, 2, 2, 2, 1],
        padding="SAME",
    )
    after = converted(net.out(pooled))
    assert ops(after)["Transpose"] == 2 and formats(after) == {b"NCDHW", b"NCHW"}


def test_a_pad_between_transposes_that_meet_needs_none() -> None:
    net = Net()
    last = net.op("Transpose", net.x(1, 3, 6, 5), ints(net, 0, 2, 3, 1))
    padded = net.op("Pad", last, net.c([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32))
    first = net.op("Transpose", padded, ints(net, 0, 3, 1, 2))
    assert ops(converted(net.out(net.op("Neg", first)), aggressive=True)) == {"Pad": 1, "Const": 1, "Neg": 1}


def test_a_convolution_in_a_loop_computes_the_same() -> None:
    net = Net()
    frame = {"frame_name": "loop", "T": AttrValue(type=DT_FLOAT)}
    i = net.node("Enter", "i", net.c(0.0), **frame)
    x = net.node("Enter", "x", net.x(1, 4, 4, 2), **frame)
    w = net.node("Enter", "w", net.c(np.linspace(0, 1, 36).reshape(3, 3, 2, 2)), is_constant=True, **frame)
    two = net.node("Enter", "two", net.c(2.0), is_constant=True, **frame)
    one = net.node("Enter", "one", net.c(1.0), is_constant=True, **frame)
    kind = {"T": AttrValue(type=DT_FLOAT)}
    merges = [net.node("Merge", f"m_{n}", n, f"n_{n}", N=2, **kind) for n in (i, x)]
    condition = net.node("LoopCond", "cond", net.node("Less", "less", merges[0], two, **kind))
    for name, merge in zip((i, x), merges, strict=True):
        net.node("Switch", f"s_{name}", merge, condition, **kind)
        net.node("Exit", f"e_{name}", f"s_{name}", **kind)
    net.node("NextIteration", "n_i", net.node("AddV2", "add", "s_i:1", one, **kind), **kind)
    body = net.node("Conv2D", "conv", "s_x:1", w, strides=[1, 1, 1, 1], padding="SAME", **kind)
    net.node("NextIteration", "n_x", net.node("Relu", "relu", body, **kind), **kind)
    after = converted(net.out("e_x"), aggressive=True)
    assert ops(after)["Transpose"] >= 2


def test_tables_and_formats() -> None:
    assert not set(AGNOSTIC) & set(SENSITIVE)
    way = Conversion("NHWC", "NCHW")
    assert way.permutation == [0, 3, 1, 2] and way.of_rank(5).permutation == [0, 4, 1, 2, 3]
    assert way.permuted("nhwc") == tuple("nchw") and way.axis(-1) == 1
    assert way.keeps_order([1, 2]) and not way.keeps_order([1])
