"""Integer models beside TensorFlow's of the same nets and samples: scales, zero points, weights, outputs."""

from pathlib import Path

import numpy as np
import pytest
from numlite.converter.quantization.rewrite import Ends
from numlite.converter.quantization.scheme import ACTIVATIONS
from numlite.lite.model import Model
from numlite.schema import tflite

from ..shared_files import SHARED
from .float_models import operators, outputs, quantized

NETS = SHARED / "convert" / "quant"
SAME = ("autoenc", "cnn_bn", "dscnn", "hswish_se", "mlp_cls", "mlp_wide")
pytestmark = pytest.mark.skipif(not NETS.is_dir(), reason="needs ../shared/convert/quant")
Values = tuple[str, int, np.ndarray, np.ndarray, np.ndarray | None]


def made(net: str, bits: int, **options: object) -> bytes:
    content = (NETS / net / "float.tflite").read_bytes()
    data = np.load(NETS / net / "data.npz")["rep"].astype(np.float32)
    shape = Model(content).root.subgraphs[0].tensors[0].shape
    integers = ACTIVATIONS[bits]
    samples = [[sample.reshape(shape)] for sample in data]
    return quantized(content, samples, bits, ends=Ends(integers, integers), **options)


def tensors(content: bytes) -> list[Values]:
    """Results and constants of each operator: name, type, scales, zero points, data."""
    model = tflite.unpack(tflite.read(content))
    (graph,) = model.subgraphs
    found = []
    for operator, name in zip(graph.operators, operators(content), strict=True):
        for t in (*operator.outputs, *operator.inputs[1:]):
            tensor = graph.tensors[t]
            if tensor.quantization is not None and tensor.quantization.scale is not None:
                data = model.buffers[tensor.buffer].data
                scales = (np.asarray(tensor.quantization.scale), np.asarray(tensor.quantization.zero_point))
                found.append((name, tensor.type, *scales, None if data is None else np.asarray(data)))
    return found


@pytest.mark.parametrize("mode", ["int8", "int8_pertensor"])
@pytest.mark.parametrize("net", SAME)
def test_scales_zero_points_and_weights_are_tensorflows(net: str, mode: str) -> None:
    mine = tensors(made(net, 8, per_channel=mode == "int8"))
    theirs = tensors((NETS / net / f"{mode}.tflite").read_bytes())
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert a[:2] == b[:2]
        np.testing.assert_allclose(a[2], b[2], rtol=1e-6)
        np.testing.assert_array_equal(a[3], b[3])
        assert (a[4] is None) == (b[4] is None)
        if a[4] is not None:
            np.testing.assert_array_equal(a[4], b[4])


def test_what_additions_overwrite_has_a_narrower_range_than_tensorflow_saw() -> None:
    mine, theirs = tensors(made("resnet8", 8)), tensors((NETS / "resnet8" / "int8.tflite").read_bytes())
    ratios = np.array([float(a[2][0] / b[2][0]) for a, b in zip(mine, theirs, strict=True) if a[4] is None])
    assert np.sum(np.abs(ratios - 1) > 1e-6) == 2
    assert ratios.min() < 0.7
    assert ratios.max() <= 1 + 1e-6


def sqnr(content: bytes, folder: Path, maker: type) -> float:
    real = np.load(folder / "outputs.npz")["tf_float"]
    data = np.load(folder / "data.npz")["x"].astype(np.float32)
    shape = Model(content).root.subgraphs[0].tensors[0].shape
    found = np.stack([outputs(content, [x.reshape(shape)], maker)[0].reshape(-1) for x in data])
    error = real.reshape(found.shape).astype(np.float64) - found
    return float(10 * np.log10(np.sum(real.astype(np.float64) ** 2) / np.sum(error**2)))


@pytest.mark.parametrize("mode", ["int8", "int16x8"])
@pytest.mark.parametrize("net", [*SAME, "resnet8"])
def test_models_are_no_worse_no_larger_and_no_longer_than_tensorflows(net: str, mode: str) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter").Interpreter
    mine = made(net, 16 if mode == "int16x8" else 8)
    path = NETS / net / f"{mode}.tflite"
    if not path.exists():  # TensorFlow refuses HARD_SWISH in int16
        assert (net, mode) == ("hswish_se", "int16x8")
        assert sqnr(mine, NETS / net, litert) > 50
        return
    theirs = path.read_bytes()
    assert sqnr(mine, NETS / net, litert) >= sqnr(theirs, NETS / net, litert) - 0.3
    assert len(mine) <= len(theirs)
    assert len(operators(mine)) <= len(operators(theirs))
