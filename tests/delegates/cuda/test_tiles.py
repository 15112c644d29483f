"""Tiles and splits that are chosen for the layers of three networks, and for odd sizes."""

from __future__ import annotations

import pytest
from numlite.delegates.cuda.launch import ELEMENT_BYTES
from numlite.delegates.cuda.tiles import PROCESSORS, Choice, Product, choose, clocks, ranked

SHARED_BYTES = 227 << 10
# (rows of one image, columns, depth, taps) of MobileNetV2, ResNet50 and EfficientNet-Lite0.
LAYERS = {
    "expand": (56 * 56, 144, 24, 1),
    "expand-late": (7 * 7, 960, 160, 1),
    "project": (56 * 56, 24, 144, 1),
    "project-late": (7 * 7, 320, 1152, 1),
    "last": (7 * 7, 1280, 320, 1),
    "classes": (1, 1000, 2048, 1),
    "image": (112 * 112, 64, 160, 1),
    "resnet-3x3": (56 * 56, 64, 64, 9),
    "resnet-3x3-late": (7 * 7, 512, 512, 9),
    "resnet-1x1": (14 * 14, 1024, 256, 1),
    "lite0-5x5": (14 * 14, 112, 672, 1),
}
TYPES = ("i8", "bf16", "fp32")


def product(name: str, batch: int, element: str, **options: bool) -> Product:
    rows, columns, depth, taps = LAYERS[name]
    return Product(rows * batch, columns, depth, taps, 1, element, **options)


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("batch", (1, 32, 256))
@pytest.mark.parametrize("name", LAYERS)
def test_choice_serves(name: str, batch: int, element: str) -> None:
    """It fits in shared memory, its parts are not empty, and no other has a smaller estimate."""
    p = product(name, batch, element, may_split=True)
    chosen = choose(p)
    tile = chosen.tile
    nbytes = ELEMENT_BYTES[element]
    assert tile.stages * (tile.rows + tile.columns) * tile.depth * nbytes <= SHARED_BYTES
    assert tile.rows * tile.columns <= 64 * 32 * tile.warps  # what follows the sums is not light
    steps = p.steps(tile.depth)
    assert (chosen.splits - 1) * -(-steps // chosen.splits) < steps
    assert clocks(p, chosen) == min(clocks(p, choice) for choice in ranked(p))


@pytest.mark.parametrize("element", TYPES)
def test_large_batches_take_large_tiles(element: str) -> None:
    for name in ("resnet-1x1", "resnet-3x3"):
        tile, splits = choose(product(name, 256, element, may_split=True))
        assert tile.rows >= 128 and tile.columns >= 64 and splits == 1


@pytest.mark.parametrize("element", TYPES)
def test_few_rows_take_low_tiles(element: str) -> None:
    tile, _ = choose(product("classes", 1, element, may_split=True))
    assert tile.rows == 16


@pytest.mark.parametrize("element", TYPES)
def test_deep_sums_of_few_outputs_are_split(element: str) -> None:
    """One image of 7x7 pixels and 4608 terms leaves most processors idle unless its sums are split."""
    p = product("resnet-3x3-late", 1, element, may_split=True)
    chosen = choose(p)
    assert chosen.splits > 1
    assert chosen.splits * p.tiles(chosen.tile) >= PROCESSORS // 2
    assert choose(p._replace(may_split=False)).splits == 1


def test_shallow_products_are_not_padded() -> None:
    """A depth of 24 is one step of 32; the next power of two is all that is wasted."""
    assert choose(product("expand", 256, "i8")).tile.depth == 32


def test_light_products_may_have_more_sums_to_a_thread() -> None:
    heavy = {choice.tile for choice in ranked(product("resnet-1x1", 32, "i8"))}
    light = {choice.tile for choice in ranked(product("resnet-1x1", 32, "i8", is_light=True))}
    assert heavy < light
    assert max(tile.rows * tile.columns // tile.warps for tile in light - heavy) > 64 * 32


@pytest.mark.parametrize("rows, columns, depth", ((1, 1, 1), (1, 1, 5000), (3, 7, 17), (10**6, 1, 1)))
def test_odd_sizes(rows: int, columns: int, depth: int) -> None:
    for element in TYPES:
        choice = choose(Product(rows, columns, depth, 1, 1, element, may_split=True))
        assert isinstance(choice, Choice) and choice.splits >= 1
