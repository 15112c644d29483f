"""The plugin of docs/optimizers.md, as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from numlite.converter import run_graph
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import GraphDef

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "optimizers.md"
_NODE = 'node {{ name: "{name}" op: "{op}" {inputs} attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}'


def graph(*nodes: tuple[str, str, str]) -> GraphDef:
    places = "".join(
        f'node {{ name: "{name}" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} '
        'attr { key: "shape" value { shape { dim { size: 3 } } } } }'
        for name in "xy"
    )
    text = [
        _NODE.format(name=name, op=op, inputs=" ".join(f'input: "{each}"' for each in inputs.split()))
        for name, op, inputs in nodes
    ]
    found: GraphDef = text_format.Parse("".join([places, *text]), GraphDef())
    return found


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    blocks = re.findall(r"```python\n(.*?)```", _PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    [tutorial] = [block for block in blocks if "(OptimizerPlugin)" in block]
    assert len(tutorial.splitlines()) <= 45
    return names


FEEDS = {"x": np.array([1, -2, 3], np.float32), "y": np.array([1, 1, -9], np.float32)}


@pytest.mark.filterwarnings("ignore::numlite.converter.plugins.PluginConfigWarning")
def test_it_fuses_and_its_kernel_runs(page: dict[str, Any]) -> None:
    fusible = graph(("a", "AddV2", "x y"), ("b", "Neg", "x"), ("c", "Relu", "a"), ("d", "AddV2", "c b"))
    value, ops = page["run_fused"](fusible, FEEDS, "d")
    [expected] = run_graph(fusible, FEEDS, ["d"])
    np.testing.assert_array_equal(value, expected)
    assert "MyAddRelu" in ops and "Relu" not in ops


@pytest.mark.filterwarnings("ignore::numlite.converter.plugins.PluginConfigWarning")
def test_it_leaves_a_sum_with_other_uses(page: dict[str, Any]) -> None:
    shared = graph(("a", "AddV2", "x y"), ("b", "Neg", "a"), ("c", "Relu", "a"), ("d", "AddV2", "c b"))
    value, ops = page["run_fused"](shared, FEEDS, "d")
    np.testing.assert_array_equal(value, run_graph(shared, FEEDS, ["d"])[0])
    assert "MyAddRelu" not in ops


def test_without_the_plugin_its_op_does_not_run(page: dict[str, Any]) -> None:
    own = graph(("c", "MyAddRelu", "x y"))
    with pytest.raises(UnsupportedError, match="MyAddRelu"):
        run_graph(own, FEEDS, ["c"])
    [value] = run_graph(own, FEEDS, ["c"], plugins=[page["FuseAddRelu"]])
    np.testing.assert_array_equal(value, [2, 0, 0])
