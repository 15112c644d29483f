"""Intel's extension for TensorFlow, unchanged: its optimizer and kernels, no TensorFlow. AMD's is refused.

They are looked for where pip installs intel-extension-for-tensorflow-lib==2.15.0.0.0 and zentf==2.21.0.0 with
--no-deps.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from numlite.cli.main import cli, run_command
from numlite.converter.plugins import PluginRegistry, load_plugin
from numlite.lite.errors import PluginError

from ..conftest import SHARED_MODELS

pytestmark = pytest.mark.long
_GRAPHS = SHARED_MODELS.parent / "convert" / "graphs"

# Its optimizer's fault: attention with a mask of rank 2 becomes an op whose kernel takes row 0 for all rows.
_WRONG = {"net_causal_decoder_0"}

_RUN = """
import json, sys
import numpy as np
from numlite.converter import GraphRunner, read_graph
from numlite.converter.ir.export_graph import export_graph_def
from numlite.converter.optimizers.item import GrapplerItem
from numlite.converter.plugins import PluginRegistry, load_plugin
from numlite.converter.plugins.choice import RunningPlugin
from numlite.converter.plugins.kernels import PluginKernels
from pathlib import Path

plugin, graphs = load_plugin(sys.argv[1], "none", PluginRegistry()), Path(sys.argv[2])
kernels, found = PluginKernels([plugin]), {}
for name in sys.argv[3:]:
    facts = json.loads((graphs / f"{name}.json").read_text())
    if any(each["enc"] != "raw" for each in facts["inputs"]):
        continue
    definition = read_graph(graphs / facts["graph"])
    for node in definition.node:
        node.device = "/device:CPU:0"
    inputs, outputs = ([each["name"] for each in facts[side]] for side in ("inputs", "outputs"))
    running = RunningPlugin(plugin, {op.name: op for op in plugin.ops})
    module = running.run(GrapplerItem.from_graph_def(definition, inputs, outputs))
    running.close()
    rewritten = definition if module is None else export_graph_def(module)
    plain = GraphRunner(definition)
    with np.load(graphs / facts["inputs_file"]) as arrays:
        feeds = {each["name"]: arrays[each["key"]] for each in facts["inputs"]}
    before = plain.run(feeds, outputs)
    after = GraphRunner(rewritten, kernels).run(feeds, outputs)
    pairs = zip(before, after, strict=True)
    same = all(np.allclose(a, b, rtol=2e-3, atol=1e-3, equal_nan=True) for a, b in pairs)
    found[name] = [same, sum(node.op.startswith("_") for node in rewritten.node)]
print(json.dumps(found))
"""


def installed(name: str, package: str) -> str:
    path = Path(sysconfig.get_paths()["purelib"]) / "tensorflow-plugins" / name
    if not path.is_file():
        pytest.skip(f"no {package} in site-packages")
    return str(path)


@pytest.fixture
def library() -> str:
    return installed("libitex_cpu.so", "intel-extension-for-tensorflow-lib")


def test_it_is_shown(library: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, ["plugins", "--tensorflow-plugins", "--json"]) == 0
    [row] = [row for row in json.loads(capsys.readouterr().out) if row["path"] == library]
    assert (row["device_type"], row["configs_bytes"], row["status"]) == ("CPU", 92, "ready")
    assert row["configs"] == {"layout_optimizer": "OFF", "remapping": "OFF"}
    assert (row["ops"], row["kernels"], row["kernel_ops"]) == (310, 1262, 263)


def test_its_graphs_run_by_its_kernels_as_the_graphs_of_before(library: str) -> None:
    if not _GRAPHS.is_dir():
        pytest.skip("no ../shared/convert/graphs beside the repository")
    names = sorted({path.stem for path in _GRAPHS.glob("net_*_0.json")} | _WRONG)
    names += ["keras_MobileNetV2_0", "keras_DenseNet121_0"]
    done = subprocess.run(
        [sys.executable, "-c", _RUN, library, str(_GRAPHS), *names],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert {name for name, (same, _) in found.items() if not same} <= _WRONG
    assert len(found) >= 20 and sum(own > 0 for _, own in found.values()) >= 10


def test_amds_needs_classes_of_tensorflow_and_says_which() -> None:
    path = installed("libamdcpu_plugin.so", "zentf")
    with pytest.raises(PluginError) as caught:
        load_plugin(path, registry=PluginRegistry())
    text = str(caught.value)
    assert "203" in text and "tensorflow" in text and "\n" not in text
