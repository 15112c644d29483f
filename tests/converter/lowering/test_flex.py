"""Ops that stay TensorFlow's: flex operators, custom operators, and what is said where neither is allowed."""

from __future__ import annotations

import numpy as np
import pytest
from flatbuffers import flexbuffers
from numlite.converter import Converter, OpsSet, TargetSpec, convert
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.lowering.flex import ALLOWLIST_FILE, allowlist
from numlite.converter.target_spec import Settings
from numlite.lite.errors import UnsupportedError
from numlite.schema import tflite
from numlite.schema.graph_def import DT_BOOL, AttrValue, NodeDef

from ..graphs import checked, run_numlite


def mixed_graph() -> GraphBuilder:
    """y = Tan(relu(x))."""
    g = GraphBuilder()
    g.node("Tan", "y", g.node("Relu", "r", g.placeholder("x", [3])))
    return g


def custom_codes(model: bytes) -> list[str | None]:
    read = tflite.read(model)
    return [read.operator_codes[o.opcode_index].custom_code for o in read.subgraphs[0].operators]


def test_only_ops_without_a_rule_become_flex_operators() -> None:
    model = checked(convert(mixed_graph().graph_def, settings=Settings(select=True)).model)
    assert custom_codes(model) == [None, "FlexTan"]
    [y] = run_numlite(model, np.array([-1, 0, 0.5], np.float32))
    np.testing.assert_allclose(y, np.tan([0, 0, 0.5]), rtol=1e-6)


def test_select_alone_makes_all_ops_flex_operators() -> None:
    converter = Converter.from_graph_def(mixed_graph().graph_def)
    converter.target_spec = TargetSpec(supported_ops=[OpsSet.SELECT_TF_OPS])
    assert custom_codes(checked(converter.convert())) == ["FlexRelu", "FlexTan"]


def test_the_options_are_the_ops_name_and_its_node() -> None:
    model = tflite.read(convert(mixed_graph().graph_def, settings=Settings(select=True)).model)
    vector = flexbuffers.GetRoot(bytearray(model.subgraphs[0].operators[1].custom_options)).AsVector
    assert len(vector) == 2 and vector[0].AsString == "Tan"
    # The node as TensorFlow's converter writes it, but for an empty debug info.
    node = NodeDef(op="Tan", input=[""], attr={"T": AttrValue(type=1)}).SerializeToString()
    assert bytes(vector[1].AsStringBytes) == node == b"\x12\x03Tan\x1a\x00*\x07\n\x01T\x12\x020\x01"


def test_custom_operators_have_a_map_of_their_attributes() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [2])
    g.node("DebugIdentity", "y", x, tensor_name="t", gated_grpc=True)
    model = tflite.read(checked(convert(g.graph_def, settings=Settings(custom_ops=True)).model))
    [operator] = model.subgraphs[0].operators
    assert custom_codes(convert(g.graph_def, settings=Settings(custom_ops=True)).model) == ["DebugIdentity"]
    options = flexbuffers.GetRoot(bytes(operator.custom_options)).AsMap
    assert options["tensor_name"].AsString == "t" and options["gated_grpc"].AsBool
    assert options["T"].AsInt == 1


def test_what_would_take_an_op() -> None:
    graph = mixed_graph()
    graph.node("DebugIdentity", "z", "x")
    with pytest.raises(UnsupportedError) as caught:
        convert(graph.graph_def)
    assert str(caught.value) == (
        "2 nodes cannot be converted: DebugIdentity (node 'z'); Tan (node 'y'). "
        "allow_custom_ops (--allow-custom-ops) would take DebugIdentity. "
        "target_spec.supported_ops with OpsSet.SELECT_TF_OPS (--select-tf-ops) would take Tan"
    )


def test_ops_without_results_are_named() -> None:
    """One in a way of a conditional, of which nothing but its end is waited for."""
    g = GraphBuilder()
    way = g.node("Switch", "s", g.placeholder("x", [2]), g.placeholder("p", [], DT_BOOL))
    g.node("NoSuchOp", "n", f"{way}:1")
    g.node("Merge", "y", g.node("Neg", "a", way), g.node("Abs", "b", f"{way}:1", "^n"))
    with pytest.raises(UnsupportedError, match=r"NoSuchOp \(node 'y/then/n' of function 'y_way1'\)"):
        convert(g.graph_def)


def test_user_ops_are_flex_operators_where_they_are_named() -> None:
    g = GraphBuilder()
    g.node("DebugIdentity", "y", g.placeholder("x", [2]))
    converter = Converter.from_graph_def(g.graph_def)
    converter.target_spec.supported_ops = [OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS]
    with pytest.raises(UnsupportedError):
        converter.convert()
    converter.target_spec.experimental_select_user_tf_ops = ["DebugIdentity"]
    assert custom_codes(converter.convert()) == ["FlexDebugIdentity"]


def test_erf_is_flex_unless_a_pass_takes_it_in() -> None:
    g = GraphBuilder()
    g.node("Erf", "y", g.placeholder("x", [2]))
    with pytest.raises(UnsupportedError, match=r"1 node cannot be converted: Erf \(node 'y'\)"):
        convert(g.graph_def)
    assert custom_codes(convert(g.graph_def, settings=Settings(select=True)).model) == ["FlexErf"]


def _both_lists() -> GraphBuilder:
    """A list that has a builtin form, twice in one that has none."""
    g = GraphBuilder()
    shape = g.constant("shape", np.array([2], np.int32))
    held = g.node("TensorListFromTensor", "held", g.placeholder("x", [3, 2]), shape)
    both = g.node("TensorListConcatLists", "both", held, held, element_dtype=AttrValue(type=1))
    g.node("TensorListStack", "y", both, shape, element_dtype=AttrValue(type=1))
    return g


def test_all_lists_stay_with_tensorflow_ops_where_one_has_no_builtin_form() -> None:
    model = checked(convert(_both_lists().graph_def, settings=Settings(select=True)).model)
    names = ["TensorListFromTensor", "TensorListConcatLists", "TensorListStack"]
    assert custom_codes(model) == [f"Flex{name}" for name in names]
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    [y] = run_numlite(model, x)
    np.testing.assert_array_equal(y, np.concatenate([x, x]))


def test_lists_that_became_tensors_do_not_reach_operators_on_lists() -> None:
    with pytest.raises(UnsupportedError, match="TensorListConcatLists"):
        convert(_both_lists().graph_def)


def _pushed(g: GraphBuilder, name: str, element_dtype: int, shape: list[int], item: str) -> str:
    """An empty list with one element pushed."""
    type = AttrValue(type=element_dtype)
    sizes = g.constant(f"{name}/sizes", np.array(shape, np.int32))
    most = g.constant(f"{name}/most", np.array(-1, np.int32))
    held = g.node("EmptyTensorList", f"{name}/empty", sizes, most, element_dtype=type)
    return g.node("TensorListPushBack", name, held, item, element_dtype=type)


def test_lists_without_a_builtin_form_stay_with_tensorflow_ops() -> None:
    """Elements of unknown shape, as the gradients of loops keep them, and lists of lists."""
    g = GraphBuilder()
    held = _pushed(g, "list", 1, [-1, 3], g.placeholder("x", [-1, 3]))
    g.node("TensorListLength", "count", _pushed(g, "outer", 21, [], held))
    ending = g.constant("ending", np.array([-1, 3], np.int32))
    held = g.node("TensorListPopBack", "popped", held, ending, element_dtype=AttrValue(type=1))
    g.node("Identity", "last", f"{held}:1")
    model = checked(convert(g.graph_def, ["x"], ["last", "count"], settings=Settings(select=True)).model)
    codes = custom_codes(model)
    assert codes.count("FlexEmptyTensorList") == codes.count("FlexTensorListPushBack") == 2
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    last, count = run_numlite(model, x)
    np.testing.assert_array_equal(last, x)
    assert count == 1


def test_the_allowlist_is_sorted_and_without_doubles() -> None:
    names = ALLOWLIST_FILE.read_text().split()
    assert names == sorted(set(names)) and len(allowlist()) == len(names) == 770


@pytest.mark.parametrize("sets", [[], ["TFLITE_BUILTINS"]])
def test_wrong_target_specs(sets: list[object]) -> None:
    converter = Converter.from_graph_def(mixed_graph().graph_def)
    converter.target_spec.supported_ops = sets
    with pytest.raises(ValueError, match="supported_ops: must be of TFLITE_BUILTINS, SELECT_TF_OPS"):
        converter.convert()


def test_equal_ops_without_state_are_one() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [3])
    g.node("AddV2", "y", g.node("Tan", "a", x), g.node("Tan", "b", x))
    model = checked(convert(g.graph_def, settings=Settings(select=True)).model)
    assert custom_codes(model) == ["FlexTan", None]
    [y] = run_numlite(model, np.array([-1, 0, 0.5], np.float32))
    np.testing.assert_allclose(y, 2 * np.tan([-1, 0, 0.5]), rtol=1e-6)


def test_equal_ops_that_draw_numbers_stay_two() -> None:
    g = GraphBuilder()
    sizes = g.placeholder("x", [1], 3)
    drawn = [g.node("TruncatedNormal", name, sizes, dtype=AttrValue(type=1)) for name in "ab"]
    g.node("AddV2", "y", *drawn)
    model = checked(convert(g.graph_def, settings=Settings(select=True)).model)
    assert custom_codes(model) == ["FlexTruncatedNormal", "FlexTruncatedNormal", None]
