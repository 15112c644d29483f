"""The pages of `numlite explore` in a real browser: every view opened, clicked, searched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from numlite.cli.main import cli, run_command
from numlite.cli.page.libraries import PACKAGES, SHIPPED
from numlite.kernels.compiled.driver.cache import cache_directory
from numlite.schema.graph_def import GraphDef

from ...browser import NAMES, Browser
from ..test_explore import DELEGATE
from ..test_graph import TEXT
from .conftest import NO_BROWSER, NO_LIBRARIES, explored, missing, texts


def test_why_pages_are_not_opened() -> None:
    """What the tests below are skipped for is so."""
    reason = missing()
    assert (reason == NO_BROWSER) == (not any(map(shutil.which, NAMES)))
    if reason == NO_LIBRARIES:
        names = {path.name for path in (Path(cache_directory()) / "page").glob("*.tgz")}
        assert not SHIPPED.exists() and len(names) < len(PACKAGES)


def test_every_view_of_a_model(tab: Browser, digits: Path, tmp_path: Path) -> None:
    explored(tab, tmp_path, digits)
    titles = texts(tab, "#view-graph .box text.title")
    assert titles[0] == "input" and titles[-1] == "output" and len(titles) >= 6
    assert texts(tab, "#tabs button") == ["Graph", "Time", "Memory", "Ranges", "Weights"]
    for name, selector in (
        ("times", ".bars-chart .row"),
        ("arena", ".place"),
        ("ranges", ".row .seen"),
        ("weights", ".card .bars"),
    ):
        tab.click(f"#tab-{name}")
        assert tab.run(f"document.querySelectorAll('#view-{name} {selector}').length") > 1
        assert tab.run(f"document.querySelector('#view-{name}').getBoundingClientRect().height") > 300
    assert "peak: step" in "".join(texts(tab, "#view-arena text.peak"))
    assert any("least" in text for text in texts(tab, "#view-arena text.bound"))
    # A bar leads to its operator in the graph.
    tab.click("#tab-times")
    slowest = texts(tab, "#view-times .columns > div:nth-child(2) .row text")[0].split()[-1]
    tab.click("#view-times .row.acts")
    tab.settle()
    assert tab.run("document.querySelector('#view-graph').hidden") is False
    assert texts(tab, ".box.chosen text.title") == [slowest]
    assert texts(tab, "#details h2")[0].startswith(slowest)


def test_choosing_searching_and_zooming(tab: Browser, digits: Path, tmp_path: Path) -> None:
    explored(tab, tmp_path, digits)
    tab.click(".box:nth-child(2) > rect")
    assert len(texts(tab, ".box.chosen")) == 1 and len(texts(tab, ".lines path.near")) >= 2
    assert "multiply-adds" in texts(tab, "#details th")
    assert len(texts(tab, "#details .histogram")) >= 1
    tab.key("Escape", 27)
    assert texts(tab, ".box.chosen") == []
    tab.click("#search")
    tab.type("softmax")
    hits = texts(tab, "#hits li")
    assert len(hits) == 1 and hits[0].startswith("SOFTMAX")
    assert texts(tab, ".box.hit text.title") == ["SOFTMAX"]
    tab.click("#hits li")
    tab.settle()
    assert texts(tab, ".box.chosen text.title") == ["SOFTMAX"]
    x, y = tab.place("svg.canvas")
    before = tab.run("d3.zoomTransform(document.querySelector('svg.canvas')).k")
    tab.wheel(x, y, -400)
    assert tab.run("d3.zoomTransform(document.querySelector('svg.canvas')).k") > before
    tab.run("page.colour('time')")
    assert len(texts(tab, ".box .badge text")) >= 4
    assert all(text.endswith(("ns", "µs", "ms", " s")) for text in texts(tab, ".box .badge text"))


def test_graphs_unfold_inside_their_node(tab: Browser, tmp_path: Path) -> None:
    path = tmp_path / "g.mlir"
    path.write_text(TEXT)
    explored(tab, tmp_path, path)
    assert "Neg" not in texts(tab, ".box text.title")
    tab.click(".fold")
    assert {"Neg", "return", "PartitionedCall"} <= set(texts(tab, ".box text.title"))
    outer, inner = (
        tab.run(
            "(() => { const r = [...document.querySelectorAll('.box')].filter((e) => "
            f"e.querySelector('text.title').textContent === '{title}')[0].firstChild.getBoundingClientRect();"
            " return [r.left, r.top, r.right, r.bottom]; })()"
        )
        for title in ("PartitionedCall", "Neg")
    )
    assert outer[0] < inner[0] and outer[1] < inner[1] and outer[2] > inner[2] and outer[3] > inner[3]
    tab.click(".fold")
    assert "Neg" not in texts(tab, ".box text.title")


def scoped_graph(path: Path, count: int, size: int) -> Path:
    """A chain of count scopes of that many operators."""
    graph = GraphDef()
    x = graph.node.add(name="x", op="Placeholder")
    x.attr["dtype"].type = 1
    x.attr["shape"].shape.dim.add(size=4)
    for i in range(count * size):
        before = graph.node[-1].name
        graph.node.add(name=f"net/block_{i // size}/add_{i}", op="AddV2", input=[before, before]).attr[
            "T"
        ].type = 1
    graph.node.add(name="y", op="Abs", input=[graph.node[-1].name]).attr["T"].type = 1
    path.write_bytes(graph.SerializeToString())
    return path


def test_name_scopes_are_folded(tab: Browser, tmp_path: Path) -> None:
    explored(tab, tmp_path, scoped_graph(tmp_path / "g.pb", 3, 4))
    assert len(texts(tab, ".box")) == 14
    tab.click(".scopes")
    tab.settle()
    titles = ["Placeholder", "block_0", "block_1", "block_2", "Abs"]
    assert texts(tab, ".box text.title") == titles
    assert texts(tab, ".fold text") == ["▸ 4 operators"] * 3
    tab.click(".box:nth-child(3) > text.title")
    assert texts(tab, "#details h2") == ["block_1scope of graph"] and "net/block_1" in texts(
        tab, "#details .name"
    )
    tab.run("page.colour('time')")
    assert len(texts(tab, ".box .badge text")) == 4  # nobody computes what goes in
    tab.click(".fold", 1)
    assert len(texts(tab, ".box")) == 9 and len(texts(tab, ".far circle")) == 1
    # A hit in a folded scope is marked there; going to it unfolds what it is in.
    tab.click("#search")
    tab.type("add_9")
    assert texts(tab, ".box.hit > text.title") == ["block_2"]
    tab.click("#hits li")
    tab.settle()
    assert len(texts(tab, ".box")) == 13 and texts(tab, ".box.chosen > text.title") == ["AddV2"]
    # The dot above a value from outside leads to what makes it.
    tab.click(".far circle", 1)
    tab.settle()
    assert texts(tab, "#details .name")[0] == "net/block_1/add_7"
    tab.click(".scopes")
    assert len(texts(tab, ".box")) == 14


@pytest.mark.long
def test_twenty_thousand_nodes(tab: Browser, tmp_path: Path) -> None:
    """They come folded, and can be unfolded."""
    explored(tab, tmp_path, scoped_graph(tmp_path / "g.pb", 200, 100), "--no-run")
    assert len(texts(tab, ".box")) == 202
    tab.run("page.panes[0].foldScopes(false)")
    assert len(texts(tab, ".box")) == 20002


def test_two_models_beside_each_other(tab: Browser, digits: Path, tmp_path: Path) -> None:
    other = tmp_path / "small.tflite"
    assert run_command(cli, ["quantize", str(digits), "-o", str(other)]) == 0
    explored(tab, tmp_path, digits, other)
    assert texts(tab, ".pane .bar strong") == ["digits.tflite", "small.tflite"]
    assert any(text.endswith(" dB") for text in texts(tab, ".badge text"))
    tab.click(".pane:nth-child(1) .box:nth-child(3) > rect")
    tab.settle()
    left, right = (texts(tab, f".pane:nth-child({n}) .box.chosen text.title") for n in (1, 2))
    assert left == right and len(left) == 1
    tab.click("#tab-differences")
    assert len(texts(tab, "#view-differences circle")) >= 4
    assert "begin to differ at node" in texts(tab, "#view-differences .about")[0]
    tab.click("#view-differences tr.acts")
    tab.settle()
    assert len(texts(tab, ".box.chosen")) == 2


def test_partitions_are_coloured(
    tab: Browser, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "abs_of_pages.py").write_text(DELEGATE)
    monkeypatch.syspath_prepend(str(tmp_path))
    explored(tab, tmp_path, model, "--delegate", "abs_of_pages")
    fill = (
        "[...document.querySelectorAll('.box > rect:first-child')].map((each) => each.getAttribute('fill'))"
    )
    _, add, absolute, _ = tab.run(fill)
    assert add != absolute and texts(tab, ".box .badge text") == ["#1"]
    assert "Abs #1: 1 nodes" in texts(tab, ".legend span")


@pytest.mark.parametrize("shape", ["parts", "tangle"])
def test_a_thousand_nodes(shape: str, tab: Browser, tmp_path: Path) -> None:
    """Boxes do not overlap. (How long it takes: docs/explore.md.)"""
    graph = GraphDef()
    for i in range(1000):
        before = [i - 1, i - 3 if i % 4 == 3 else i - 1]
        if shape == "tangle":
            before = [i - 1, i - 1 - i * 7919 % 31]
        uses = [f"n{max(0, j)}" for j in before] if i else []
        graph.node.add(name=f"n{i}", op="AddV2" if i else "Placeholder", input=uses)
        graph.node[i].attr["T" if i else "dtype"].type = 1
    path = tmp_path / "g.pb"
    path.write_bytes(graph.SerializeToString())
    explored(tab, tmp_path, path)
    assert len(texts(tab, ".box")) == 1000
    overlaps = (
        "(() => { const b = page.panes[0].placed.boxes; let n = 0; for (let i = 0; i < b.length; i++)"
        " for (let j = 0; j < i; j++) n += b[i].x < b[j].x + b[j].width && b[j].x < b[i].x + b[i].width"
        " && b[i].y < b[j].y + b[j].height && b[j].y < b[i].y + b[i].height; return n; })()"
    )
    assert tab.run(overlaps) == 0
    assert tab.run("page.panes[0].placed.width / page.panes[0].placed.height") < 5
    assert tab.run("page.panes[0].placed.boxes.every((b) => Number.isFinite(b.x) && Number.isFinite(b.y))")


def test_the_map_hides_no_operator_that_has_room_beside_it(tab: Browser, tmp_path: Path) -> None:
    """Of a graph that its pane cannot show as a whole, but is wide enough for both."""
    graph = GraphDef()
    for i in range(40):
        graph.node.add(name=f"n{i}", op="Relu" if i else "Placeholder", input=[f"n{i - 1}"] if i else [])
        graph.node[i].attr["T" if i else "dtype"].type = 1
    path = tmp_path / "g.pb"
    path.write_bytes(graph.SerializeToString())
    explored(tab, tmp_path, path, "--no-run")
    beside, drawn, shown = tab.run(
        "(() => { const [pane] = page.panes;"
        " return [innerWidth - pane.size()[0], pane.placed.width * 0.85, pane.map.width()]; })()"
    )
    size = {"width": int(beside + drawn + shown + 50), "height": 500}
    tab.call("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False)
    tab.run("page.panes[0].start(false)")
    tab.settle()
    hidden = (
        "(() => { const m = document.querySelector('canvas.map').getBoundingClientRect();"
        " return [m.width, [...document.querySelectorAll('.box')].filter((each) => {"
        " const b = each.getBoundingClientRect(); return b.right > m.left && b.left < m.right"
        " && b.bottom > m.top && b.top < m.bottom; }).length]; })()"
    )
    width, count = tab.run(hidden)
    assert width > 0 and count == 0
