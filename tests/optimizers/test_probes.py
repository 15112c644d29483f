"""Plugins are told of graphs what TensorFlow tells them, line by line: tests/record_probes.py recorded it."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from numlite.schema.graph_def import GraphDef

from .c_plugins import compiled

PROBES: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("probes.jsonl").read_text().splitlines()
]

# Each in a process of its own, as a plugin opens its log once; all of them started by one that has imported.
_RUN = """
import json, os, sys
from numlite.converter.plugins.c_graph import CItem
from numlite.converter.plugins.c_optimizer import COptimizer
path = sys.argv[1]
for line in sys.stdin:
    held = json.loads(line)
    pid = os.fork()
    if not pid:
        os.environ |= {"PROBE_LOG": held["log"], "PROBE_NODES": held["nodes"]}
        plugin = COptimizer(path)
        plugin.create()
        plugin.optimize(CItem(bytes.fromhex(held["graph"]), *held["names"], {}))
        plugin.destroy()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0, held["log"]
"""


_SYMBOL = re.compile("08((?:[89a-f][0-9a-f]){9}01)")
# Ours knows more: what a slice takes all of keeps its size.
_KNOWS_MORE = "sliced_function"


def renamed(lines: Iterable[str]) -> list[str]:
    """The lines with the numbers of unknown sizes counted from the first one that is asked about."""
    found: list[str] = []
    numbers: dict[str, str] = {}

    def number(held: re.Match[str]) -> str:
        return f"08<{numbers.setdefault(held[1], str(len(numbers)))}>"

    for line in lines:
        if line.startswith("infer"):
            numbers.clear()
        found.append(_SYMBOL.sub(number, line))
    return found


def names(line: str) -> list[str]:
    return line.partition(":")[2].partition("[")[0].split()


def request(probe: dict[str, Any], log: Path) -> dict[str, Any]:
    """The graph, and names to preserve, fed and fetched as TensorFlow's log has them."""
    graph = zlib.decompress(base64.b64decode(probe["graph"]))
    preserved, fetched = map(names, probe["log"][:2])
    nodes = {name.partition(":")[0] for name in fetched}
    fed = [name for name in preserved if name not in nodes]
    return {
        "graph": graph.hex(),
        "nodes": ",".join(node.name for node in GraphDef.FromString(graph).node),
        "names": [preserved, fed, fetched],
        "log": str(log),
    }


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What the probe logs of each graph here."""
    folder = tmp_path_factory.mktemp("probes")
    requests = [request(probe, folder / probe["name"]) for probe in PROBES]
    given = "".join(json.dumps(each) + "\n" for each in requests)
    command = [sys.executable, "-c", _RUN, compiled("probe")]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = {}
    for probe in PROBES:
        lines = (folder / probe["name"]).read_text().splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("preserve"))
        found[probe["name"]] = [line.partition(" in binary")[0] for line in lines[start:-1]]
    return found


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe["name"])
def test_a_plugin_is_told_what_tensorflow_tells(probe: dict[str, Any], logs: dict[str, list[str]]) -> None:
    ours, theirs = renamed(logs[probe["name"]]), renamed(probe["log"])
    if probe["name"] == _KNOWS_MORE:
        ours, theirs = ([re.sub("<[01]>", "<>", line) for line in lines] for lines in (ours, theirs))
    assert ours == theirs and len(ours) > 12
