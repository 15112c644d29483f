"""What PyTorch computes is what numlite computes, where it is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numlite.benchmarks.gpu.networks import NETWORKS, Size, model_file
from numlite.interpreter import Interpreter

_IMAGES = np.random.default_rng(4).standard_normal((2, 32, 32, 3)).astype(np.float32)


@pytest.mark.parametrize("name", NETWORKS)
def test_torch_computes_the_same(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from numlite.benchmarks.gpu.torch_programs import TorchNetwork

    model = model_file(str(tmp_path), name, "tf32", Size(32, 0.5, 2, 40))
    interpreter = Interpreter(model_path=str(model))
    (detail,) = interpreter.get_input_details()
    interpreter.resize_tensor_input(detail["index"], _IMAGES.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(detail["index"], _IMAGES)
    interpreter.invoke()
    expected = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    with torch.no_grad():
        got = TorchNetwork(model).eval()(torch.from_numpy(_IMAGES).permute(0, 3, 1, 2)).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-4)
