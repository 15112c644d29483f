"""GraphProperties: shapes with symbols, values, and that they follow changes."""

import numpy as np
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.optimizers import GraphProperties, GrapplerItem
from numlite.schema.graph_def import DT_FLOAT, DT_INT32, AttrValue


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


def test_aggressive_values_follow_from_shapes() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", [2, 3])
    builder.node("Shape", "shape", x)
    item = GrapplerItem.from_graph_def(builder.graph_def, ["x"], ["shape"])
    for aggressive in (False, True):
        properties = GraphProperties(item)
        properties.infer_statically(
            assume_valid_feeds=True, aggressive=aggressive, include_output_values=True
        )
        value = properties.output_properties("shape")[0].value
        assert (value is not None) == aggressive
    assert value is not None and value.elements == np.array([2, 3], np.int32).tobytes()


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
