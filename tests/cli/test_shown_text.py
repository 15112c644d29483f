"""Names with escape sequences, markup and line breaks, in everything that numlite lets people see."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite import Interpreter
from numlite.cli.convert_model import command as convert_command
from numlite.cli.main import cli, run_command
from numlite.converter import Converter, load_saved_model, run_graph
from numlite.lite.dump import dump
from numlite.lite.model import Model
from numlite.lite.node_errors import warn_of_failure
from numlite.schema import graph_def, tflite
from numlite.schema.graph_def import GraphDef, NodeDef
from numlite.schema.shown import shown, shown_lines

from ..conftest import SHARED_MODELS
from ..converter.saved_model.saved_models import FLOAT, add, new_model, signature, write_model
from ..model_builder import ModelBuilder

# Sets a terminal's title, makes text red, is markup of rich and of HTML, ends lines, turns letters around.
EVIL = (
    "\x1b]0;pwned\x07\x1b[31mred[/bold][link=http://x]<script>alert(1)</script>&\"'\r\n"
    "INJECTED\x85line\u2028\u202eright to left\u200b\x9b31m\x7f"
)
HOSTILE = SHARED_MODELS.parent / "hostile" / "other"


def check_shown(text: str, *, injected: bool = False) -> None:
    """Nothing that moves a cursor, turns text around or hides, and no line that a name has made."""
    wrong = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\n\t"}
    assert not wrong, (wrong, text)
    assert not re.search(r"^\W*INJECTED", text, re.MULTILINE), text
    if injected:
        assert "INJECTED" in text


def runnable_model() -> bytes:
    """y = sin(x) + 1, by names that are not."""
    graph = ModelBuilder()
    x, middle = graph.tensor((2,), name=EVIL), graph.tensor((2,), name=EVIL)
    one, y = (
        graph.tensor((2,), np.float32, np.ones(2, np.float32), name=EVIL),
        graph.tensor((2,), name=f"{EVIL}y"),
    )
    graph.op(tflite.BuiltinOperator.SIN, [x], [middle])
    graph.op(tflite.BuiltinOperator.ADD, [middle, one], [y], tflite.AddOptionsT())
    return _dressed(graph).build([x], [y], {EVIL: ({EVIL: x}, {EVIL: y})})


def custom_model() -> bytes:
    graph = ModelBuilder()
    x, y = graph.tensor((2,), name=EVIL), graph.tensor((2,), name=EVIL)
    graph.op(tflite.BuiltinOperator.CUSTOM, [x], [y], custom_code=EVIL)
    return _dressed(graph).build([x], [y], {EVIL: ({EVIL: x}, {EVIL: y})})


def damaged_model() -> bytes:
    """A constant of too few bytes."""
    graph = ModelBuilder()
    x = graph.tensor((2,), name=EVIL)
    y = graph.tensor((2,), name=EVIL)
    graph.op(tflite.BuiltinOperator.ADD, [x, graph.tensor((9,), np.float32, b"1234", name=EVIL)], [y])
    return _dressed(graph).build([x], [y])


def _dressed(graph: ModelBuilder) -> ModelBuilder:
    graph.model.description = EVIL
    graph.model.subgraphs[0].name = EVIL
    graph.model.buffers.append(tflite.BufferT(data=b"x"))
    graph.model.metadata = [tflite.MetadataT(name=EVIL, buffer=len(graph.model.buffers) - 1)]
    return graph


MODELS = {"runnable": runnable_model, "custom": custom_model, "damaged": damaged_model}
COMMANDS: dict[str, list[str]] = {
    "inspect": ["inspect", "{model}"],
    "inspect strict": ["inspect", "--strict", "{model}"],
    "inspect all": ["inspect", "{model}", "--tensors", "--nodes"],
    "inspect delegate": ["inspect", "{model}", "--delegate", "tests.delegates.numpy_delegate:NumpyDelegate"],
    "run": ["run", "{model}", "-o", "{folder}/out.npz"],
    "run signature": ["run", "{model}", "--signature", EVIL],
    "run no signature": ["run", "{model}", "--signature", f"{EVIL}?"],
    "run no input": ["run", "{model}", "-i", f"{EVIL}=none.npy"],
    "inspect json": ["inspect", "{model}", "--json"],
    "benchmark json": ["benchmark", "{model}", "--runs", "2", "--json"],
    "benchmark signature": ["benchmark", "{model}", "--runs", "2", "--signature", EVIL],
    "benchmark": ["benchmark", "{model}", "--seconds", "0.01"],
    "compare": ["compare", "{model}", "{model}", "--all"],
    "metadata": ["metadata", "{model}", "--set-name", EVIL, "-o", "{folder}/m.tflite"],
    "metadata json": ["metadata", "{model}", "--json"],
    "select-ops": ["select-ops", "{model}", "-o", "{folder}/ops.json", "--kernels"],
    "compile": [
        "compile",
        "{model}",
        "--delegate",
        "tests.delegates.numpy_delegate:NumpyDelegate",
        "-o",
        "{folder}/c",
    ],
    "no command": [EVIL],
    "no file": ["inspect", f"{{folder}}/{EVIL}"],
    "no delegate": ["run", "{model}", "--delegate", EVIL],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", MODELS)
def test_commands(kind: str, command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(MODELS[kind]())
    places = {"{model}": str(path), "{folder}": str(tmp_path)}
    arguments = [re.sub(r"\{\w+\}", lambda found: places[found[0]], text) for text in COMMANDS[command]]
    status = run_command(cli, arguments)
    for text in capfd.readouterr():
        check_shown(text)
    assert status in (0, 1, 2)


@pytest.mark.parametrize("kind", MODELS)
def test_errors_dumps_and_debug_lines(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(MODELS[kind]())
    for line in dump(Model(path.read_bytes())) if kind != "damaged" else ():
        check_shown(line)
        assert "\n" not in line
    program = (
        "import sys, logging; logging.basicConfig(); from numlite import Interpreter\n"
        "i = Interpreter(sys.argv[1]); i.allocate_tensors(); i.invoke(); print(i.core.subgraph().tensors)"
    )
    for arguments in (["-c", program, str(path)], ["-m", "numlite.lite.dump", str(path)]):
        child = subprocess.run(
            [sys.executable, *arguments],
            env=os.environ | {"NUMLITE_DEBUG": "4"},
            capture_output=True,
            text=True,
            check=False,
        )
        check_shown(child.stdout)
        check_shown(child.stderr)
        assert r"\x1b" in child.stdout + child.stderr or kind == "damaged"


def _error(call: Callable[[], object]) -> str:
    with pytest.raises((ValueError, RuntimeError, TypeError)) as caught:
        call()
    return str(caught.value)


def test_errors_of_calls() -> None:
    runnable = Interpreter(model_content=runnable_model())
    runnable.allocate_tensors()
    calls: list[Callable[[], Any]] = [
        lambda: Interpreter(model_content=damaged_model()),
        lambda: Interpreter(model_content=custom_model()).allocate_tensors(),
        lambda: runnable.set_tensor(0, np.zeros(7, np.float32)),
        lambda: runnable.set_tensor(0, np.zeros(2, np.int8)),
        lambda: runnable.get_signature_runner("none"),
        lambda: runnable.get_signature_runner(EVIL)(wrong=np.zeros(2, np.float32)),
        lambda: runnable.get_signature_runner(EVIL)(**{EVIL: np.zeros(9, np.int8)}),
        lambda: Interpreter(model_path=f"/nowhere/{EVIL}"),
    ]
    for call in calls:
        check_shown(_error(call))


def test_warnings() -> None:
    with pytest.warns(RuntimeWarning) as caught:
        warn_of_failure(f"node 0 ({EVIL})", RuntimeError(EVIL))
    check_shown(str(caught[0].message), injected=True)


NODE = EVIL.replace(":", "")  # what is behind a colon is no part of a node's name


def evil_graph() -> GraphDef:
    graph = GraphDef()
    for name, op, inputs in (
        (NODE, "Placeholder", []),
        (f"{NODE}2", "Neg", [NODE]),
        (f"{NODE}3", NODE, [NODE]),
    ):
        node = graph.node.add(name=name, op=op, input=inputs)
        node.attr["dtype" if op == "Placeholder" else "T"].type = graph_def.DT_FLOAT
        node.attr[NODE].s = NODE.encode()
    return graph


def plain_graph() -> GraphDef:
    graph = evil_graph()
    del graph.node[2]
    return graph


GRAPH_COMMANDS = {
    "summary": [],
    "dot": ["--dot"],
    "svg": ["--svg"],
    "text": ["--text"],
    "pbtxt": ["--to-pbtxt"],
    "diff": ["--diff", "{other}"],
    "function": ["--function", NODE],
}


@pytest.mark.parametrize("command", GRAPH_COMMANDS)
def test_pictures_and_texts_of_graphs(
    command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, other = tmp_path / "g.pb", tmp_path / "other.pb"
    path.write_bytes(evil_graph().SerializeToString())
    other.write_bytes(GraphDef(node=[NodeDef(name="n", op="NoOp")]).SerializeToString())
    arguments = [str(other) if text == "{other}" else text for text in GRAPH_COMMANDS[command]]
    run_command(cli, ["graph", str(path), *arguments])
    out, err = capfd.readouterr()
    check_shown(out + err, injected=True)
    if command == "svg":
        assert "<script" not in out and ET.fromstring(out) is not None


@pytest.mark.parametrize("make", [evil_graph, plain_graph])
def test_conversions(make: Callable[[], GraphDef], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "g.pb", tmp_path / "page.html"
    path.write_bytes(make().SerializeToString())
    arguments = [str(path), "-o", str(tmp_path / "m.tflite"), "--report", str(page)]
    for more in (
        [],
        ["--allow-custom-ops"],
        ["--select-tf-ops"],
        ["--verify", "1"],
        ["--input-arrays", NODE[:9]],
    ):
        run_command(convert_command, [*arguments, *more])
        for text in capfd.readouterr():
            check_shown(text)
    if make is plain_graph:
        content = page.read_text()
        check_shown(content, injected=True)
        assert "<script" not in content
    content = make().SerializeToString()
    check_shown(_error(lambda: run_graph(content, {NODE: np.zeros(2)}, [f"{NODE}4"])))
    check_shown(_error(lambda: run_graph(content, {NODE[:5]: np.zeros(2)}, [f"{NODE}2"])))
    check_shown(_error(lambda: run_graph(evil_graph(), {NODE: np.zeros(2, np.float32)}, [f"{NODE}3"])))
    check_shown(_error(lambda: run_graph(content, {NODE: np.zeros(2, np.int64)}, [f"{NODE}2"])))
    check_shown(_error(Converter.from_graph_def(evil_graph()).convert))


def test_saved_models(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    meta_graph, graph = new_model()
    add(graph, "Placeholder", NODE, dtype=FLOAT)
    add(graph, "Neg", f"{NODE}2", NODE, T=FLOAT)
    signature(meta_graph, NODE, {NODE: f"{NODE}:0"}, {NODE: f"{NODE}2:0"})
    meta_graph.meta_info_def.tags.append(NODE)
    write_model(tmp_path / "model", meta_graph)
    folder = str(tmp_path / "model")
    for arguments in (
        ["graph", folder],
        ["graph", folder, "--signature", "no"],
        ["graph", folder, "--tags", "no"],
    ):
        run_command(cli, arguments)
        for text in capfd.readouterr():
            check_shown(text)
    check_shown(_error(lambda: load_saved_model(folder).signature("none")))
    check_shown(_error(lambda: load_saved_model(folder, tags=["none"])))


@pytest.mark.parametrize("name", ["inject.tflite", "inject_custom.tflite", "inject.pb", "inject2.pb"])
def test_files_that_injected(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = HOSTILE / name
    if not path.exists():
        pytest.skip("no ../shared/hostile beside the repository")
    if path.suffix == ".pb":
        runs = [
            ["graph", str(path), *more] for more in ([], ["--dot"], ["--svg"], ["--text"], ["--to-pbtxt"])
        ]
    else:
        runs = [["inspect", str(path), "--tensors", "--nodes"], ["run", str(path)]]
    for arguments in runs:
        run_command(cli, arguments)
        for text in capfd.readouterr():
            check_shown(text)
            assert "<script" not in text or "--svg" not in arguments


def test_what_is_escaped() -> None:
    assert shown("naïve 名前 😀 a\\b") == "naïve 名前 😀 a\\b"
    assert shown("a\x1b[0m\nb\t\u202e\udcff\x85") == r"a\x1b[0m\nb\t\u202e\udcff\x85"
    assert shown_lines("a\x1b\n\tb\r") == "a\\x1b\n\tb\\r"
    assert shown(7) == "7"
