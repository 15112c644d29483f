"""Kernels of a plugin run graphs. All of it in one process of its own for each test."""

from __future__ import annotations

import subprocess
import sys

from ...optimizers.c_plugins import compiled

_PRELUDE = """
import gc, sys, threading
import numpy as np
from google.protobuf import text_format
from numlite.converter import GraphRunner, run_graph
from numlite.kernels.plugin.shim import shim
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import GraphDef

PATH = sys.argv[1]
X = np.arange(-3, 3, dtype=np.float32).reshape(2, 3)

def graph(op="TestScale", type="DT_FLOAT", **attributes):
    attributes = {"T": f"type: {type}", **attributes}
    texts = [f'attr {{ key: "{name}" value {{ {value} }} }}' for name, value in attributes.items()]
    text = '''node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: %s } } }
    node { name: "y" op: "%s" input: "x" %s }''' % (type, op, " ".join(texts))
    return text_format.Parse(text, GraphDef())

def run(x=X, prefer=False, **attributes):
    return run_graph(graph(**attributes), {"x": x}, ["y"], plugins=[PATH], prefer_plugin_kernels=prefer)[0]

def fails(**attributes):
    try:
        run(**attributes)
    except Exception as error:
        return f"{type(error).__name__} {getattr(error, 'code', '')} {error}"
    return "none"
"""


def done(code: str) -> tuple[str, str]:
    """stdout and stderr of the code; it must end well."""
    path = compiled("scales")
    process = subprocess.run(
        [sys.executable, "-c", _PRELUDE + code, path], capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr
    return process.stdout, process.stderr


def test_outputs_however_they_are_made() -> None:
    done(
        """
for mode in (0, 1, 2, 7, 8):
    for x in (X, X[:, ::2], X[0, 0], np.zeros((0, 4), np.float32), X.T, np.broadcast_to(X[0], (5, 3))):
        before = np.array(x)
        got = run(x, mode=f"i: {mode}", factor="f: 3")
        assert np.array_equal(got, x * 3) and got.shape == x.shape and got.dtype == np.float32, (mode, x, got)
        assert np.array_equal(x, before)
"""
    )


def test_shapes_change_from_run_to_run() -> None:
    """What a kernel was prepared for by the run before does not show in the next one."""
    done(
        """
kept = []
for mode in (0, 1, 2, 8):
    runner = GraphRunner(graph(mode=f"i: {mode}", factor="f: 2"), plugins=[PATH])
    for shape in ((2, 3), (2, 3), (3, 2), (6,), (0, 3), (0, 3), (), (1,) * 9, (1,) * 9, (40, 50), (2, 3)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        [y] = runner.run({"x": x}, ["y"])
        assert np.array_equal(y, x * 2) and y.shape == shape, (mode, shape, y)
        kept.append((x, y))
gc.collect()
assert all(np.array_equal(y, x * 2) for x, y in kept)  # nobody has written to what was given
assert not any(shim().live().values()), shim().live()
"""
    )


def test_a_fed_array_that_cannot_be_written_may_change() -> None:
    """A view of it is no constant: it is copied anew for each run."""
    done(
        """
memory = np.zeros(7, np.float32)
view = memory[1:]
view.flags.writeable = False
runner = GraphRunner(graph(factor="f: 2"), plugins=[PATH])
for value in (1, 2, 3):
    memory[:] = value
    assert np.array_equal(runner.run({"x": view}, ["y"])[0], np.full(6, 2 * value, np.float32))
"""
    )


def test_what_goes_wrong_is_an_error_of_the_node() -> None:
    done(
        """
cases = {3: "FailedPreconditionError 9", 4: "InternalError 13", 5: "OutOfRangeError 11"}
cases |= {6: "InvalidArgumentError 3", -1: "InvalidArgumentError 3"}
for mode, text in cases.items():
    found = fails(mode=f"i: {mode}")
    assert found.startswith(text), found
    assert "'y'" in found, found
assert "mode must not be negative" in fails(mode="i: -1")
assert "not today" in fails(mode="i: 3")
text = fails(x=np.array([b"a"], object), type="DT_STRING")
assert text.startswith("UnsupportedError") and "tensors must hold numbers, got string" in text, text
assert "no fallback kernel takes the types" in fails(x=X.astype(np.float64), type="DT_DOUBLE")
"""
    )


def test_tensorflows_ops_run_by_a_plugin_only_if_asked() -> None:
    done(
        """
assert np.array_equal(run(op="Relu"), np.maximum(X, 0))
assert np.array_equal(run(op="Relu", prefer=True), X * 0)
assert np.array_equal(run_graph(graph(op="Relu"), {"x": X}, ["y"])[0], np.maximum(X, 0))
try:
    run_graph(graph(), {"x": X}, ["y"])
except UnsupportedError as error:
    assert "TestScale" in str(error)
else:
    raise AssertionError("the op is the plugin's")
"""
    )


def test_attributes_are_read() -> None:
    _, said = done("run(op='TestAsk')")
    assert said.splitlines() == [
        *("name y", "s -1 4 code 0", "ss 2 4 code 0", "is 3 -1 code 0", "none 0 0 code 0", "t -1 -1 code 0"),
        *("shape -1 2 code 0", "b -1 -1 code 0", "missing 77 77 code 5", "s text", "ss a bcd"),
        *("small storage 3", "is 5 -6 7", "T 1", "b 1", "b of s 3", "t 1 2 2.5", "shape 3 -1", "has 1 0"),
    ]


def test_nothing_is_left_and_state_is_deleted() -> None:
    _, said = done(
        """
import os
os.environ["TEST_SAY"] = "1"
for mode in (0, 1, 2, 3, 8):
    fails(mode=f"i: {mode}", factor="f: 4")
gc.collect()
assert not any(shim().live().values()), shim().live()
run(mode="i: 7", factor="f: 5")  # keeps its first input as long as it has a state
gc.collect()
assert not any(shim().live().values()), shim().live()
"""
    )
    assert said.split("\n")[:-1] == ["deleted 4"] * 5 + ["deleted 5"]


def test_one_kernel_serves_several_threads() -> None:
    done(
        """
runner = GraphRunner(graph(factor="f: 2"), plugins=[PATH])
wrong = []
def work(number):
    x = np.full((50, 7), number, np.float32)
    for _ in range(50):
        if not np.array_equal(runner.run({"x": x}, ["y"])[0], x * 2):
            wrong.append(number)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for each in threads: each.start()
for each in threads: each.join()
assert not wrong
assert not any(shim().live().values()), shim().live()
"""
    )
