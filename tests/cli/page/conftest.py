"""Pages opened in a real browser, once for all tests of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from numlite.cli.demo import GRAPH
from numlite.cli.main import cli, run_command
from numlite.cli.page.libraries import kept, shipped
from numlite.converter import Converter
from numlite.kernels.compiled.driver.cache import cache_directory

from ...browser import Browser, browser, installed, one_file_read

NO_BROWSER = "no chromium in PATH"
NO_LIBRARIES = (
    "`numlite explore` has not run here where npm can be reached, which fetches the libraries of pages"
)


def missing() -> str | None:
    """Why no page can be opened here."""
    if installed() is None:
        return NO_BROWSER
    return None if shipped() or kept(Path(cache_directory()) / "page") else NO_LIBRARIES


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    if reason := missing():
        pytest.skip(reason)
    program = installed()
    assert program is not None
    with browser(program) as found:
        yield found


@pytest.fixture
def tab(opened: Browser) -> Iterator[Browser]:
    with one_file_read(opened) as found:
        yield found


def explored(tab: Browser, tmp_path: Path, *arguments: object) -> None:
    out = tmp_path / "page.html"
    assert run_command(cli, ["explore", *map(str, arguments), "-o", str(out)]) == 0
    tab.open(out)
    assert int(tab.run("document.documentElement.dataset.ready")) >= 0


def texts(tab: Browser, selector: str) -> list[str]:
    script = f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.textContent)"
    return list(tab.run(script))


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    path = tmp_path / "digits.tflite"
    path.write_bytes(Converter.from_graph_def(str(GRAPH)).convert())
    return path
