"""The programs and commands of docs/ and README.md run as they stand there, and the site builds."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numlite
import numpy as np
import pytest
from numlite.cli.convert_model import command as convert_model
from numlite.cli.main import cli, run_command
from numlite.converter import Converter, OpsSet, Optimize

from . import onnx_builder as onnx
from .converter.keras.recorded_models import hdf5_file, keras_file
from .converter.saved_model.saved_models import FLOAT, add, constant, new_model, signature, write_model
from .converter.stablehlo.recorded import recorded

ROOT = Path(__file__).resolve().parents[1]
PAGES = {path.name: path for path in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md")}
# Pages whose programs define what their own tests go on to try.
ELSEWHERE = {
    "batch.md": "batch/test_predictor.py",
    "compiled_model.md": "test_compiled_model.py",
    "custom_operators.md": "test_custom_operators_page.py",
    "delegates.md": "delegates/test_tutorial.py",
    "interpreter.md": "test_interpreter_builder.py",
    "metadata.md": "test_metadata.py",
    "rewriting.md": "converter/graph/test_documented.py",
}
_PROGRAM = re.compile(r"^( *)```(python|sh)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
IMAGES = [np.float32(np.random.default_rng(seed).random((1, 8, 8, 1))) for seed in range(4)]
COMMANDS = {"numlite": cli, "convert-model": convert_model}


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of the page's blocks, in their order."""
    return [(kind, textwrap.dedent(code)) for _, kind, code in _PROGRAM.findall(PAGES[page].read_text())]


RUN_HERE = [page for page in PAGES if blocks(page) and page not in ELSEWHERE]


def saved_model(folder: Path) -> Path:
    meta_graph, graph = new_model()
    add(graph, "Placeholder", "x", dtype=FLOAT)
    graph.node[-1].attr["shape"].shape.dim.add(size=3)
    constant(graph, "two", 2.0)
    add(graph, "Mul", "model/head", "x", "two", T=FLOAT)
    add(graph, "Add", "model/sum", "model/head", "x", T=FLOAT)
    signature(meta_graph, "serving_default", {"x": "x:0"}, {"scores": "model/sum:0"})
    shape = meta_graph.signature_def[0].value.inputs[0].value.tensor_shape
    shape.Clear()
    shape.dim.add(size=3)
    return write_model(folder, meta_graph)


def onnx_model() -> bytes:
    nodes = [onnx.node("GlobalAveragePool", ["image"], "mean"), onnx.node("Flatten", ["mean"], "scores")]
    image, scores = onnx.value("image", ["n", 3, "h", "w"]), onnx.value("scores", ["n", 3])
    return onnx.model(nodes, [image], [scores]).SerializeToString()


def keras_model() -> dict[str, Any]:
    """The mean of each channel of an image, as Keras 3 writes it."""
    image = {"shape": [None, None, None, 3], "dtype": "float32", "keras_history": ["image", 0, 0]}
    node = {"args": [{"class_name": "__keras_tensor__", "config": image}], "kwargs": {}}
    kinds = {
        "image": ("InputLayer", {"batch_shape": image["shape"], "dtype": "float32"}, []),
        "scores": ("GlobalAveragePooling2D", {"data_format": "channels_last", "keepdims": False}, [node]),
    }
    layers = [
        {"class_name": kind, "name": name, "config": {"name": name, **config}, "inbound_nodes": nodes}
        for name, (kind, config, nodes) in kinds.items()
    ]
    ends = {"input_layers": [["image", 0, 0]], "output_layers": [["scores", 0, 0]]}
    config = {"class_name": "Functional", "config": {"name": "net", "layers": layers, **ends}}
    return {"config": config, "keras": 3, "layout": {}, "layers": {}, "assets": {}}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages call their files."""
    folder = tmp_path_factory.mktemp("pages")
    graph = ROOT / "examples" / "digits.pb"
    content = Converter.from_graph_def(graph).convert()
    for name in ("digits.tflite", "model.tflite", "float.tflite"):
        (folder / name).write_bytes(content)
    for name in ("digits.pb", "graph.pb"):
        (folder / name).write_bytes(graph.read_bytes())
    (folder / "model.onnx").write_bytes(onnx_model())
    (folder / "model.jax").write_bytes(recorded()["open_images export"].program)
    (folder / "model.keras").write_bytes(keras_file(keras_model()))
    (folder / "model.h5").write_bytes(hdf5_file(keras_model()))
    saved_model(folder / "saved_model_dir")
    for name in ("data.npz", "test.npz"):
        np.savez(folder / name, image=np.concatenate(IMAGES))
    np.save(folder / "y.npy", np.arange(4))
    recipe = [
        {"regex": ".*", "operation": "FULLY_CONNECTED", "op_config": {}, "algorithm_key": "no_quantize"}
    ]
    (folder / "recipe.json").write_text(json.dumps(recipe))
    return folder


def given(page: str) -> dict[str, Any]:
    """What the page's programs take for granted."""
    common = {"np": np, "numlite": numlite, "Converter": Converter, "OpsSet": OpsSet, "Optimize": Optimize}
    if page == "README.md":
        return common | {"image": IMAGES[0], "x": np.float32([1, 2, 3])}
    if page in ("keras.md", "onnx.md"):
        sizes = (1, 3, 224, 224) if page == "onnx.md" else (1, 224, 224, 3)
        return {"image": np.zeros(sizes, np.float32)}
    if page == "stablehlo.md":
        return {"image": np.zeros((1, 6, 6, 2), np.float32)}
    if page == "quantization.md":
        samples: Callable[[], Iterator[Any]] = lambda: iter([{"x": np.float32([1, 2, 3])}])  # noqa: E731
        converter = Converter.from_saved_model("saved_model_dir")
        converter.optimizations, converter.representative_dataset = [Optimize.DEFAULT], samples
        made = {"converter": converter, "folder": "saved_model_dir", "samples": samples}
        return common | made | {"images": IMAGES}
    return {}


@pytest.mark.parametrize("page", RUN_HERE)
def test_a_page_runs(page: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    monkeypatch.delenv("NUMLITE_PREPARED", raising=False)
    names: dict[str, Any] = {"__name__": "page"}
    for language, code in blocks(page):
        if language == "python":
            names.update(given(page))
            # Annotations may name what only a type checker imports.
            exec(compile("from __future__ import annotations\n" + code, page, "exec"), names)
        elif page != "README.md":  # tests/test_page_commands.py
            run_lines(code.splitlines())


def run_lines(lines: list[str]) -> None:
    for line in lines:
        name, *arguments = shlex.split(line, comments=True)
        status = run_command(COMMANDS[name], arguments)
        # A goal that random numbers cannot reach has a status of its own.
        assert status == 0 or (status == 3 and {"--require", "--auto"} & set(arguments)), line


@pytest.mark.parametrize("page", ELSEWHERE)
def test_other_programs_have_tests_of_their_own(page: str) -> None:
    assert blocks(page) and page in (ROOT / "tests" / ELSEWHERE[page]).read_text()


def test_every_page_is_in_the_site(tmp_path: Path) -> None:
    """mkdocs builds it, without the network, and finds no link that leads nowhere."""
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed: pip install 'numlite[docs]'")
    (tmp_path / "numlite").symlink_to(ROOT)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    settings = {"DOCS_PACKAGE_PARENT": str(tmp_path), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert 'not included in the "nav"' not in done.stderr, done.stderr
    for page in PAGES:
        stem = page.removesuffix(".md")
        if page != "README.md":
            assert (tmp_path / "site" / f"{stem}.html").exists(), page
    first = (tmp_path / "site" / "index.html").read_text()
    linked = re.findall(r'<a [^>]*href="([^":#]+)(?:#[^"]*)?"', first)
    assert len(linked) > 30 and all((tmp_path / "site" / link).is_file() for link in linked)
    api = (tmp_path / "site" / "api.html").read_text()
    assert "resize_tensor_input" in api and "UnsupportedError for one that is right" in api
    assert "--recipe" in (tmp_path / "site" / "commands.html").read_text()


_ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)


def test_the_names_of_the_table_are_there() -> None:
    rows = _ROW.findall(PAGES["from_tflite.md"].read_text())
    assert len(rows) > 30
    for _, name in rows:
        if name == "None":
            continue
        found: Any = numlite
        for part in name.split(".")[1:]:
            found = (
                getattr(found, part, None) or importlib.import_module(name.rpartition(".")[0]).__dict__[part]
            )
        assert found is not None, name


def test_the_table_has_every_name_of_litert(litert: Any) -> None:
    from ai_edge_litert import interpreter as theirs

    page = PAGES["from_tflite.md"].read_text()
    names = [name for name in vars(theirs.Interpreter) if not name.startswith("_")]
    assert len(names) > 12
    missing = [name for name in names if f"`Interpreter.{name}" not in page]
    kinds = [name for name, held in vars(theirs).items() if isinstance(held, type) and name[0].isupper()]
    assert not missing and not [name for name in kinds if f"| `{name}" not in page]
