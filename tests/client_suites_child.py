"""Runs files of a client's suite in this process, with one of two interpreters, and notes what each test did.

    python tests/client_suites_child.py numlite notes.jsonl folder file ...

client_suites.py starts it; tests that the notes know already are not run again.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CHARACTERS = 2000  # of a failure's text that are noted


class Notes:
    """A pytest plugin: a line when a test starts, and one when it has ended."""

    def __init__(self, path: Path) -> None:
        self.known = {json.loads(line)["test"] for line in path.read_text().splitlines()}
        self._file = path.open("a")

    def _note(self, test: str, outcome: str, text: str = "") -> None:
        print(json.dumps({"test": test, "outcome": outcome, "text": text}), file=self._file, flush=True)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid not in self.known]

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and report.nodeid not in self.known:
            self._note(report.nodeid, "failed", report.longreprtext[-CHARACTERS:])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._note(nodeid, "crashed")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or not report.passed:
            self._note(report.nodeid, report.outcome, report.longreprtext[-CHARACTERS:])


def interpreter_module(name: str) -> ModuleType:
    """LiteRT's interpreter, or numlite's put in its place; both count by LiteRT's metrics."""
    package = importlib.import_module("ai_edge_litert")
    if name == "litert":
        return importlib.import_module("ai_edge_litert.interpreter")
    module = importlib.import_module("numlite.interpreter")
    module.metrics = importlib.import_module("ai_edge_litert.metrics_portable")  # type: ignore[attr-defined]
    sys.modules["ai_edge_litert.interpreter"] = module
    package.interpreter = module  # type: ignore[attr-defined]
    return module


def stand_in(name: str, **attributes: Any) -> ModuleType:
    """A module of that name with these attributes; its parents are made where they are missing."""
    parent, _, leaf = name.rpartition(".")
    module = sys.modules.setdefault(name, ModuleType(name))
    module.__path__ = []
    vars(module).update(attributes)
    if parent:
        setattr(stand_in(parent), leaf, module)
    return module


def install_tflite(interpreter: ModuleType, folder: Path) -> None:
    """What LiteRT's tests import from its source tree: the interpreter under test, TensorFlow's converter.

    The registerer is Python's; the symbol of the C++ one is nowhere to be found.
    """
    import tensorflow as tf
    from tensorflow.lite.python import convert

    calls: list[object] = []

    def get_num_test_registerer_calls() -> int:
        count = len(calls)
        calls.clear()
        return count

    stand_in("tflite.python", interpreter=interpreter, convert=convert)
    stand_in("tflite.python.metrics", metrics=interpreter.metrics)
    sys.modules["tflite.python.metrics.metrics"] = interpreter.metrics
    stand_in(
        "tflite.python.lite",
        Interpreter=interpreter.Interpreter,
        TFLiteConverterV2=tf.lite.TFLiteConverter,
        Optimize=tf.lite.Optimize,
        OpsSet=tf.lite.OpsSet,
        RepresentativeDataset=tf.lite.RepresentativeDataset,
    )
    stand_in(
        "tflite.python.testdata._pywrap_test_registerer",
        TF_TestRegisterer=calls.append,
        get_num_test_registerer_calls=get_num_test_registerer_calls,
    )
    sys.modules["tflite.python.interpreter"] = interpreter
    sys.modules["tflite.python.convert"] = convert
    debugging = folder / "tflite" / "tools" / "optimize" / "debugging" / "python"
    stand_in("tflite.tools.optimize.debugging.python").__path__ = [str(debugging)]


def main() -> int:
    name, notes, folder, *files = sys.argv[1:]
    sys.path[0] = folder  # not this file's, whose folders have names of their own
    interpreter = interpreter_module(name)
    if (Path(folder) / "tflite").is_dir():
        install_tflite(interpreter, Path(folder))
    settings = Path(notes).with_suffix(".ini")
    settings.write_text("[pytest]\n")
    options = ["-q", "--tb=short", "--import-mode=importlib", "-p", "no:cacheprovider", "-c", str(settings)]
    options += ["--continue-on-collection-errors", "--rootdir", folder]
    return pytest.main([*options, *files], plugins=[Notes(Path(notes))])


if __name__ == "__main__":
    sys.exit(main())
