"""The check of what would not convert: graphs, functions, the reasons, and what would take each op."""

from __future__ import annotations

import warnings
from pathlib import Path

import numlite
import numpy as np
import pytest
from numlite.authoring import CompatibilityError, CompatibilityWarning, CompatibleFunction, compatible
from numlite.converter import Converter, OpsSet, TargetSpec, tensorflow_functions
from numlite.converter.conversion import Entry, entry_of, import_for_conversion
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import ModelError
from numlite.schema.graph_def import DT_DOUBLE, AttrValue

from .converter.functions import add_function, types
from .converter.graphs import sine_graph

SELECT = TargetSpec([OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS])
BY_SELECT = "target_spec.supported_ops with OpsSet.SELECT_TF_OPS (--select-tf-ops) would take it"
BY_CUSTOM = "allow_custom_ops (--allow-custom-ops) would take it"


def hard_graph() -> GraphBuilder:
    """A flex op, one that is in no list, a type behind them that no operator takes, and an unknown op."""
    g = GraphBuilder()
    x = g.placeholder("x", [2])
    x = g.node("Erfinv", "inverse", g.node("Erf", "e", x))
    x = g.node("Relu", "wide", g.node("Cast", "cast", x, DstT=AttrValue(type=DT_DOUBLE)))
    g.node("Frobnicate", "f", x, Tout=AttrValue(type=1))
    return g


def test_each_op_its_reason_and_its_setting() -> None:
    found = compatible(hard_graph().graph_def)
    assert not found
    assert found.log() == [
        f"Erf: there is no builtin operator for it (node 'e'); {BY_SELECT}",
        f"Erfinv: there is no builtin operator for it (node 'inverse'); {BY_CUSTOM}",
        f"Frobnicate: there is no builtin operator for it (node 'f'); {BY_CUSTOM}",
        f"Relu: MAXIMUM does not take float64 (node 'wide'); {BY_SELECT}",
    ]
    assert str(found) == "\n".join(found.log())
    assert [failure.name for failure in found.failures] == ["e", "inverse", "f", "wide"]


def test_nodes_of_functions_are_named_with_them() -> None:
    g, body = GraphBuilder(), GraphBuilder()
    body.node("Erfinv", "e", body.placeholder("a", [2]))
    f = add_function(g, "inner", body, ["e:y:0"])
    g.node("PartitionedCall", "call", g.placeholder("x", [2]), Tin=types(1), Tout=types(1), f=f)
    [failure] = compatible(g.graph_def).failures
    assert (failure.op, failure.scope) == ("Erfinv", "inner")
    [line] = compatible(g.graph_def).log()
    assert f"{failure.name!r} of function 'inner'" in line


def test_settings_take_ops() -> None:
    graph_def = hard_graph().graph_def
    selected = compatible(graph_def, converter_target_spec=SELECT)
    assert [failure.op for failure in selected.failures] == ["Erfinv", "Frobnicate"]
    converter = Converter.from_graph_def(graph_def, output_arrays=["wide"])
    assert not compatible(converter, SELECT)
    assert compatible(converter, SELECT, converter_allow_custom_ops=True)
    # The converter's own settings are as they were, and they count where none are given.
    assert converter.target_spec != SELECT and not converter.allow_custom_ops
    converter.allow_custom_ops = True
    assert compatible(converter)


def test_the_check_changes_nothing() -> None:
    converter = Converter.from_graph_def(sine_graph().graph_def)
    assert compatible(converter) and str(compatible(converter)) == "all ops convert"
    assert converter.convert() == Converter.from_graph_def(sine_graph().graph_def).convert()


def test_what_a_pass_takes_in_is_no_failure() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [2])
    e = g.node("Erf", "e", g.node("Mul", "m", x, g.constant("r", np.float32(0.70710678))))
    one = g.node("AddV2", "a", e, g.constant("one", np.float32(1)))
    g.node("Mul", "h", g.node("Mul", "y", x, one), g.constant("half", np.float32(0.5)))
    assert compatible(g.graph_def)


def test_files_and_serialized_graphs(tmp_path: Path) -> None:
    graph_def = hard_graph().graph_def
    path = tmp_path / "graph.pb"
    path.write_bytes(graph_def.SerializeToString())
    logs = [compatible(target).log() for target in (graph_def, path, str(path), path.read_bytes())]
    assert logs[0] and logs == [logs[0]] * 4


def test_errors() -> None:
    with pytest.raises(CompatibilityError, match="Frobnicate: there is no builtin operator for it"):
        compatible(hard_graph().graph_def, raise_exception=True)
    assert compatible(sine_graph().graph_def, raise_exception=True)
    with pytest.raises(ModelError, match="not a GraphDef"):
        compatible(b"\xff\xff")
    for wrong in (3, len):
        with pytest.raises(TypeError, match=r"target must be a tf\.function or a graph, got"):
            compatible(wrong)
    with pytest.raises(TypeError, match=r"target must be a tf\.function or a graph, got"):
        compatible()(len)


class Traced:
    """Stands for a tf.function of a graph."""

    def __init__(self, graph: GraphBuilder) -> None:
        self.structured_outputs = None
        self.graph_builder = graph

    def __call__(self, x: float) -> float:
        return 2 * x

    def get_concrete_function(self, x: float) -> object:
        concrete = Concrete()
        concrete.graph_builder = self.graph_builder
        return concrete


class Concrete:
    """Stands for a concrete function of a graph."""

    structured_outputs = None
    graph_builder: GraphBuilder


@pytest.fixture(autouse=True)
def functions_without_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    def entries(functions: list[Concrete], owner: object) -> list[Entry]:
        return [entry_of(import_for_conversion(f.graph_builder.graph_def)) for f in functions]

    monkeypatch.setattr(tensorflow_functions, "function_entries", entries)


def test_functions_warn_once_and_are_called() -> None:
    function = compatible(Traced(hard_graph()))
    assert isinstance(function, CompatibleFunction)
    with pytest.raises(RuntimeError, match="must have been called"):
        function.get_compatibility_log()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert function(4) == 8
    assert {warning.category for warning in caught} == {CompatibilityWarning}
    assert len(caught) == len(function.get_compatibility_log()) == 4
    assert {Path(warning.filename).name for warning in caught} == {Path(__file__).name}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function(5) == 10
        assert compatible(Traced(sine_graph()))(1) == 2
    assert compatible(function.get_concrete_function(1)).log() == function.get_compatibility_log()


def test_decorator_with_arguments() -> None:
    refused = compatible(raise_exception=True)(Traced(hard_graph()))
    for _ in range(2):
        with pytest.raises(CompatibilityError, match="Erfinv"):
            refused(1)
    assert len(refused.get_compatibility_log()) == 4
    spared = compatible(converter_target_spec=SELECT)(Traced(hard_graph()))
    with pytest.warns(CompatibilityWarning):
        spared(1)
    assert [line.split(":")[0] for line in spared.get_compatibility_log()] == ["Erfinv", "Frobnicate"]


def test_it_is_a_part_of_the_package() -> None:
    assert numlite.authoring.compatible is compatible
