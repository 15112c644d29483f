"""What people see of a page: words that can be read, and what they asked for in view."""

from __future__ import annotations

from pathlib import Path

import pytest
from numlite.cli.main import cli, run_command

from ...browser import Browser
from ..test_graph import TEXT
from .conftest import explored, texts

# Of WCAG 2.1, for small words (1.4.3).
_LEAST_CONTRAST = 4.5
# The least contrast of the words on boxes with the box that they are on, and where that is.
_CONTRAST = """
(() => {
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => d3.sum([0.2126, 0.7152, 0.0722], (part, i) => part * linear(rgb[i] / 255));
  const rgb = (text) => { const { r, g, b } = d3.rgb(text); return [r, g, b]; };
  let least = [Infinity, "nothing"];
  for (const box of document.querySelectorAll(".box")) {
    const paper = rgb(getComputedStyle(box.querySelector("rect")).fill);
    for (const words of box.querySelectorAll(":scope > text")) {
      const style = getComputedStyle(words), solid = Number(style.fillOpacity);
      const ink = rgb(style.fill).map((v, i) => v * solid + paper[i] * (1 - solid));
      const [high, low] = [light(ink), light(paper)].sort((a, b) => b - a);
      const contrast = (high + 0.05) / (low + 0.05);
      if (contrast < least[0]) least = [contrast, `${words.textContent} on ${d3.rgb(...paper)}`];
    }
  }
  return least;
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_on_boxes_can_be_read(scheme: str, tab: Browser, digits: Path, tmp_path: Path) -> None:
    other = tmp_path / "small.tflite"
    assert run_command(cli, ["quantize", str(digits), "-o", str(other)]) == 0
    explored(tab, tmp_path, digits, other)
    tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    ways = texts(tab, ".pane:first-child .colour option")
    assert ways == ["operator", "time", "memory", "difference"]
    for way in ways:
        tab.run(f"page.colour('{way}')")
        contrast, where = tab.run(_CONTRAST)
        assert _LEAST_CONTRAST <= contrast < 22, (way, where)
    for db in (-20, 10, 30, 60, 200):
        tab.run(f"d3.selectAll('.box > rect:first-child').attr('fill', differenceColor({db}))")
        contrast, where = tab.run(_CONTRAST)
        assert contrast >= _LEAST_CONTRAST, (db, where)


def test_what_is_unfolded_comes_into_view(tab: Browser, tmp_path: Path) -> None:
    """As far as there is room for it; its beginning is what must not leave."""
    path = tmp_path / "g.mlir"
    path.write_text(TEXT)
    explored(tab, tmp_path, path)
    for size in ((1440, 900), (700, 500)):
        tab.call(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=1,
            mobile=False,
        )
        # The box that unfolds stands in the last corner.
        tab.run(
            "(() => { const [pane] = page.panes, [w, h] = pane.size(), b = [...pane.places.values()]"
            ".find((p) => p.face.unfolds.length); pane.go(d3.zoomIdentity.translate("
            "w - b.x - b.width - 5, h - b.y - b.height - 5), false); })()"
        )
        tab.click(".fold")
        tab.settle()
        left, top, right, bottom, width, height = tab.run(
            "(() => { const s = document.querySelector('svg.canvas').getBoundingClientRect(), r = ["
            "...document.querySelectorAll('.box.holds')][0].firstChild.getBoundingClientRect();"
            " return [r.left - s.left, r.top - s.top, r.right - s.left, r.bottom - s.top, s.width, s.height];"
            " })()"
        )
        assert left >= 0 and top >= 0
        assert right <= width or left < 30
        assert bottom <= height or top < 30
        tab.click(".fold")
        tab.settle()


def test_ranges_say_what_their_bars_are(tab: Browser, digits: Path, tmp_path: Path) -> None:
    """Nothing is clipped, nor precision wasted, where nothing is quantized."""
    explored(tab, tmp_path, digits)
    tab.click("#tab-ranges")
    (about,) = texts(tab, "#view-ranges .about")
    assert about == "No result is quantized: the bars are what a run has seen."


def test_long_paths_break_where_they_are_joined(tab: Browser, digits: Path, tmp_path: Path) -> None:
    explored(tab, tmp_path, digits)
    shown = tab.run("document.querySelector('#details td').innerHTML")
    assert shown.count("<wbr>") >= shown.count("/")
    assert texts(tab, "#details td")[0] == str(digits)
