"""The graph IR itself: nodes, uses, texts and GraphDefs, without files from outside."""

from __future__ import annotations

import pytest
from numlite.converter.ir import (
    Block,
    ImportOptions,
    Node,
    export_graph_def,
    import_graph_def,
    parse_module,
    print_module,
    verify,
)
from numlite.converter.ir.import_options import TENSORFLOW
from numlite.converter.ir.types import ElementType, TensorType, compatible
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import graph_def
from numlite.schema.graph_def import GraphDef, OpDef, OpList
from numlite.schema.op_defs import OpDefs, op_defs, packed

from .graph_normal_form import normal_form
from .ir_texts import LIBRARY, LOOP, REGIONS

F32 = TensorType(ElementType("f32"))


@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
@pytest.mark.parametrize("text", [LOOP, LIBRARY, REGIONS], ids=["loop", "library", "regions"])
def test_text_is_read_as_it_was_printed(text: str, generic: bool) -> None:
    module = parse_module(text)
    verify(module)
    printed = print_module(module, locations=True, generic=generic)
    again = parse_module(printed)
    verify(again)
    assert print_module(again, locations=True, generic=generic) == printed
    assert print_module(again, locations=True) == print_module(module, locations=True)


@pytest.mark.parametrize("text", [LOOP, LIBRARY], ids=["loop", "library"])
def test_graph_def_and_back(text: str) -> None:
    exported = export_graph_def(parse_module(text))
    again = export_graph_def(import_graph_def(exported))
    assert normal_form(again) == normal_form(exported)


def test_names_of_results_are_made_unique_by_one_counter() -> None:
    lines = print_module(parse_module(LOOP)).split("\n")
    assert [line.split(" = ")[0].strip() for line in lines[2:7]] == [
        "%Const, %ctl",
        "%Enter, %ctl_0",
        "%Merge:2, %ctl_1",
        "%NextIteration, %ctl_2",
        "%ctl_3",
    ]


def test_what_tensorflow_adds() -> None:
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder").attr["dtype"].type = graph_def.DT_FLOAT
    assert 'name("x") {dtype = f32} : () -> (tensor<*xf32>)' in print_module(import_graph_def(graph))
    added = print_module(import_graph_def(graph, TENSORFLOW))
    assert 'name("x") {dtype = f32, shape = #tf_type.shape<*>} :' in added


def test_full_types_are_constructed() -> None:
    graph = GraphDef()
    node = graph.node.add(name="n", op="EmptyTensorList")
    node.attr["element_dtype"].type = graph_def.DT_INT32
    node.attr["shape_type"].type = graph_def.DT_INT32
    options = ImportOptions(construct_full_types=True, check_nodes=False)
    text = print_module(import_graph_def(graph, options))
    assert "#tf_type.full_type<product<array<tensor<int32>>>>" in text


def test_gradients_and_what_has_no_place_are_kept() -> None:
    graph = GraphDef()
    for name in ("F", "G"):
        function = graph.library.function.add()
        function.signature.name = name
        function.signature.is_commutative = name == "F"
    graph.library.gradient.add(function_name="F", gradient_func="G")
    graph.library.gradient.add(function_name="absent", gradient_func="G")
    graph.library.registered_gradients.add(gradient_func="G", registered_op_type="op")
    graph.debug_info.files.append("a.py")
    graph.version = 7
    text = print_module(import_graph_def(graph))
    assert "gradient = @G" in text
    assert normal_form(export_graph_def(parse_module(text))) == normal_form(graph)


def test_uses_follow_replacement() -> None:
    block = Block()
    a, b = (block.append(Node("A", name, [F32])) for name in "ab")
    user = block.append(Node("User", "u"))
    user.operands = (a.results[0], b.results[0], a.results[0])
    user.controls = (a.control,)
    assert list(a.results[0].users) == [user, user]
    a.results[0].replace_all_uses_with(b.results[0])
    assert user.operands == (b.results[0],) * 3
    assert not a.results[0].users
    with pytest.raises(ValueError, match="cannot be erased while it is used"):
        a.erase()
    user.controls = ()
    a.erase()
    assert [node.name for node in block] == ["b", "u"]
    c = Node("C", "c", [F32])
    block.insert_before(user, c)
    b.replace_with(c)
    assert [list(v.users) for v in (*b.results, *c.results)] == [[], [user] * 3]
    user.set_operand(1, b.results[0])
    user.erase()
    assert not b.used and not c.used and len(block) == 2


def test_walk_visits_regions() -> None:
    module = parse_module(REGIONS)
    ops = [node.op for node in module.functions["regions"].body.walk()]
    assert ops[:4] == ["IfRegion", "Neg", "yield", "yield"]
    assert len(ops) == 14


def test_compatible_types() -> None:
    resource = ElementType("resource", (TensorType(ElementType("f32"), (2,)),))
    assert compatible(TensorType(resource), TensorType(ElementType("resource"), (1,)))
    assert compatible(TensorType(ElementType("f32"), (2, -1)), TensorType(ElementType("f32"), (-1, 3)))
    assert not compatible(TensorType(ElementType("f32"), (2,)), TensorType(ElementType("f32"), (3,)))
    assert not compatible(F32, TensorType(ElementType("i32")))


def test_op_definitions() -> None:
    defs = op_defs()
    conv = defs.find("Conv2D")
    assert conv is not None and [a.name for a in conv.input_arg] == ["input", "filter"]
    assert len(defs.names()) > 1900
    assert defs.find("NoSuchOp") is None
    own = OpDefs(packed(OpList(op=[OpDef(name=f"Op{i:03}") for i in range(70)])))
    assert own.find("Op069") == OpDef(name="Op069")


WRONG = [
    ("%a = Op : () -> (tensor<f32>)", "operation defines 2 results but was provided 1 to bind"),
    ("%a, %c = Op(%b) : (tensor<f32>) -> (tensor<f32>)", "use of undeclared SSA value name '%b'"),
    ("%a, %c = Op(%a) : () -> (tensor<f32>)", "got 1 non-control operands, but the type defines 0 input"),
    ("%a, %c = Op(%a) : (tensor<i32>) -> (tensor<f32>)", "expects different type than prior uses"),
    ("%c = Op\n %c = Op", "line 3: redefinition of SSA value '%c'"),
    ("%c = Op [%c#1]", "reference to invalid result number 1"),
    ("%c = Op {a = #tf_type.func<nope, {}>}", "expected symbol while parsing tf.func attribute"),
    ('%c = Op {a = #tf_type.func<"n", {}>}', "expected empty string or symbol"),
    ("%c = Op {a = #tf_type.func<@f, 1>}", "expected Dictionary attribute"),
    ("%c = Op {a = #tf_type.placeholder<T>}", "expected string while parsing tf.placeholder attribute"),
    ("%c = Op {a = #tf_type.shape<ax2>}", "expected an integer or `?` when parsing a tf.shape attribute"),
    ("%c = Op {a = dense<[1, 2]> : tensor<3xi32>}", "elements literal has 2 elements, its type has 3"),
    ("%c = Op {a = dense<300> : tensor<i8>}", "elements do not fit into i8"),
    ("%c = Op {a = 1, a = 2}", "duplicate key 'a' in dictionary attribute"),
    ("%c = Op {a = !tf_type.nope}", "unknown tf_type `nope`"),
    ("return", "may not stand in a graph"),
]


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_wrong_texts(body: str, message: str) -> None:
    text = f"tfg.graph #tf_type.version<producer = 1, min_consumer = 0> {{\n {body}\n}}"
    with pytest.raises(ModelError) as caught:
        verify(parse_module(text))
    assert message in str(caught.value)
    assert str(caught.value).startswith("line ")


def test_export_refuses_what_graph_def_cannot_say() -> None:
    with pytest.raises(UnsupportedError, match="GraphDef has no regions"):
        export_graph_def(parse_module(REGIONS))
    with pytest.raises(ModelError, match=r"two different tfg\.graph"):
        export_graph_def(parse_module(LOOP + LOOP))
    nodes = "%c = Op {a = [[1]]}"
    with pytest.raises(UnsupportedError, match="GraphDef has no form"):
        export_graph_def(parse_module(LOOP.replace("%ctl_3 =", f"{nodes}\n %ctl_3 =")))


ODD_NAMES = [
    "a b",
    'quote"',
    "back\\slash",
    "line\nbreak",
    "ümlaut",
    "tfg.Op",
    "Addons>Gelu",
    "7",
    "a.ctl",
    "%x",
]


def test_odd_names_survive_the_text() -> None:
    graph = GraphDef()
    for name in ODD_NAMES:
        node = graph.node.add(name=name, op=name, device=name, input=["7:1", "^a b"])
        node.attr[name].s = name.encode()
        node.attr["f"].func.name = name
    function = graph.library.function.add()
    function.signature.name = 'odd "name"'
    for name in [*ODD_NAMES, "a", "a.ctl.ctl"]:
        function.signature.input_arg.add(name=name, type=graph_def.DT_FLOAT)
        function.signature.control_output.append(name)
        function.control_ret[name] = name
    for generic in (False, True):
        text = print_module(import_graph_def(graph, ImportOptions(check_nodes=False)), generic=generic)
        assert normal_form(export_graph_def(parse_module(text))) == normal_form(graph)


@pytest.mark.parametrize("op", ["return", "get_result", "IfRegion"])
def test_ops_may_not_have_names_of_the_text_form(op: str) -> None:
    graph = GraphDef()
    graph.node.add(name="n", op=op)
    with pytest.raises(ModelError, match="no op may have this name"):
        import_graph_def(graph)


def test_a_function_with_an_unknown_op_keeps_the_names_of_its_outputs() -> None:
    graph = GraphDef()
    function = graph.library.function.add()
    function.signature.name = "F"
    function.signature.input_arg.add(name="x", type=graph_def.DT_FLOAT)
    function.signature.input_arg.add(name="more", type_list_attr="Ts")
    function.signature.output_arg.add(name="y", type=graph_def.DT_FLOAT)
    attr = function.signature.attr.add(name="Ts", type="list(type)", has_minimum=True, minimum=1)
    attr.default_value.list.type.append(graph_def.DT_INT32)
    function.node_def.add(name="n", op="Unknown", input=["x", "m:left:1", "^m"])
    function.node_def.add(name="m", op="Unknown", input=["x"])
    function.ret["y"] = "n:right:0"
    module = import_graph_def(graph)
    assert module.functions["F"].generic
    assert normal_form(export_graph_def(parse_module(print_module(module)))) == normal_form(graph)
    with pytest.raises(UnsupportedError, match="Converting DataType 'DT_INVALID'"):
        import_graph_def(graph, ImportOptions(allow_unknown_ops=False))
