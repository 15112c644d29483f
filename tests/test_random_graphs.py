"""The generator of random graphs, with an oracle that needs no TensorFlow; see random_graphs.py."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numlite.converter import convert, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import AttrValue, GraphDef

from . import random_graphs
from .random_graphs import kind_of, trial_of
from .random_ops.draw import Draw
from .random_ops.litert_process import LiteRT
from .random_tf.known import KNOWN, why_known
from .random_tf.nodes import Recorded, node_trial, ops
from .random_tf.programs import FAMILIES
from .random_tf.tensorflow_process import Refused, TensorFlow
from .random_tf.trial import Trial, differences
from .random_tf.ways import compared
from .shared_arrays import difference

FOLDER = Path(__file__).with_name("random_tf")
needs_cases = pytest.mark.skipif(not ops(), reason="../shared/convert/kernels is not there")
needs_litert = pytest.mark.skipif(
    find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed"
)


class StandIn:
    """Computes what TensorFlow would, a little off where `error` says so; converts nothing else."""

    def __init__(self, error: float = 0.0, converts: bool = True, perturbed: float = 0.0) -> None:
        self.error = error
        self.converts = converts
        self.perturbed = perturbed

    def run(self, graph: bytes, feeds: dict[str, np.ndarray], fetches: Sequence[str]) -> list[np.ndarray]:
        try:
            found = run_graph(graph, feeds, list(fetches))
        except UnsupportedError as error:
            raise Refused(str(error)) from error
        return [y + np.asarray(self.error, y.dtype) for y in found]

    def run_perturbed(
        self, graph: bytes, feeds: dict[str, np.ndarray], fetches: Sequence[str]
    ) -> list[np.ndarray]:
        return [y + np.asarray(self.perturbed, y.dtype) for y in self.run(graph, feeds, fetches)]

    def convert(self, graph: bytes, inputs: Sequence[str], outputs: Sequence[str], flex: bool) -> bytes:
        if not self.converts:
            raise Refused("no form")
        return convert(graph, list(inputs), list(outputs)).model


def graph(op: str = "Softplus") -> GraphDef:
    g = GraphBuilder()
    g.node(op, "y", g.placeholder("x", [-1, 3]))
    return g.graph_def


def trial(op: str = "Softplus") -> Trial:
    arrays = tuple((np.linspace(-1, 1, 3 * n, dtype=np.float32).reshape(n, 3),) for n in (2, 4, 1))
    return Trial(graph(op).SerializeToString(), ("x:0",), ((None, 3),), ("y:0",), arrays, "told")


def recorded() -> Recorded:
    node = next(node for node in graph("LeakyRelu").node if node.op == "LeakyRelu")
    node.attr["alpha"].f, node.attr["T"].type = 0.25, 1
    return Recorded(node, [np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)], 0)


def test_a_number_is_always_the_same_case() -> None:
    first, second, other = (node_trial(Draw(number, 5), recorded()) for number in (7, 7, 8))
    assert first.graph == second.graph and first.told == second.told
    assert all(np.array_equal(a, b) for a, b in zip(first.runs[0], second.runs[0], strict=True))
    assert (first.graph, first.told) != (other.graph, other.told)


def test_cases_of_one_op_vary() -> None:
    trials = [node_trial(Draw(number, 5), recorded()) for number in range(60)]
    assert len({trial.graph for trial in trials}) > 20
    assert any("alpha" in trial.told for trial in trials) and any("sizes" in trial.told for trial in trials)
    assert {len(trial.runs) for trial in trials} == {1, 3}


@needs_cases
def test_half_of_the_cases_are_programs() -> None:
    kinds = [kind_of(number, None) for number in range(4000)]
    assert set(FAMILIES) < set(kinds) and len(set(kinds)) > 500
    assert kind_of(5, "Conv2D") == "Conv2D"


def test_families_are_those_of_the_process() -> None:
    """Their modules import TensorFlow, so they are read, not imported."""
    found: set[str] = set()
    for name in ("shapes", "loops", "layers", "texts"):
        tree = ast.parse((FOLDER / f"{name}.py").read_text())
        assignments = [node for node in tree.body if isinstance(node, ast.Assign)]
        [table] = [node.value for node in assignments if ast.unparse(node.targets[0]) == "FAMILIES"]
        found.update(map(ast.literal_eval, _keys(table)))
    assert found == set(FAMILIES)


def _keys(table: ast.expr) -> list[ast.expr]:
    assert isinstance(table, ast.Dict)
    nested = [v for k, v in zip(table.keys, table.values, strict=True) if k is None]
    return [k for k in table.keys if k is not None] + [k for v in nested for k in _keys(v)]


@needs_litert
def test_endings() -> None:
    litert = LiteRT()
    assert compared(trial(), StandIn(), litert) == "same"
    assert compared(trial(), StandIn(0.01), litert).startswith(
        "differs: run_graph, run 0: y:0: 6 of 6 differ"
    )
    undefined = compared(trial(), StandIn(0.01, perturbed=0.5), litert)
    assert undefined == "known: TensorFlow's results hang on what its memory held"
    assert compared(trial("Cumulative"), StandIn(), litert) == "refused"
    unconverted = compared(trial("Erfc"), StandIn(converts=False), litert)
    assert unconverted.startswith("no form: UnsupportedError: 1 node cannot be converted: Erfc")
    litert.stop()


def test_without_litert_neither_it_nor_the_converter_is_asked() -> None:
    class Runs(StandIn):
        def convert(self, *given: object) -> bytes:
            raise AssertionError("it was asked")

    assert compared(trial(), Runs(), None) == "same"
    assert compared(trial(), Runs(0.01), None).startswith("differs: run_graph, run 0")
    assert compared(trial("Erfc"), Runs(), None).startswith("no form: UnsupportedError")


def test_what_is_near() -> None:
    t = trial()
    y = np.float32([[1, np.nan, 100]])
    assert differences(t, [y], [y * np.float32(1 + 1e-5)]) == ""
    assert "1 of 3 differ" in differences(t, [y], [np.float32([[1, 2, 100]])])
    assert differences(t, [np.int32([1])], [np.int32([2])]) != ""
    assert "must be int64" in differences(t, [np.int32([1])], [np.int64([1])])
    assert differences(t, [], [y]) == "0 outputs, not 1"


def test_reasons_are_of_kinds() -> None:
    assert all(known.why and set(known.kinds) <= {*FAMILIES, *ops()} for known in KNOWN if ops())
    assert why_known("signals", "differs: LiteRT, run 1: IsPowerOfTwo was not true") is not None
    assert why_known("signals", "differs: numlite, run 1: y") is None


@pytest.mark.parametrize(("wanted", "is_known"), [(95, True), (50, False), (np.nan, False)])
def test_a_reason_bounds_how_far_results_are_apart(wanted: float, is_known: bool) -> None:
    y, other = np.float32([1, 100]), np.float32([1, wanted])
    ending = f"differs: run_graph, run 0: n:0: {difference(other, y, {})} | T=type: DT_BFLOAT16"
    assert (why_known("Conv2D", ending) is not None) == is_known


@needs_litert
@pytest.mark.parametrize(("error", "ending"), [(0, "known: floats out of"), (1, "differs: run_graph")])
def test_a_reason_is_looked_at_without_its_cause(
    error: int, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Casts differ of floats that no byte holds; those that bytes hold must be alike."""
    g = GraphBuilder()
    g.node("Cast", "n", g.placeholder("x", [3]), SrcT=AttrValue(type=1), DstT=AttrValue(type=6))
    given = (np.float32([3, -700, 3e9]),)
    t = Trial(g.graph_def.SerializeToString(), ("x:0",), ((3,),), ("n:0",), (given,), "told")
    text = "differs: numlite, run 0: n:0: 2 of 3 differ, at (1,): np.int8(0), not np.int8(9) | told"
    litert, oracle = LiteRT(), cast("TensorFlow", StandIn(error))
    monkeypatch.setattr(random_graphs, "trial_of", lambda *given: t)
    first = iter([text])
    monkeypatch.setattr(random_graphs, "compared", lambda *given: next(first, None) or compared(*given))
    assert random_graphs.attempt(oracle, litert, 0, "Cast").startswith(ending)
    litert.stop()


def test_a_python_without_tensorflow_is_told() -> None:
    """Never in silence: each trial would end well."""
    tensorflow = TensorFlow(Path(sys.executable).with_name("no-python"))
    with pytest.raises((Refused, FileNotFoundError)):
        trial_of(1, "scan", tensorflow)
    script = Path(__file__).with_name("random_graphs.py")
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env={"PATH": ""})
    assert result.returncode == 2 and "must name a Python that has TensorFlow" in result.stderr
