"""Assert, CheckNumerics and Print."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.environment import Environment
from numlite.kernels.fallback.node_runner import NodeRunner
from numlite.kernels.fallback.status import InvalidArgumentError
from numlite.lite.errors import UnsupportedError

from .nodes import node, run, strings


def test_assert_shows_the_data() -> None:
    data = [strings(b"x must be less, got"), np.arange(5, dtype=np.int32)]
    attributes = {"T": "list(type)$string,i32"}
    assert run("Assert", [np.array(True), *data], **attributes) == []
    with pytest.raises(InvalidArgumentError, match=r"\[x must be less, got\] \[0 1 2\.\.\.\]"):
        run("Assert", [np.array(False), *data], **attributes)


@pytest.mark.parametrize("kind", ["f16", "f32", "f64", "bf16"])
@pytest.mark.parametrize(
    ("op", "expected"),
    [("CheckNumerics", "m : Tensor had Inf and NaN values"), ("CheckNumericsV2", "-Inf and NaN values")],
)
def test_check_numerics(op: str, expected: str, kind: str) -> None:
    import ml_dtypes

    dtype = {"f16": "f2", "f32": "f4", "f64": "f8", "bf16": ml_dtypes.bfloat16}[kind]
    good = np.array([1, 2], dtype)
    np.testing.assert_array_equal(run(op, [good], T=kind, message="string$m")[0], good)
    with pytest.raises(InvalidArgumentError, match=expected):
        run(op, [np.array([1, -np.inf, np.nan], dtype)], T=kind, message="string$m")


def test_print_writes_a_few_times(capsys: pytest.CaptureFixture[str]) -> None:
    attributes = {"T": "f32", "U": "list(type)$i32,string", "message": "string$got ", "first_n": "i32$2"}
    runner = NodeRunner(node("Print", **attributes, summarize="i32$1"))
    inputs = [np.float32(3), np.arange(2, dtype=np.int32), strings([b"a"])]
    found = [runner(inputs, Environment())[0] for _ in range(3)]
    assert found == [3, 3, 3]
    assert capsys.readouterr().err == "got [0...][a]\n" * 2


def test_print_v2(capsys: pytest.CaptureFixture[str]) -> None:
    run("PrintV2", [strings(b"out")], output_stream="string$stdout", end="string$!")
    run("PrintV2", [strings(b"log")], output_stream="string$log(info)")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("out!", "log\n")
    with pytest.raises(UnsupportedError, match="output_stream must be"):
        run("PrintV2", [strings(b"log")], output_stream="string$file:///tmp/log")
