"""Real models compiled ahead of time for a delegate: the same results, and the rest as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.cli.main import cli, run_command
from numlite.delegates import SimpleDelegate, SimpleDelegateKernel, compile_model
from numlite.interpreter import Interpreter
from numlite.lite.model import Model
from numlite.schema import tflite
from numlite.schema.operator_code import builtin_code, operator_name

from ..conftest import SHARED_MODELS
from .graphs import sine_model


class ReshapeKernel(SimpleDelegateKernel):
    """Its program says nothing: the tensors do."""

    def invoke(self, context: Any, node: Any) -> None:
        output = context.output(node, 0)
        (x,) = (t for t in map(context.tensor, node.inputs) if not t.is_constant)
        output.array()[...] = x.array().reshape(output.shape)

    def serialize(self, context: Any, params: Any) -> bytes:
        return b"reshape"

    def load(self, context: Any, node: Any, program: bytes) -> None:
        assert program == b"reshape"


class Reshaping(SimpleDelegate):
    """Takes each RESHAPE and SQUEEZE by itself."""

    def is_node_supported(self, context: Any, node: Any, registration: Any) -> bool:
        return registration.name in ("RESHAPE", "SQUEEZE")

    def create_kernel(self) -> ReshapeKernel:
        return ReshapeKernel()


def outputs(interpreter: Any) -> list[np.ndarray]:
    interpreter.allocate_tensors()
    random = np.random.default_rng(0)
    for detail in interpreter.get_input_details():
        value = random.random(detail["shape"]) * 100
        interpreter.set_tensor(detail["index"], value.astype(detail["dtype"]))
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


@pytest.mark.parametrize("name", ["kws_int8", "resnet8_float", "mobilenet_v1_0.25_128_uint8", "vww_int8"])
def test_real_models(name: str) -> None:
    path = SHARED_MODELS / f"{name}.tflite"
    if not path.exists():
        pytest.skip("no ../shared/models beside the repository")
    delegate = Reshaping()
    delegated = Interpreter(path, experimental_delegates=[delegate])
    result = compile_model(delegated.core, delegate, "reshaping")
    assert result.partitions
    interpreter = Interpreter(model_content=result.content, experimental_delegates=[Reshaping()])
    for plain, with_delegate, run_compiled in zip(
        outputs(Interpreter(path)), outputs(delegated), outputs(interpreter), strict=True
    ):
        np.testing.assert_array_equal(with_delegate, plain)
        np.testing.assert_array_equal(run_compiled, plain)
    before, after = Model.from_path(path), Model(result.content)
    assert after.signatures() == before.signatures() and after.description == before.description
    assert after.metadata().items() >= before.metadata().items()
    kept = {repr(operator.inputs.tolist()) for operator in after.root.subgraphs[0].operators}
    for operator in before.root.subgraphs[0].operators:
        name = operator_name(builtin_code(before.root.operator_codes[operator.opcode_index]))
        assert name in ("RESHAPE", "SQUEEZE") or repr(operator.inputs.tolist()) in kept
    tables = zip(before.root.subgraphs[0].tensors, after.root.subgraphs[0].tensors, strict=True)
    for t, (old, new) in enumerate(tables):
        assert (repr(old), old.name) == (repr(new), new.name)
        data, copied = before.buffer(old.buffer), after.buffer(new.buffer)
        if copied is None:
            assert data is None, t
        else:
            assert np.array_equal(data, copied), t


def test_inspect_of_damaged_metadata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = tflite.unpack(tflite.read(sine_model()))
    tables.buffers.append(tflite.BufferT(data=b"{]"))
    tables.metadata = [tflite.MetadataT(name="numlite_compiled", buffer=len(tables.buffers) - 1)]
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite.pack(tables))
    assert run_command(cli, ["inspect", str(path)]) == 0
    assert "metadata 'numlite_compiled': it must list compilations" in capsys.readouterr().out
