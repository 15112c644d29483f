"""Transforms of the graph IR on small graphs, and on large ones."""

from __future__ import annotations

import json

import pytest
from google.protobuf import text_format
from numlite.converter.ir import (
    Module,
    import_graph_def,
    parse_module,
    print_module,
    read_graph,
    verify,
)
from numlite.converter.ir.types import TensorType
from numlite.converter.transforms import TRANSFORMS, transform
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import graph_def
from numlite.schema.graph_def import GraphDef

from .file_check import file_check
from .ir_texts import LOOP, REGIONS
from .shared_files import SHARED

HEAD = "tfg.graph #tf_type.version<producer = 1, min_consumer = 1>"


def after(text: str, *names: str, **options: object) -> str:
    """The text after the transforms, the last of which has the options."""
    module = parse_module(text)
    verify(module)
    for name in names:
        transform(name).run(module, **(options if name == names[-1] else {}))
        verify(module)
    return print_module(module)


def test_names_are_unique_and_every_transform_says_what_it_does() -> None:
    names = [known.name for known in TRANSFORMS]
    assert len(names) == len(set(names))
    with pytest.raises(KeyError):
        transform("tfg-nonsense")


def test_a_loop_is_sorted_but_for_its_back_edge() -> None:
    printed = after(LOOP, "tfg-toposort")
    assert [printed.index(f'"{n}"') for n in ("start", "enter", "merge", "next", "end")] == sorted(
        printed.index(f'"{n}"') for n in ("start", "enter", "merge", "next", "end")
    )


def test_a_cycle_that_is_no_loop_is_cut_at_its_first_node() -> None:
    text = f"""{HEAD} {{
      %A, %ctl = A(%B) name("a") : (tensor<*xi32>) -> (tensor<*xi32>)
      %B, %ctl_0 = B(%A) name("b") : (tensor<*xi32>) -> (tensor<*xi32>)
      %C, %ctl_1 = C(%D) name("c") : (tensor<*xi32>) -> (tensor<*xi32>)
      %D, %ctl_2 = D name("d") : () -> (tensor<*xi32>)
    }}"""
    file_check(after(text, "tfg-toposort"), 'CHECK: "d"\nCHECK: "c"\nCHECK: "a"\nCHECK: "b"')


def test_shapes_go_around_a_loop() -> None:
    text = f"""{HEAD} {{
      %c, %ctl = Const name("c") {{dtype = f32, value = dense<1.0> : tensor<2x3xf32>}} : () -> (tensor<*xf32>)
      %e, %ctl_0 = Enter(%c) name("enter") {{T = f32, frame_name = "f"}} : (tensor<*xf32>) -> (tensor<*xf32>)
      %m:2, %ctl_1 = Merge(%e, %n) name("merge") {{N = 2 : i64, T = f32}}
        : (tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi32>)
      %y, %ctl_2 = BODY name("body") {{T = f32, N = 2 : i64}} : TYPES
      %a, %ctl_4 = Const name("axis") {{dtype = i32, value = dense<0> : tensor<i32>}} : () -> (tensor<i32>)
      %n, %ctl_3 = NextIteration(%y) name("next") {{T = f32}} : (tensor<*xf32>) -> (tensor<*xf32>)
    }}"""
    same = text.replace("BODY", "Neg(%m#0)").replace("TYPES", "(tensor<*xf32>) -> (tensor<*xf32>)")
    file_check(after(same, "tfg-shape-inference"), "CHECK: Neg{{.*}} -> (tensor<2x3xf32>)")
    types = "(tensor<*xf32>, tensor<*xf32>, tensor<i32>) -> (tensor<*xf32>)"
    grows = text.replace("BODY", "ConcatV2(%m#0, %m#0, %a)").replace("TYPES", types)
    file_check(after(grows, "tfg-shape-inference"), "CHECK: ConcatV2{{.*}} -> (tensor<?x3xf32>)")


def test_operands_that_do_not_fit_leave_the_types() -> None:
    text = f"""{HEAD} {{
      %c, %ctl = C name("c") : () -> (tensor<2xf32>, tensor<3xf32>)
      %y, %ctl_0 = Add(%c#0, %c#1) name("y") {{T = f32}} : (tensor<2xf32>, tensor<3xf32>) -> (tensor<*xf32>)
    }}"""
    text = text.replace("%c, %ctl", "%c:2, %ctl")
    file_check(after(text, "tfg-shape-inference"), 'CHECK: "y"{{.*}} -> (tensor<*xf32>)')


def test_shapes_come_out_of_calls_and_regions() -> None:
    text = """
    tfg.func @outer(%x: tensor<2x3xf32> {tfg.name = "x"}, %c: tensor<i1> {tfg.name = "c"})
        -> (tensor<*xf32>) {
      %p, %ctl = PartitionedCall(%x) name("p") {Tin = [f32], Tout = [f32], f = #tf_type.func<@inner, {}>}
        : (tensor<2x3xf32>) -> (tensor<*xf32>)
      %r, %ctl_0 = IfRegion %c then {
        yield(%x) : tensor<2x3xf32>
      } else {
        %t, %ctl_1 = Neg(%p) name("t") {T = f32} : (tensor<*xf32>) -> (tensor<*xf32>)
        yield(%t) : tensor<*xf32>
      } {_mlir_name = "r"} : (tensor<i1>) -> (tensor<*xf32>)
      %n, %ctl_2 = Neg(%r) name("n") {T = f32} : (tensor<*xf32>) -> (tensor<*xf32>)
      return(%n) : tensor<*xf32>
    }
    tfg.func @inner(%y: tensor<*xf32> {tfg.name = "y"}) -> (tensor<*xf32>) {
      %k, %ctl = Const name("k") {dtype = f32, value = dense<1.0> : tensor<2x4xf32>} : () -> (tensor<*xf32>)
      return(%k) : tensor<*xf32>
    }"""
    printed = after(text, "tfg-shape-inference")
    file_check(
        printed, "CHECK: PartitionedCall{{.*}} -> (tensor<2x4xf32>)\nCHECK: Neg{{.*}} -> (tensor<2x4xf32>)"
    )
    file_check(
        printed, 'CHECK: Neg{{.*}} name("n"){{.*}} -> (tensor<2x?xf32>)\nCHECK: return{{.*}} tensor<2x?xf32>'
    )


MERGED = f"""{HEAD} {{
  %x, %ctl = Placeholder name("x") {{dtype = f32}} : () -> (tensor<*xf32>)
  %x_0, %ctl_0 = Placeholder name("x0") {{dtype = f32}} : () -> (tensor<*xf32>)
  %a, %ctl_1 = Neg(%x) name("a") {{T = f32}} : (tensor<*xf32>) -> (tensor<*xf32>)
  %b, %ctl_2 = Neg(%x) name("b") {{T = f32}} : (tensor<*xf32>) -> (tensor<*xf32>)
  %d, %ctl_3 = Neg(%x) device("/gpu:0") name("d") {{T = f32}} : (tensor<*xf32>) -> (tensor<*xf32>)
  %e, %ctl_4 = Neg(%x) [%ctl_0] name("e") {{T = f32}} : (tensor<*xf32>) -> (tensor<*xf32>)
  %r, %ctl_5 = RandomUniform(%s) name("r1") {{T = i32, dtype = f32}} : (tensor<1xi32>) -> (tensor<*xf32>)
  %t, %ctl_6 = RandomUniform(%s) name("r2") {{T = i32, dtype = f32}} : (tensor<1xi32>) -> (tensor<*xf32>)
  %s, %ctl_7 = Const name("s") {{dtype = i32, value = dense<2> : tensor<1xi32>}} : () -> (tensor<1xi32>)
  %z, %ctl_8 = Const name("z") {{dtype = f32, value = dense<0.0> : tensor<f32>}} : () -> (tensor<f32>)
  %w, %ctl_9 = Const name("w") {{dtype = f32, value = dense<-0.0> : tensor<f32>}} : () -> (tensor<f32>)
  %y, %ctl_10 = Sub(%a, %b) name("y") {{T = f32}} : (tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>)
}}"""


def test_what_is_merged_and_what_is_not() -> None:
    printed = after(MERGED, "tfg-cse")
    assert '"b"' not in printed
    for name in ("x", "x0", "a", "d", "e", "r1", "r2", "z", "w"):
        assert f'name("{name}")' in printed


def test_names_of_a_thousand_nodes_differ() -> None:
    nodes = "\n".join(f'%ctl_{i} = NoOp name("node{i}") {{_class = ["loc:@node0"]}}' for i in range(5000))
    printed = after(f"{HEAD} {{ {nodes} }}", "tfg-name-compress")
    module = parse_module(printed)
    assert module.graph is not None
    names = [node.name for node in module.graph.body]
    assert len(set(names)) == 5000
    assert names[:2] == ["A", "B"]
    assert printed.count('_class = ["loc:@A"]') == 5000


def test_regions_go_to_functions_and_back() -> None:
    text = REGIONS.replace("then_attrs = {a = 1}", "then_attrs = {}")
    functional = after(text, "tfg-region-to-functional")
    assert "Region" not in functional
    again = after(functional, "tfg-functional-to-region")
    assert after(again, "tfg-region-to-functional") == functional


RECURSIVE = """
tfg.func @f(%c: tensor<i1> {tfg.name = "c"}, %x: tensor<f32> {tfg.name = "x"})
    -> (tensor<f32> {tfg.name = "y"}) {
  %If, %ctl = If(%c, %c, %x) name("if")
    {then_branch = #tf_type.func<@f, {}>, else_branch = #tf_type.func<@f, {}>}
    : (tensor<i1>, tensor<i1>, tensor<f32>) -> (tensor<f32>)
  return(%If) : tensor<f32>
}
"""


def test_a_function_that_calls_itself_stays_a_function() -> None:
    assert "IfRegion" not in after(RECURSIVE, "tfg-functional-to-region")


def test_functions_that_would_double_without_end_are_refused() -> None:
    call = (
        '%If{i}{k}, %ctl{k} = If(%c, %c) name("i{k}") {{then_branch = #tf_type.func<@f{j}, {{}}>, '
        "else_branch = #tf_type.func<@f{j}, {{}}>}} : (tensor<i1>, tensor<i1>) -> (tensor<i1>)"
    )
    functions = []
    for i in range(30):
        calls = "\n".join(call.format(i=i, j=i + 1, k=k) for k in "ab")
        functions.append(
            f"tfg.func @f{i}(%c: tensor<i1>) -> (tensor<i1>) {{ {calls} return(%If{i}a) : tensor<i1> }}"
        )
    functions.append("tfg.func @f30(%c: tensor<i1>) -> (tensor<i1>) { return(%c) : tensor<i1> }")
    with pytest.raises(UnsupportedError, match="keep the functions"):
        after("\n".join(functions), "tfg-functional-to-region")


def test_lifting_names_what_is_missing() -> None:
    with pytest.raises(ModelError, match="no node 'nope'"):
        after(MERGED, "tfg-lift-graph-to-func", feeds=("nope",))
    with pytest.raises(ModelError, match="must have a graph"):
        after(RECURSIVE, "tfg-lift-graph-to-func")


def test_control_inputs_of_a_fed_node_come_back() -> None:
    text = f"""{HEAD} {{
      %x, %ctl = Placeholder name("x") {{dtype = f32}} : () -> (tensor<*xf32>)
      %y, %ctl_0 = Neg(%x) [%ctl] name("y") {{T = f32}} : (tensor<*xf32>) -> (tensor<*xf32>)
    }}"""
    module = parse_module(text)
    before = print_module(module)
    transform("tfg-lift-graph-to-func").run(module, feeds=("x",), fetches=("y",), control_rets=("y",))
    verify(module)
    assert "[%x_0.ctl]" in print_module(module)
    transform("tfg-lower-func-to-graph").run(module)
    assert print_module(module) == before


GRAPHS = SHARED / "convert/graphs"


@pytest.mark.skipif(not GRAPHS.is_dir(), reason="needs ../shared/convert/graphs")
def test_inferred_shapes_of_graphs_are_tensorflows() -> None:
    """Every output's shape agrees with TensorFlow's result; nearly all are known without running."""
    known = outputs = 0
    for entry in json.loads((GRAPHS / "index.json").read_text(encoding="utf-8")):
        module = import_graph_def(read_graph(GRAPHS / entry["graph"]))
        transform("tfg-shape-inference").run(module)
        assert module.graph is not None
        nodes = {node.name: node for node in module.graph.body}
        for output in entry["outputs"]:
            name, _, index = output["name"].partition(":")
            type = nodes[name].results[int(index or 0)].type
            assert isinstance(type, TensorType)
            outputs += 1
            if type.shape is None:
                continue
            assert len(type.shape) == len(output["shape"]), entry["name"]
            assert all(a in (-1, b) for a, b in zip(type.shape, output["shape"], strict=True)), entry["name"]
            known += -1 not in type.shape
    assert outputs == 1185
    assert known >= 1080


def large_module(count: int) -> Module:
    """A module of as many nodes, most of them in one graph, some in functions that it calls."""
    graph = GraphDef()
    graph.versions.producer = 1
    graph.node.add(name="x", op="Placeholder").attr["dtype"].type = graph_def.DT_FLOAT
    names = ["x"]
    for i in range(1, count - 1000):
        op = ("AddV2", "Mul", "Sub", "Maximum")[i % 4]
        node = graph.node.add(name=f"n{i}", op=op, input=[names[i // 2], names[i - 1], f"^{names[i // 3]}"])
        node.attr["T"].type = graph_def.DT_FLOAT
        names.append(node.name)
    text = CALLED.format(count=count)
    text_format.Merge(text, graph)
    for i in range(1000):
        node = graph.node.add()
        text_format.Merge(CALL, node)
        node.name, node.input[0], node.input[1] = f"call{i}", "cond", names[i % len(names)]
    return import_graph_def(graph)


CALLED = """
node {{ name: "cond" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_BOOL }} }} }}
library {{ function {{
  signature {{ name: "f" input_arg {{ name: "a" type: DT_FLOAT }} output_arg {{ name: "r" type: DT_FLOAT }} }}
  node_def {{ name: "neg" op: "Neg" input: "a" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}
  ret {{ key: "r" value: "neg:y:0" }}
}} }}
"""
CALL = """
op: "StatelessIf" input: "" input: ""
attr { key: "Tcond" value { type: DT_BOOL } }
attr { key: "Tin" value { list { type: DT_FLOAT } } }
attr { key: "Tout" value { list { type: DT_FLOAT } } }
attr { key: "then_branch" value { func { name: "f" } } }
attr { key: "else_branch" value { func { name: "f" } } }
"""
ALL = [known.name for known in TRANSFORMS]


@pytest.mark.parametrize("name", ALL)
def test_each_transform_leaves_a_large_graph_correct(name: str) -> None:
    module = large_module(1500)
    transform(name).run(module)
    verify(module)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_each_transform_goes_through_20_000_nodes(name: str) -> None:
    module = large_module(20_000)
    if name == "tfg-region-to-functional":
        transform("tfg-functional-to-region").run(module)
    transform(name).run(module)
    verify(module)
