"""Constant folding: single rules on small graphs, and graphs that compute the same afterwards."""

from __future__ import annotations

import json

import numpy as np
import pytest
from google.protobuf import text_format
from numlite.converter import run_graph
from numlite.converter.ir import (
    export_graph_def,
    import_graph_def,
    parse_module,
    print_module,
    read_graph,
    verify,
)
from numlite.converter.transforms import transform
from numlite.converter.transforms.constant_folding import fold_constants
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import GraphDef

from .file_check import file_check
from .test_transforms import GRAPHS


def folded(body: str, **options: object) -> str:
    """The text of a function of x: 2x2 and n: 2x2 integers after folding."""
    text = f"""tfg.func @f(%x: tensor<2x2xf32> {{tfg.name = "x"}}, %n: tensor<2x2xi32> {{tfg.name = "n"}}) {{
      {body}
      return
    }}"""
    module = parse_module(text)
    verify(module)
    transform("tfg-constant-folding").run(module, **options)
    verify(module)
    return print_module(module)


def const(name: str, value: str, type: str = "tensor<f32>") -> str:
    element = type.removesuffix(">").rpartition("x")[2].removeprefix("tensor<")
    attributes = f"{{dtype = {element}, value = dense<{value}> : {type}}}"
    return f'%{name}, %c{name} = Const name("{name}") {attributes} : () -> ({type})'


def pair(name: str, op: str, a: str, b: str, type: str = "tensor<2x2xf32>") -> str:
    element = type.removesuffix(">").rpartition("x")[2]
    types = {"x": "tensor<2x2xf32>", "n": "tensor<2x2xi32>"}
    sides = ", ".join(types.get(v, type if v.startswith("t") else f"tensor<{element}>") for v in (a, b))
    return f'%{name}, %c{name} = {op}(%{a}, %{b}) name("{name}") {{T = {element}}} : ({sides}) -> ({type})'


# Child and parent with constants a = 8 and b = 2; the op and operands of the parent, and the new constant.
CHAINS = [
    ("Add", "x", "a", "Add", "t", "b", "Add(%Const_", 10),
    ("Add", "a", "x", "Add", "b", "t", "Add(%x, %Const_", 10),
    ("Sub", "x", "a", "Add", "t", "b", "Add(%x, ", -6),
    ("Sub", "a", "x", "Add", "t", "b", "Sub(%Const_", 10),
    ("Add", "x", "a", "Sub", "t", "b", "Add(%x, ", 6),
    ("Add", "x", "a", "Sub", "b", "t", "Sub(%Const_", -6),
    ("Sub", "x", "a", "Sub", "t", "b", "Sub(%x, ", 10),
    ("Sub", "a", "x", "Sub", "t", "b", "Sub(%Const_", 6),
    ("Sub", "x", "a", "Sub", "b", "t", "Sub(%Const_", 10),
    ("Sub", "a", "x", "Sub", "b", "t", "AddV2(%x, ", -6),
    ("Mul", "x", "a", "Mul", "t", "b", "Mul(", 16),
    ("RealDiv", "x", "a", "Mul", "t", "b", "Mul(%x, ", 0.25),
    ("RealDiv", "a", "x", "Mul", "t", "b", "RealDiv(%Const_", 16),
    ("Mul", "x", "a", "RealDiv", "b", "t", "RealDiv(%Const_", 0.25),
    ("RealDiv", "x", "a", "RealDiv", "b", "t", "RealDiv(%Const_", 16),
    ("RealDiv", "a", "x", "RealDiv", "b", "t", "Mul(%x, ", 0.25),
]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: f"{c[0]}-{c[1]}{c[2]}-{c[3]}-{c[4]}{c[5]}")
def test_constants_of_a_chain_come_together(chain: tuple[str, str, str, str, str, str, str, float]) -> None:
    op, p, q, outer, r, s, parent, number = chain
    body = [const("a", "8.0"), const("b", "2.0"), pair("t", op, p, q), pair("y", outer, r, s)]
    printed = folded("\n".join(body))
    y = next(line for line in printed.split("\n") if 'name("y")' in line)
    assert parent in y, printed
    t = next(line for line in printed.split("\n") if 'name("t")' in line)
    assert f"value = dense<{number:e}" in t, printed


def test_integers_are_not_divided_together() -> None:
    i32 = "tensor<2x2xi32>"
    lines = [const("a", "8", "tensor<i32>"), const("b", "2", "tensor<i32>")]
    printed = folded("\n".join([*lines, pair("t", "Div", "n", "a", i32), pair("y", "Mul", "t", "b", i32)]))
    file_check(printed, 'CHECK: Div{{.*}} name("t")\nCHECK: Mul{{.*}} name("y")')


def test_a_child_that_others_use_stays() -> None:
    body = [const("a", "8.0"), const("b", "2.0"), pair("t", "Add", "x", "a"), pair("y", "Add", "t", "b")]
    printed = folded("\n".join([*body, pair("z", "Mul", "t", "x")]))
    file_check(printed, 'CHECK: Add(%x{{.*}} name("t")\nCHECK: Add({{.*}} name("y")')


def test_large_results_and_failures_stay() -> None:
    size = const("s", "[400, 400]", "tensor<2xi32>")
    fill = '%z, %cz = RandomUniform(%s) name("z") {T = i32, dtype = f32} : (tensor<2xi32>) -> (tensor<*xf32>)'
    file_check(folded(size + "\n" + fill), 'CHECK: RandomUniform{{.*}} name("z")')
    tile = '%z, %cz = Tile(%a, %s) name("z") {T = f32, Tmultiples = i32}'
    tile += " : (tensor<1x1xf32>, tensor<2xi32>) -> (tensor<*xf32>)"
    one = const("a", "1.0", "tensor<1x1xf32>")
    file_check(folded("\n".join([size, one, tile])), 'CHECK: Tile{{.*}} name("z")')
    wrong = '%z, %cz = Reshape(%s, %s) name("z") {T = i32, Tshape = i32}'
    wrong += " : (tensor<2xi32>, tensor<2xi32>) -> (tensor<*xi32>)"
    file_check(folded(size + "\n" + wrong), 'CHECK: Reshape{{.*}} name("z")')


def test_categories() -> None:
    product = '%k, %ck = Mul(%a, %a) name("k") {T = f32} : (tensor<f32>, tensor<f32>) -> (tensor<f32>)'
    body = "\n".join([const("a", "8.0"), const("o", "0.0"), pair("y", "Add", "x", "o"), product])
    computed, simplified = (folded(body, pattern_category=category) for category in (1, 2))
    assert "Snapshot" not in computed
    assert "Mul(" not in computed
    assert "Snapshot" in simplified
    assert "Mul(" in simplified


FOLDING = ("tfg-shape-inference", "tfg-constant-folding")
# Everything that a graph may go through on its way to a GraphDef.
ALL = (
    *("tfg-consolidate-attrs", "tfg-functional-to-region", "tfg-shape-inference"),
    *("tfg-eliminate-passthrough-iter-args", "tfg-cse", "tfg-cf-sink", "tfg-region-to-functional"),
    *("tfg-dedupe-hoist-constant", "tfg-constant-folding", "tfg-remapper", "tfg-toposort"),
    *("tfg-strip-default-attrs", "tfg-prepare-attrs-export"),
)


def chosen_graphs() -> list[dict[str, str]]:
    """All graphs with control flow, and every tenth of the others, if they are not large."""
    if not GRAPHS.is_dir():
        return []
    entries = json.loads((GRAPHS / "index.json").read_text(encoding="utf-8"))
    few = [entry for i, entry in enumerate(entries) if i % 10 == 0 or entry["kind"].endswith("_cf")]
    return [entry for entry in few if (GRAPHS / entry["graph"]).stat().st_size < 100_000]


@pytest.mark.skipif(not GRAPHS.is_dir(), reason="needs ../shared/convert/graphs")
@pytest.mark.parametrize("pipeline", [FOLDING, ALL], ids=["folding", "all"])
def test_transformed_graphs_compute_the_same(pipeline: tuple[str, ...]) -> None:
    """Folding may use other sums, so real numbers are close, all others equal."""
    assert sum(_same_results(entry, pipeline) for entry in chosen_graphs()) > 80


def _same_results(entry: dict[str, str], pipeline: tuple[str, ...]) -> bool:
    """Whether the results could be compared: there are kernels, and numbers to feed."""
    graph = read_graph(GRAPHS / entry["graph"])
    described = json.loads((GRAPHS / f"{entry['name']}.json").read_text(encoding="utf-8"))
    if any(tensor["enc"] != "raw" for tensor in described["inputs"]):
        return False
    with np.load(GRAPHS / described["inputs_file"]) as arrays:
        feeds = {tensor["name"]: arrays[tensor["key"]] for tensor in described["inputs"]}
    fetches = [tensor["name"] for tensor in described["outputs"]]
    try:
        expected = run_graph(graph, feeds, fetches)
    except UnsupportedError:
        return False
    module = import_graph_def(graph)
    for name in pipeline:
        transform(name).run(module)
        verify(module)
    found = run_graph(export_graph_def(module), feeds, fetches)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype, entry["name"]
        if a.dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=entry["name"])
        else:
            np.testing.assert_array_equal(a, b, err_msg=entry["name"])
    return True


def test_what_unknown_ops_give_is_left_alone() -> None:
    text = """
    node { name: "x" op: "Frobnicate" }
    node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value {
        tensor { dtype: DT_FLOAT tensor_shape { } float_val: 0 } } } }
    node { name: "y" op: "AddV2" input: "x" input: "zero" attr { key: "T" value { type: DT_FLOAT } } }
    """
    module = import_graph_def(text_format.Parse(text, GraphDef()))
    fold_constants(module)
    assert [node.op for node in module.graph.body] == ["Frobnicate", "Const", "AddV2"]
