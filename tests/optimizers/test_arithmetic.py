"""The stages of the arithmetic optimizer: what they make, and what looks alike and stays."""

from collections.abc import Callable

import numpy as np
import pytest
from numlite.converter.optimizers.arithmetic.register import STAGES
from numlite.schema.graph_def import AttrValue, GraphDef

from .optimized import Net, check, ops, optimized, values

Case = Callable[[Net], str]


def chain(*ops: str) -> Case:
    def made(net: Net) -> str:
        value = net.x(2, 3)
        for op in ops:
            value = net.op(op, value)
        return value

    return made


def binary(op: str, one: Case, other: Case) -> Case:
    return lambda net: net.op(op, one(net), other(net))


def x(net: Net) -> str:
    return net.x(2, 3)


def constant(value: object) -> Case:
    return lambda net: net.c(value)


def of(op: str, case: Case, **attributes: object) -> Case:
    return lambda net: net.op(op, case(net), **attributes)


def moved(op: str, case: Case, numbers: list[int]) -> Case:
    return lambda net: net.op(op, case(net), net.c(numbers, np.int32))


def twice(op: str, case: Case) -> Case:
    def made(net: Net) -> str:
        value = case(net)
        return net.op(op, value, value)

    return made


def factored(net: Net) -> str:
    a, b, c = (net.x(2, 3) for _ in range(3))
    return net.op("AddV2", net.op("Mul", a, b), net.op("Mul", c, a))


def packed(net: Net) -> str:
    pack = net.op("Pack", net.x(2, 3), net.op("Neg", net.x(2, 3)), N=2)
    return net.op("GatherV2", pack, net.c(1, np.int32), net.c(0, np.int32))


def concatenated(net: Net) -> str:
    parts = [net.op("Exp", net.x(2, 3)) for _ in range(2)]
    return net.op("ConcatV2", *parts, net.c(0, np.int32), N=2)


CASES: dict[str, tuple[Case, str]] = {
    "negations": (chain("Neg", "Neg", "Exp"), "Exp"),
    "negations around a reshape": (of("Neg", moved("Reshape", chain("Neg"), [6])), "Reshape Const"),
    "subtracted": (binary("AddV2", x, chain("Neg")), "Sub"),
    "negated first": (binary("AddV2", chain("Neg"), x), "Sub"),
    "subtracted negation": (binary("Sub", x, chain("Neg")), "AddV2"),
    "square": (twice("Mul", x), "Square"),
    "squared difference": (of("Square", binary("Sub", x, x)), "SquaredDifference"),
    "root below": (binary("RealDiv", x, chain("Sqrt")), "Rsqrt Mul"),
    "pow 2": (binary("Pow", x, constant(2)), "Square"),
    "pow -1": (binary("Pow", x, constant(-1)), "Reciprocal"),
    "pow 2.5": (binary("Pow", x, constant(2.5)), "Pow Const"),
    "pow that stretches": (binary("Pow", x, constant([[[2.0]], [[2.0]]])), "Pow Const"),
    "log1p": (of("Log", binary("AddV2", constant(1), x)), "Log1p"),
    "log of x and 2": (of("Log", binary("AddV2", constant(2), x)), "Log AddV2 Const"),
    "expm1": (binary("Sub", chain("Exp"), constant(1)), "Expm1"),
    "log softmax": (chain("Softmax", "Log"), "LogSoftmax"),
    "transposed there and back": (
        moved("Transpose", moved("Transpose", x, [1, 0]), [1, 0]),
        "",
    ),
    "transposed twice otherwise": (
        moved("Transpose", moved("Transpose", lambda net: net.x(2, 3, 4), [1, 2, 0]), [1, 2, 0]),
        "Transpose Transpose Const Const",
    ),
    "reshaped twice": (moved("Reshape", moved("Reshape", x, [6]), [3, 2]), "Reshape Const"),
    "product of a transpose": (
        binary("MatMul", moved("Transpose", x, [1, 0]), x),
        "MatMul",
    ),
    "sum of one value": (twice("AddV2", x), "Mul Const"),
    "largest of a growing function": (moved("Max", chain("Exp"), [0]), "Max Const Exp"),
    "smallest of a falling function": (moved("Min", chain("Neg"), [0]), "Max Const Neg"),
    "common factor": (factored, "AddV2 Mul"),
    "unpacked": (packed, "Neg"),
    "concatenated": (concatenated, "ConcatV2 Exp Const"),
}


@pytest.mark.parametrize("name", CASES)
def test_stages(name: str) -> None:
    case, expected = CASES[name]
    net = Net()
    check(net.out(case(net)), expected, "arithmetic", assume_valid_feeds=True)


def test_a_stage_is_switched_off_by_its_name() -> None:
    net = Net()
    net.out(chain("Neg", "Neg")(net))
    check(net, "Neg Neg", "arithmetic", stages={"remove_involution": False})


def test_a_fetched_node_keeps_its_name() -> None:
    net = Net()
    first = net.op("Neg", net.x(2))
    net.fetches = [first, net.op("Neg", first)]
    after = check(net, "Neg", "arithmetic")
    assert {node.name for node in after.node} >= set(net.fetches)


def test_what_others_use_is_not_fused() -> None:
    net = Net()
    root = net.op("Sqrt", net.x(3))
    check(net.out(net.op("RealDiv", net.x(3), root), root), "Sqrt RealDiv", "arithmetic")


def test_opposites_of_comparisons_are_others_only_without_nan() -> None:
    for dtype, expected in ((np.int32, "GreaterEqual"), (np.float32, "Less LogicalNot")):
        net = Net()
        less = net.op("Less", net.x(4, dtype=dtype), net.x(4, dtype=dtype))
        check(net.out(net.op("LogicalNot", less)), expected, "arithmetic")


def test_argmax_of_a_growing_function_is_argmax() -> None:
    """TensorFlow makes a float Identity of it, which does not import."""
    net = Net()
    axis = net.c(1, np.int32)
    check(net.out(net.op("ArgMax", net.op("Sigmoid", net.x(2, 3)), axis)), "ArgMax Const", "arithmetic")
    net = Net()
    axis = net.c(1, np.int32)
    kept = "ArgMax Relu Const"
    check(net.out(net.op("ArgMax", net.op("Relu", net.x(2, 3)), axis)), kept, "arithmetic")


def test_sums_of_one_shape_become_one_and_of_others_stay() -> None:
    net = Net()
    a, b, c, d = (net.x(2, 3) for _ in range(4))
    total = net.op("AddV2", net.op("AddV2", a, b), net.op("AddV2", c, d))
    check(net.out(total), "AddN", "arithmetic", assume_valid_feeds=True)
    check(net, "AddV2 AddV2 AddV2", "arithmetic")


def test_every_stage_says_given_and_result() -> None:
    for stage in STAGES:
        assert "Given:" in stage.given_and_result and "Result:" in stage.given_and_result, stage.name
    assert len({stage.name for stage in STAGES}) == len(STAGES)


def upsampled(ones: int = 1, counts: tuple[int, ...] = (1, 1, 2, 1, 3, 1)) -> Net:
    net = Net()
    sizes = [-1, 3, ones, 4 // ones, 1, 5]
    reshaped = net.op("Reshape", net.x(2, 3, 4, 5), net.c(sizes, np.int32))
    tiled = net.op("Tile", reshaped, net.c(counts, np.int32))
    return net.out(net.op("Reshape", tiled, net.c([2, 3 * 2, -1, 5], np.int32)))


def test_pixels_are_repeated_over_fewer_axes() -> None:
    after = check(upsampled(), "Reshape Tile Reshape Const Const Const", "arithmetic", "pruning")
    assert any("ReduceUpsamplingDims" in node.name for node in after.node)


@pytest.mark.parametrize("net", [upsampled(2), upsampled(counts=(1, 2, 2, 1, 1, 1))], ids=["axis", "rows"])
def test_other_repetitions_stay(net: Net) -> None:
    after = check(net, "Reshape Tile Reshape Const Const Const", "arithmetic", "pruning")
    assert not any("ReduceUpsamplingDims" in node.name for node in after.node)


@pytest.mark.parametrize(
    ("axes", "is_one"), [((3,), True), ((3, 2), True), ((2, 2), True), ((2, 3), False), ((4,), False)]
)
def test_what_is_packed_with_itself_is_repeated(axes: tuple[int, ...], is_one: bool) -> None:
    net = Net()
    value = net.x(2, 3, 4, 5)
    for axis in axes:
        value = net.op("Pack", value, value, axis=axis)
    after = check_values(net.out(value), assume_valid_feeds=True)
    found = ops(after)
    assert (found["Pack"] == 0 and found["Tile"] == 1) == is_one
    assert found["Pack"] < len(axes) or not is_one


def test_different_values_stay_packed() -> None:
    net = Net()
    after = check_values(net.out(net.op("Pack", net.x(2, 3), net.x(2, 3))), assume_valid_feeds=True)
    assert ops(after) == {"Pack": 1}


def check_values(net: Net, **options: object) -> GraphDef:
    after = optimized(net.graph_def, list(net.feeds), net.fetches, "arithmetic", **options)
    for a, b in zip(values(net.graph_def, net), values(after, net), strict=True):
        np.testing.assert_array_equal(a, b)
    return after


HALF, FLOAT, DOUBLE = (AttrValue(type=n) for n in (19, 1, 2))


@pytest.mark.parametrize(
    ("first", "second", "comes_first"),
    [("Cast", "Reshape", "Reshape"), ("Cast", "Transpose", "Transpose"), ("Cast", "Slice", "Slice")],
)
def test_a_cast_to_a_wider_type_comes_last(first: str, second: str, comes_first: str) -> None:
    net = Net()
    value = net.op("Cast", net.x(2, 3), DstT=DOUBLE)
    operands = {"Reshape": [[3, 2]], "Transpose": [[1, 0]], "Slice": [[0, 1], [2, 1]]}[second]
    net.out(net.op("Exp", net.op(second, value, *(net.c(each, np.int32) for each in operands))))
    assert order_of(check_values(net)) == [comes_first, "Cast", "Exp"]


def test_a_cast_to_a_narrower_type_comes_first_unless_elements_are_left_out() -> None:
    for op, operands, expected in (
        ("Transpose", [[1, 0]], ["Cast", "Transpose"]),
        ("Slice", [[0, 1], [2, 1]], ["Slice", "Cast"]),
    ):
        net = Net()
        value = net.op(op, net.op("Exp", net.x(2, 3)), *(net.c(each, np.int32) for each in operands))
        net.out(net.op("Cast", value, DstT=HALF))
        assert order_of(check_values(net)) == ["Exp", *expected]


def order_of(graph: GraphDef) -> list[str]:
    return [node.op for node in graph.node if node.op not in ("Placeholder", "Const", "Identity")]


def composed(*names: str, device: str = "/device:CPU:0", target: str = "tensorflow") -> GraphDef:
    net = Net()
    value = net.x(2, 3)
    for name in names:
        value = net.op(name, value)
    return check_values(net.out(value).on(device), target=target)


def test_elementwise_ops_in_a_row_are_one_on_the_cpu() -> None:
    after = composed("Exp", "Log", "Softplus", "Sqrt", "Neg", "Tanh")
    found = [list(n.attr["op_names"].list.s) for n in after.node if n.op == "_UnaryOpsComposition"]
    assert found == [[b"Exp", b"Log"], [b"Sqrt", b"Neg", b"Tanh"]]
    for other in (composed("Exp", "Log", device="/device:GPU:0"), composed("Exp", "Log", device="")):
        assert ops(other) == {"Exp": 1, "Log": 1}
    assert "_UnaryOpsComposition" not in ops(composed("Exp", "Log", target="portable"))
    assert "_UnaryOpsComposition" not in ops(composed("Exp"))


def test_ops_that_others_use_are_not_composed() -> None:
    net = Net()
    value = net.op("Exp", net.x(2, 3))
    net.out(net.op("Log", value), net.op("Sqrt", value))
    assert ops(check_values(net.on("/device:CPU:0"))) == {"Exp": 1, "Log": 1, "Sqrt": 1}
