"""The report in a browser: what its tables show, whoever named the tensors, and that it asks for nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.main import run_command
from numlite.cli.quantize import command
from numlite.converter.quantization import Quantizer, recipes
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.report import Report, trials
from numlite.lite.model import Model

from ...browser import NAMES, Browser, browser, installed, one_file_read
from .float_models import samples
from .uneven_models import gated, one, uneven

# Place, width and height of the bars of each picture.
_BARS = (
    "[...document.querySelectorAll('td svg')].map((e) => [...e.querySelectorAll('rect')]"
    ".map((bar) => ['x', 'width', 'height'].map((name) => Number(bar.getAttribute(name)))))"
)
NO_BROWSER = "no chromium in PATH"


def test_why_reports_are_not_opened() -> None:
    """What the tests below are skipped for is so."""
    assert (installed() is None) == (not any(map(shutil.which, NAMES)))


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    program = installed()
    if program is None:
        pytest.skip(NO_BROWSER)
    with browser(program) as found:
        yield found


@pytest.fixture
def tab(opened: Browser) -> Iterator[Browser]:
    with one_file_read(opened) as found:
        yield found


def made(content: bytes) -> Report:
    quantizer = Quantizer(content, recipes.static_int8())
    return quantizer.quantize(quantizer.calibrate(samples(content, 16)), improve="none").report


def shown(tab: Browser, report: Report, path: Path) -> dict[str, list[list[str]]]:
    """The rows of each table, the head first, by the heading above."""
    report.save(path)
    tab.open(path)
    return tables(tab)


def tables(tab: Browser) -> dict[str, list[list[str]]]:
    script = (
        "Object.fromEntries([...document.querySelectorAll('table')].map((table) => {"
        " let above = table; while (above.tagName !== 'H2') above = above.previousElementSibling;"
        " return [above.innerText, [...table.rows].map((row) => [...row.cells].map((c) => c.innerText))]; }))"
    )
    return dict(tab.run(script))


def test_every_operator_is_a_row(tab: Browser, tmp_path: Path) -> None:
    report = made(uneven(gated))
    found = shown(tab, report, tmp_path / "gated.html")
    assert list(found) == ["Outputs", "Look at these first", "Operators"]
    assert all(len(row) == len(rows[0]) for rows in found.values() for row in rows)
    head, *rows = found["Operators"]
    assert [row[:3] for row in rows] == [[x.operation, x.scope, x.scheme] for x in report.layers]
    for row, layer in zip(rows, report.layers, strict=True):
        cells = dict(zip(head, row, strict=True))
        assert layer.sqnr_db is not None and layer.scale is not None
        assert float(cells["SQNR dB"]) == pytest.approx(layer.sqnr_db, rel=0.01)
        assert float(cells["scale"]) == pytest.approx(layer.scale, rel=0.01)
        assert cells["zero point"] == str(layer.zero_point)
    assert [row[1] for row in found["Look at these first"][1:]] == [x.scope for x in report.suspects()]
    assert [row[0] for row in found["Outputs"][1:]] == list(report.outputs)
    assert tab.run("document.title") == "gated" == tab.run("document.querySelector('h1').innerText")
    assert "bytes" in tab.run("document.querySelector('p').innerText")
    assert tab.run("getComputedStyle(document.querySelector('td.n')).textAlign") == "right"
    # A picture in each row: bars within it, and where the integers begin and end.
    assert tab.run("document.querySelectorAll('td svg').length") == len(report.layers)
    assert tab.run(
        "[...document.querySelectorAll('td svg')].every((e) => e.querySelectorAll('line').length === 2)"
    )
    for layer, bars in zip(report.layers, tab.run(_BARS), strict=True):
        assert layer.bars is not None
        assert len(bars) == np.count_nonzero(layer.bars)
        assert max(height for _, _, height in bars) == pytest.approx(32, abs=0.2)
        assert all(x >= -1 and x + width <= 122 for x, width, _ in bars)


def test_long_names_leave_room_for_numbers(tab: Browser, tmp_path: Path) -> None:
    """As of operators that TensorFlow has fused."""
    editor = ModelEditor(Model(uneven(gated)))
    for tensor in editor.subgraphs[0].tensors or []:
        tensor.name = ";".join(f"model/block_{i}/batch_normalization/{tensor.name}" for i in range(9))
    shown(tab, made(editor.finish().content()), tmp_path / "long.html")
    assert tab.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert tab.run("Math.min(...[...document.querySelectorAll('td.n')].map((c) => c.clientWidth))") > 20


def test_names_are_text(tab: Browser, tmp_path: Path) -> None:
    name = "<script>document.title = 'taken'</script><img src=http://localhost/x>&amp;\"'"
    editor = ModelEditor(Model(uneven(one("SIN"))))
    for tensor in editor.subgraphs[0].tensors or []:
        tensor.name = f"{name}{tensor.name}"
    report = made(editor.finish().content())
    found = shown(tab, report, tmp_path / "named.html")
    assert tab.run("document.title") == "named"
    assert tab.run("document.querySelectorAll('script, img').length") == 0
    assert all(name in row[1] for row in found["Operators"][1:])
    assert [row[2] for row in found["Operators"][1:] if row[0] == "SIN"] == [
        "float: it has no integer kernel"
    ]


def test_what_was_tried_stands_in_its_own_table(tab: Browser, tmp_path: Path) -> None:
    tried = trials([(0, 0, 500, 20.0), (1, 1, 700, 24.0), (1, 0, 650, 25.0)], taken=2)
    found = shown(tab, replace(made(uneven(one("RELU"))), tried=tried), tmp_path / "tried.html")
    assert found["What was tried"] == [
        ["operators float", "of 16 bits", "bytes", "SQNR dB", "none nearer with as few", "taken"],
        ["0", "0", "500", "20", "yes", ""],
        ["1", "0", "650", "25", "yes", "yes"],
        ["1", "1", "700", "24", "", ""],
    ]


def test_all_columns_are_seen_without_scrolling(tab: Browser, tmp_path: Path) -> None:
    report = made(uneven(gated))
    name = "functional_1/global_average_pool_{}/Mean"
    layers = [
        replace(layer, operation="DEPTHWISE_CONV_2D", scope=name.format(n), outside=0.00634, low=-0.0766)
        for n, layer in enumerate(report.layers)
    ]
    shown(tab, replace(report, layers=layers), tmp_path / "wide.html")
    widest = (
        "Math.max(...[...document.querySelectorAll('table')].map((t) => t.getBoundingClientRect().right))"
    )
    assert tab.run(widest) <= 1440


def test_the_page_of_the_command_shows_what_its_json_says(tab: Browser, tmp_path: Path) -> None:
    model, data = tmp_path / "m.tflite", tmp_path / "d.npy"
    model.write_bytes(uneven(gated))
    np.save(data, np.concatenate([sample[0] for sample in samples(model.read_bytes(), 12)]))
    for suffix in ("html", "json"):
        arguments = [str(model), "-o", str(tmp_path / "q.tflite"), "--calibrate", str(data)]
        assert run_command(command, [*arguments, "--report", str(tmp_path / f"r.{suffix}")]) == 0
    tab.open(tmp_path / "r.html")
    layers = json.loads((tmp_path / "r.json").read_text())["layers"]
    rows = tables(tab)["Operators"][1:]
    assert [row[:2] for row in rows] == [[layer["operation"], layer["scope"]] for layer in layers]
