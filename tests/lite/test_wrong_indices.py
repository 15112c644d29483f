"""Subgraphs that name tensors which they do not have: the file is opened, and what needs them is not run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numlite.cli.main import cli
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError
from numlite.lite.strict_check import model_findings
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from ..small_models import Op

WRONG = {
    "node input": ("operators", "inputs", [99], "operator 0: inputs", "node 0: inputs"),
    "node input below -1": ("operators", "inputs", [-7], "operator 0: inputs", "node 0: inputs"),
    "node output": ("operators", "outputs", [99], "operator 0: outputs", "node 0: outputs"),
    "node output -1": ("operators", "outputs", [-1], "operator 0: outputs", "node 0: outputs"),
    "input": ("", "inputs", [99], "inputs", "inputs"),
    "input below 0": ("", "inputs", [-1], "inputs", "inputs"),
    "output": ("", "outputs", [1, 99], "outputs", "outputs"),
    "output below 0": ("", "outputs", [-7], "outputs", "outputs"),
}


def model(place: int, wrong: str, called: bool = False) -> bytes:
    """NEG, or an IF that calls the other subgraphs, which are ABS; the subgraph of that place is wrong."""
    builder = ModelBuilder()
    others = [builder.add_subgraph(name) for name in ("second", "third")]
    for part in (builder, *others):
        x, y = part.tensor([2], name="x"), part.tensor([2], name="y")
        if part is builder and called:
            always = part.constant(np.array(True))
            part.op(Op.IF, [always, x], [y], tflite.IfOptionsT(then_subgraph_index=1, else_subgraph_index=2))
        else:
            part.op(Op.NEG if part is builder else Op.ABS, [x], [y])
        part.finish([x], [y])
    table, field, value, *_ = WRONG[wrong]
    graph = builder.model.subgraphs[place]
    setattr(graph.operators[0] if table else graph, field, value)
    return tflite.pack(builder.model)


def fault(wrong: str) -> str:
    *_, value, _, where = WRONG[wrong]
    return f"{where} name tensor {value[-1]}, the subgraph has 2"


@pytest.mark.parametrize("wrong", WRONG)
def test_what_nothing_uses_keeps_no_model_from_running(wrong: str) -> None:
    interpreter = Interpreter(model_content=model(1, wrong))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.float32([1, -2]))
    interpreter.invoke()
    assert interpreter.get_tensor(1).tolist() == [-1, 2]
    assert len(interpreter.get_tensor_details(1)) == 2


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_run_is_refused(wrong: str) -> None:
    interpreter = Interpreter(model_content=model(0, wrong))
    with pytest.raises(ModelError, match=rf"subgraph 0 'main': {fault(wrong)}"):
        interpreter.allocate_tensors()
    interpreter = Interpreter(model_content=model(1, wrong, called=True))
    expected = rf"subgraph 1 'second': {fault(wrong)}|branch 0 subgraph 1 must have 1 inputs and 1 outputs"
    with pytest.raises((ModelError, RuntimeError), match=expected):
        interpreter.allocate_tensors()


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("place", [0, 1])
def test_people_are_told(place: int, wrong: str, tmp_path: Path) -> None:
    content = model(place, wrong)
    table, _, value, where, _ = WRONG[wrong]
    finding = f"subgraph {place}{', ' if table else ': '}{where} name tensor {value[-1]}, the subgraph has 2"
    assert finding in model_findings(content)
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    strict = CliRunner().invoke(cli, ["inspect", "--strict", str(path)])
    assert finding in " ".join(strict.output.split())
    shown = CliRunner().invoke(cli, ["inspect", "--nodes", "--tensors", str(path)])
    assert shown.exit_code == 0, shown.output


def test_scales_that_are_no_tensor_are_none() -> None:
    builder = ModelBuilder()
    x, y = builder.tensor([2], name="x"), builder.tensor([2], name="y")
    builder.op(Op.NEG, [x], [y])
    blocks = tflite.BlockwiseQuantizationT(scales=99, zero_points=-1, block_size=2)
    builder.subgraph.tensors[y].quantization = tflite.QuantizationParametersT(details=blocks)
    content = builder.build([x], [y])
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.float32([1, -2]))
    interpreter.invoke()
    assert interpreter.get_tensor(1).tolist() == [-1, 2]
    assert model_findings(content) == [
        "subgraph 0, tensor 1: BlockwiseQuantization names tensor 99, the subgraph has 2"
    ]
