"""Images in sizes that are known only when the model runs."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import UnsupportedError

from ...onnx_builder import model, node, value
from ..graphs import checked, operators, run_litert, run_numlite

RANDOM = np.random.default_rng(31)


def random(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_open_sizes_are_made_larger_by_whole_scales(mode: str) -> None:
    attributes = {"mode": mode, "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    made = model(
        [node("Resize", ["x", "", "s"], "y", **attributes)],
        [value("x", ["n", 2, "h", "w"])],
        [value("y", None)],
        {"s": np.array([1, 1, 2, 3], np.float32)},
    )
    runner = Interpreter(model_content=checked(Converter.from_onnx(made).convert())).get_signature_runner()
    for shape in ((1, 2, 4, 3), (3, 2, 1, 5)):
        x = random(*shape)
        found = runner(x=x)["y"]
        assert found.shape == (*shape[:2], 2 * shape[2], 3 * shape[3])
        np.testing.assert_array_equal(found[:, :, ::2, ::3], x)
        if mode == "nearest":
            np.testing.assert_array_equal(found, x.repeat(2, 2).repeat(3, 3))


def test_sizes_of_another_image_are_taken() -> None:
    """Half pixels: of one row or column it is the first that is taken, as ONNX has it."""
    made = model(
        [
            node("Shape", ["like"], "s"),
            node(
                "Resize",
                ["x", "", "", "s"],
                "y",
                mode="linear",
                coordinate_transformation_mode="pytorch_half_pixel",
            ),
        ],
        [value("x", [1, 2, None, None]), value("like", [1, 2, None, None])],
        [value("y", None)],
    )
    runner = Interpreter(model_content=checked(Converter.from_onnx(made).convert())).get_signature_runner()
    x = random(1, 2, 4, 6)
    found = runner(x=x, like=random(1, 2, 2, 1))["y"]
    pairs = (x[:, :, 0::2] + x[:, :, 1::2]) / 2
    np.testing.assert_allclose(found, pairs[..., :1], rtol=1e-6)
    np.testing.assert_array_equal(runner(x=x, like=x)["y"], x)


def test_open_sizes_by_other_scales_are_refused() -> None:
    made = model(
        [node("Resize", ["x", "", "s"], "y", mode="linear")],
        [value("x", [1, 2, None, 4])],
        [value("y", None)],
        {"s": np.array([1, 1, 1.5, 1], np.float32)},
    )
    with pytest.raises(UnsupportedError, match="sizes and what they become must be constant"):
        Converter.from_onnx(made)


PLACES = {
    "asymmetric floor": ((5, 25), (2.48, 0.5), lambda at, k: np.floor(at / k)),
    "half_pixel round_prefer_floor": ((4, 6), (2, 3), lambda at, k: np.ceil((at + 0.5) / k - 1)),
    "half_pixel round_prefer_ceil": ((6, 9), (0.5, 1 / 3), lambda at, k: np.floor((at + 0.5) / k)),
}


@pytest.mark.parametrize("name", PLACES)
def test_sizes_of_the_nearest_elements_are_one_operator_where_it_takes_the_same(name: str) -> None:
    """Scales that leave part of an element (12 of 25 by 0.5) too."""
    old, scales, of = PLACES[name]
    new = [int(size * scale + 1e-6) for size, scale in zip(old, scales, strict=True)]
    transform, mode = name.split()
    attributes = {"mode": "nearest", "coordinate_transformation_mode": transform, "nearest_mode": mode}
    made = model(
        [node("Resize", ["x", "", "s"], "y", **attributes)],
        [value("x", [1, 2, *old])],
        [value("y", None)],
        {"s": np.array([1, 1, *scales], np.float32)},
    )
    content = checked(Converter.from_onnx(made, channels_last=["x", "y"]).convert())
    assert operators(content) == ["RESIZE_NEAREST_NEIGHBOR"], operators(content)
    x = random(1, 2, *old)
    rows, columns = (
        np.clip(of(np.arange(b), np.float32(s)), 0, a - 1).astype(int)
        for a, b, s in zip(old, new, scales, strict=True)
    )
    wanted = x[:, :, rows][:, :, :, columns]
    for [y] in (run_numlite(content, x.transpose(0, 2, 3, 1)), run_litert(content, x.transpose(0, 2, 3, 1))):
        np.testing.assert_array_equal(y.transpose(0, 3, 1, 2), wanted)
