"""GraphProperties: shapes with symbols, values, and that they follow changes."""

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.ir.signature import registered
from numlite.converter.ir.types import ElementType, TensorType
from numlite.converter.optimizers import GraphProperties, GrapplerItem
from numlite.converter.shapes.infer import infer
from numlite.schema.graph_def import DT_FLOAT, DT_INT32, AttrValue

F32 = ElementType("f32")


def flattened() -> GrapplerItem:
    """Flattens x [?, 4, 3] as Keras does: by its Shape, a StridedSlice, Pack and Reshape."""
    builder = GraphBuilder()
    x = builder.placeholder("x", [-1, 4, 3])
    shape = builder.node("Shape", "shape", x)
    ends = [builder.constant(f"e{i}", np.array([n], np.int32)) for i, n in enumerate((0, 1, 1))]
    batch = builder.node("StridedSlice", "batch", shape, *ends, shrink_axis_mask=1)
    twelve = builder.constant("twelve", np.array(12, np.int32))
    sizes = builder.node("Pack", "sizes", batch, twelve, N=2)
    flat = builder.node("Reshape", "flat", x, sizes)
    w = builder.constant("w", np.zeros((12, 5), np.float32))
    product = builder.node("MatMul", "product", flat, w)
    builder.node("AddV2", "sum", product, product)
    return GrapplerItem.from_graph_def(builder.graph_def, ["x"], ["sum"])


def shape(properties: GraphProperties, node: str) -> tuple[int, ...] | None:
    return properties.output_properties(node)[0].shape


def test_equal_sizes_have_equal_numbers() -> None:
    item = flattened()
    properties = GraphProperties(item)
    properties.infer_statically(assume_valid_feeds=True)
    batch = (shape(properties, "x") or (0,))[0]
    assert batch <= -2
    assert shape(properties, "flat") == (batch, 12)
    assert shape(properties, "sum") == (batch, 5)


def test_declared_shapes_of_feeds_are_not_trusted() -> None:
    properties = GraphProperties(flattened())
    properties.infer_statically()
    assert shape(properties, "x") is None
    found = shape(properties, "product")
    assert found is not None and found[0] <= -2 and found[1] == 5


def test_values_are_given_where_they_are_included() -> None:
    properties = GraphProperties(flattened())
    properties.infer_statically(include_input_values=True)
    assert properties.output_properties("twelve")[0].value is None
    held = properties.input_properties("sizes")
    assert [each.dtype for each in held] == [DT_INT32, DT_INT32]
    assert held[0].value is None and held[1].value is not None
    assert held[1].value.elements == np.array(12, np.int32).tobytes()


def test_values_follow_from_shapes_and_aggressive_ones_by_running_nodes() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", [2, 3])
    shape = builder.node("Shape", "shape", x)
    ends = [builder.constant(f"e{i}", np.array([n], np.int32)) for i, n in enumerate((0, 1, 1))]
    first = builder.node("StridedSlice", "first", shape, *ends, shrink_axis_mask=1)
    builder.node("StridedSlice", "part", shape, *ends)
    builder.node("Mul", "product", first, first)
    builder.node("Prod", "count", shape, ends[0])
    item = GrapplerItem.from_graph_def(builder.graph_def, ["x"], ["shape"])
    expected = {"shape": [2, 3], "part": [2], "first": 2, "product": 4, "count": None}
    for aggressive in (False, True):
        properties = GraphProperties(item)
        properties.infer_statically(True, aggressive, include_output_values=True)
        for name, wanted in expected.items():
            value = properties.output_properties(name)[0].value
            if wanted is None or (name in ("first", "product") and not aggressive):
                assert value is None
            else:
                assert value is not None and value.elements == np.array(wanted, np.int32).tobytes()


def test_what_was_cleared_and_what_is_not_there_have_no_properties() -> None:
    properties = GraphProperties(flattened())
    assert properties.output_properties("sum") == []
    properties.infer_statically()
    assert properties.output_properties("sum")[0].dtype == DT_FLOAT
    properties.clear("sum")
    assert properties.output_properties("sum") == []
    assert properties.input_properties("no such node") == []


def test_a_changed_node_and_what_hangs_on_it_are_inferred_again() -> None:
    item = flattened()
    properties = GraphProperties(item)
    properties.infer_statically()
    nodes = {node.name: node for node in item.nodes()}
    flat, w = nodes["flat"], nodes["w"]
    nodes["product"].operands = (w.results[0], flat.results[0])
    nodes["product"].attributes["transpose_a"] = True
    nodes["product"].attributes["transpose_b"] = True
    properties.update(nodes["product"])
    found = shape(properties, "sum")
    assert found is not None and found[0] == 5


def test_a_loop_widens_what_changes_in_it() -> None:
    builder = GraphBuilder()
    first = builder.constant("first", np.zeros((1, 3), np.float32))
    enter = builder.node("Enter", "enter", first, frame_name="f")
    merge = builder.node("Merge", "merge", enter, "next", N=2, T=AttrValue(type=DT_FLOAT))
    axis = builder.constant("axis", np.array(0, np.int32))
    inside = builder.node("Enter", "inside", axis, frame_name="f", is_constant=True)
    longer = builder.node(
        "ConcatV2",
        "longer",
        merge,
        merge,
        inside,
        N=2,
        T=AttrValue(type=DT_FLOAT),
        Tidx=AttrValue(type=DT_INT32),
    )
    builder.node("NextIteration", "next", longer)
    item = GrapplerItem.from_graph_def(builder.graph_def, [], ["longer"])
    properties = GraphProperties(item)
    properties.infer_statically()
    found = shape(properties, "merge")
    assert found is not None and found[0] <= -2 and found[1] == 3


def block() -> GrapplerItem:
    """What a net of images begins and ends with, fed by x of nothing known and y, a list of its classes."""
    builder = GraphBuilder()
    x, y = builder.placeholder("x", [-1, 8, 8, 3]), builder.placeholder("y", [-1])
    pads = builder.constant("pads", np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32))
    padded = builder.node("Pad", "pad", builder.node("Relu", "same", x), pads)
    filters = builder.constant("filters", np.zeros((3, 3, 3, 4), np.float32))
    made = builder.node("Conv2D", "conv", padded, filters, strides=[1, 1, 1, 1], padding="VALID")
    vectors = [builder.constant(f"v{i}", np.ones(4, np.float32)) for i in range(5)]
    made = builder.node("FusedBatchNormV3", "norm", made, *vectors[:4], is_training=False)
    made = builder.node("BiasAdd", "bias", made, vectors[4])
    deep = builder.constant("deep", np.zeros((3, 3, 4, 1), np.float32))
    deep = builder.node(
        "DepthwiseConv2dNative", "deep_conv", made, deep, strides=[1, 1, 1, 1], padding="SAME"
    )
    both = builder.node("AddN", "both", deep, made, N=2)
    axes = builder.constant("axes", np.array([1, 2], np.int32))
    mean = builder.node("Mean", "mean", both, axes)
    w = builder.constant("w", np.zeros((4, 10), np.float32))
    rows = builder.node("MatMul", "rows", mean, w)
    loss = builder.node(
        "SparseSoftmaxCrossEntropyWithLogits",
        "loss",
        rows,
        builder.node("Cast", "ids", y, DstT=AttrValue(type=DT_INT32)),
    )
    whole = builder.constant("whole", np.array([2, 5, 2], np.int32))
    builder.node("Reshape", "flat", rows, whole)
    return GrapplerItem.from_graph_def(builder.graph_def, ["x", "y"], ["flat", loss])


def test_what_users_ask_is_told_of_what_is_fed() -> None:
    """Figures of TensorFlow 2.21 (`item.Item(...).GetOpProperties()`), numbers of sizes included."""
    properties = GraphProperties(block())
    properties.infer_statically()
    image = (2, -3, -4, 4)
    expected = {
        **dict.fromkeys(("x", "same"), (2, -6, -7, -8)),
        "pad": (2, -9, -10, -8),
        **dict.fromkeys(("conv", "norm", "bias", "deep_conv", "both"), image),
        "mean": (2, 4),
        "rows": (2, 10),
        **dict.fromkeys(("y", "ids", "loss"), (2,)),
        "flat": (2, 5, 2),
    }
    assert {name: shape(properties, name) for name in expected} == expected


def test_what_is_asked_is_not_sure() -> None:
    """Optimizers see what is sure: the types of values, which say nothing of what is fed."""
    item = block()
    GraphProperties(item).infer_statically()
    types = {node.name: node.results[0].type for node in item.nodes()}
    assert [getattr(types[name], "shape", 0) for name in ("x", "y", "same", "ids")] == [None] * 4
    assert getattr(types["rows"], "shape", None) == (-1, 10)


def test_demands_that_contradict_each_other_count_for_nothing() -> None:
    builder = GraphBuilder()
    x, y = builder.placeholder("x", [-1, -1]), builder.placeholder("y", [-1, -1])
    w = builder.constant("w", np.zeros((3, 5), np.float32))
    product = builder.node("MatMul", "product", builder.node("MatMul", "first", x, y), w)
    for rows in (4, 6):
        sizes = builder.constant(f"sizes{rows}", np.array([rows, 5], np.int32))
        builder.node("Reshape", f"flat{rows}", product, sizes)
    item = GrapplerItem.from_graph_def(builder.graph_def, ["x", "y"], ["flat4", "flat6"])
    properties = GraphProperties(item)
    properties.infer_statically()
    found = shape(properties, "product")
    assert found is not None and found[0] <= -2 and found[1] == 5
    assert shape(properties, "x") is None


def test_arguments_of_a_function_are_fed() -> None:
    builder = GraphBuilder()
    builder.placeholder("x", [2, 3])
    function = builder.graph_def.library.function.add()
    function.signature.name = "square"
    function.signature.input_arg.add(name="a", type=DT_FLOAT)
    function.signature.output_arg.add(name="b", type=DT_FLOAT)
    noted = function.arg_attr[0].attr["_output_shapes"].list.shape.add()
    noted.dim.add(size=2), noted.dim.add(size=3)
    node = function.node_def.add(name="product", op="Square", input=["a"])
    node.attr["T"].type = DT_FLOAT
    function.ret["b"] = "product:y:0"
    module = GrapplerItem.from_graph_def(builder.graph_def, ["x"], ["x"]).module
    properties = GraphProperties(GrapplerItem.from_function(module, "square"))
    for trusted, expected in ((False, None), (True, (2, 3))):
        properties.infer_statically(assume_valid_feeds=trusted)
        assert shape(properties, "product") == expected


def test_of_most_inputs_a_reference_is_read() -> None:
    builder = GraphBuilder()
    shape_of = AttrValue(shape={"dim": [{"size": 2}]})
    variable = builder.node("VariableV2", "variable", shape=shape_of, dtype=AttrValue(type=DT_FLOAT))
    builder.node("Identity", "read", variable, T=AttrValue(type=DT_FLOAT))
    two = builder.constant("two", np.array([2, 2], np.float32))
    builder.node("Assign", "write", variable, two, T=AttrValue(type=DT_FLOAT))
    properties = GraphProperties(GrapplerItem.from_graph_def(builder.graph_def, [], ["read", "write"]))
    properties.infer_statically()
    reference = DT_FLOAT + 100
    assert [each.dtype for each in properties.output_properties("variable")] == [reference]
    assert [each.dtype for each in properties.input_properties("read")] == [DT_FLOAT]
    assert [each.dtype for each in properties.input_properties("write")] == [reference, DT_FLOAT]


@pytest.mark.parametrize(
    ("op", "places"),
    [("ApplyGradientDescent", (0, 2)), ("ApplyMomentum", (0, 1, 3)), ("ApplyAdam", (0, 1, 2, 9))],
)
def test_updates_have_the_shape_of_any_of_their_tensors(op: str, places: tuple[int, ...]) -> None:
    signature = registered(op)
    assert signature is not None
    for known in places:
        inputs = [TensorType(F32, (3, 4) if i == known else None) for i in range(len(signature.inputs))]
        found = infer(op, {"T": F32}, inputs, [TensorType(F32)])
        assert found.types[0].shape == (3, 4)
        assert len(found.demands.shapes) == len(places) - 1


def test_a_circle_of_nodes_ends() -> None:
    builder = GraphBuilder()
    for name, other in (("a", "b"), ("b", "a")):
        builder.node("Identity", name, other, T=AttrValue(type=DT_INT32))
    begin = builder.constant("begin", np.array([0], np.int32))
    types = {"T": AttrValue(type=DT_INT32), "Index": AttrValue(type=DT_INT32)}
    builder.node("Slice", "part", begin, "a", "b", **types)
    properties = GraphProperties(GrapplerItem.from_graph_def(builder.graph_def, [], ["part"]))
    properties.infer_statically(False, True, True, True)
    assert [each.value for each in properties.output_properties("a")] == [None]
    found = shape(properties, "part")
    assert found is not None and len(found) == 1
