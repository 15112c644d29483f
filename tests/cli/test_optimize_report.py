"""numlite optimize --report and --verify: the page's tables, and the verdict."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from numlite.cli.main import cli, run_command
from numlite.converter.plugins import unregister_plugin
from numlite.schema.graph_def import AttrValue

from ..optimizers.optimized import Net


class Tables(HTMLParser):
    """The cells of each table's rows, by the table's id; and how many pictures there are."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, list[list[str]]] = {}
        self.pictures = 0
        self.open: list[str] = []
        self._table: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        if tag == "table":
            self._table = self.rows.setdefault(held["id"] or "", [])
        elif tag == "tr":
            self._table.append([])
        elif tag in ("td", "th"):
            self._table[-1].append("")
        self.pictures += tag == "svg"
        assert not any(value and "://" in value and "w3.org" not in value for value in held.values())
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self._table[-1][-1] += data


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    net = Net()
    x = net.x(2, 3)
    net.out(net.op("AddV2", net.op("Neg", net.op("Neg", x)), net.op("AddV2", net.c(1), net.c(2))))
    net.graph_def.node[1].name = "<b>evil"
    for node in net.graph_def.node:
        node.input[:] = [("<b>evil" if name.startswith("Neg_1") else name) for name in node.input]
    path = tmp_path / "graph.pb"
    path.write_bytes(net.graph_def.SerializeToString())
    return path


def run(*arguments: object) -> int:
    return run_command(cli, ["optimize", *map(str, arguments)])


def tables(text: str) -> Tables:
    found = Tables()
    found.feed(text)
    return found


def test_the_page_has_passes_ops_memory_rewrites_and_both_graphs(graph: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(graph, "--fetches", "y0", "--report", page) == 0
    text = page.read_text()
    found = tables(text)
    assert {"passes", "ops", "memory", "rewrites"} == set(found.rows)
    assert ["Neg", "2", "0"] in found.rows["ops"]
    assert any(row[0] == "constfold" and row[-1] == "changed" for row in found.rows["passes"])
    assert any("remove_involution" in row for row in found.rows["rewrites"])
    assert found.rows["memory"][1][0] == "(none)" and int(found.rows["memory"][1][1]) >= 48
    assert found.pictures == 2 and "<b>evil" not in text


def test_the_page_goes_to_the_console(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(graph, "--fetches", "y0", "--report", "-") == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")


def test_verify_says_what_was_compared(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(graph, "--fetches", "y0", "--verify", 2) == 0
    assert "give the same on 2 random inputs" in capsys.readouterr().out


def test_verify_fails_where_a_pass_changes_results(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "wrong_plugin.py"
    plugin.write_text(
        "from numlite.converter.plugins import OptimizerPlugin, register_plugin\n"
        "class WrongPlugin(OptimizerPlugin):\n"
        "    api_version = (0, 0, 1)\n"
        "    device_type = 'CPU'\n"
        "    def optimize(self, item, properties, library):\n"
        "        for node in item.nodes():\n"
        "            if node.op == 'AddV2':\n"
        "                node.op = 'Sub'\n"
        "        return item.module\n"
        "register_plugin(WrongPlugin)\n"
    )
    try:
        assert run(graph, "--fetches", "y0", "--verify", 1, "--plugin", plugin) != 0
    finally:
        unregister_plugin("WrongPlugin")
    assert "--verify: DifferenceError: verification of WrongPlugin" in capsys.readouterr().err


def test_verify_fails_where_nothing_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = Net()
    names = AttrValue(list=AttrValue.ListValue(s=[b"CPU"]))
    net.out(net.op("Neg", net.node("DeviceIndex", "n", device_names=names)))
    path = tmp_path / "odd.pbtxt"
    path.write_text(str(net.graph_def))
    assert run(path, "--fetches", "y0", "--verify", 1) != 0
    assert "nothing was compared" in capsys.readouterr().err
