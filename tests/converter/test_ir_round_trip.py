"""GraphDef to IR to text and back: the same graph comes out."""

from __future__ import annotations

import pytest
from numlite.converter.ir import (
    ImportOptions,
    Module,
    export_graph_def,
    import_graph_def,
    parse_module,
    print_module,
    read_graph,
    verify,
)
from numlite.converter.ir.import_options import TENSORFLOW
from numlite.converter.ir.signature import registered
from numlite.schema.graph_def import GraphDef, NodeDef, OpDef

from .graph_normal_form import normal_form
from .shared_files import GRAPHIR, TFG, graphir_entries, needs_graphir, needs_tfg, tfg_files

# As TensorFlow's importer, which reads constants of the wrong type, but adding nothing.
AS_IS = ImportOptions(check_nodes=False)


def through_text(module: Module, generic: bool = False) -> Module:
    verify(module)
    text = print_module(module, locations=True, generic=generic)
    read = parse_module(text)
    verify(read)
    assert print_module(read, locations=True, generic=generic) == text
    return read


@needs_tfg
@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
@pytest.mark.parametrize("file", tfg_files("roundtrip"))
def test_round_trip(file: str, generic: bool) -> None:
    graph = read_graph(TFG / file)
    module = import_graph_def(graph, AS_IS)
    assert normal_form(export_graph_def(module)) == normal_form(graph)
    assert normal_form(export_graph_def(through_text(module, generic))) == normal_form(graph)


@needs_tfg
@pytest.mark.parametrize("file", tfg_files("roundtrip"))
def test_round_trip_with_all_that_tensorflow_adds(file: str) -> None:
    graph = read_graph(TFG / file)
    module = through_text(import_graph_def(graph, TENSORFLOW))
    exported = without_added(export_graph_def(module), graph)
    assert normal_form(exported) == normal_form(graph)


@needs_graphir
@pytest.mark.parametrize("entry", graphir_entries(valid=True), ids=lambda entry: entry["name"])
def test_valid_graphs(entry: dict[str, str]) -> None:
    graph = read_graph(GRAPHIR / entry["file"])
    module = import_graph_def(graph)
    assert normal_form(export_graph_def(through_text(module))) == normal_form(graph)


def without_added(exported: GraphDef, original: GraphDef) -> GraphDef:
    """Without default attributes and full types that the original did not have."""
    _strip(exported.node, original.node, {})
    functions = {f.signature.name: f.signature for f in original.library.function}
    _strip(exported.node, original.node, functions)
    for function, before in zip(exported.library.function, original.library.function, strict=True):
        _strip(function.node_def, before.node_def, functions)
    return exported


def _strip(nodes: list[NodeDef], originals: list[NodeDef], functions: dict[str, OpDef]) -> None:
    for node, before in zip(nodes, originals, strict=True):
        if not before.HasField("experimental_type"):
            node.ClearField("experimental_type")
        signature = registered(node.op)
        defaults = set(signature.defaults if signature else {})
        defaults |= {a.name for a in functions[node.op].attr} if node.op in functions else set()
        for name in defaults - set(before.attr):
            if name in node.attr:
                del node.attr[name]
