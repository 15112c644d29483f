"""Tables of windows: what they hold, and who shares them."""

from __future__ import annotations

import gc
import weakref

import pytest
from numlite.kernels.contraction.geometry import ConvGeometry, window_table


def geometry(**others: int) -> ConvGeometry:
    sizes = {"in_height": 5, "in_width": 7, "in_depth": 4, "out_height": 3, "out_width": 4}
    sizes |= {"filter_height": 3, "filter_width": 2, "filter_depth": 4, "out_depth": 8, "batch": 2}
    return ConvGeometry(**{**sizes, "stride_h": 2, "stride_w": 2, "pad_top": 1, **others})


def by_definition(g: ConvGeometry) -> list[list[int]]:
    table = []
    for h in range(g.out_height):
        for w in range(g.out_width):
            taps = []
            for kh in range(g.filter_height):
                for kw in range(g.filter_width):
                    y = h * g.stride_h + kh * g.dilation_h - g.pad_top
                    x = w * g.stride_w + kw * g.dilation_w - g.pad_left
                    inside = 0 <= y < g.in_height and 0 <= x < g.in_width
                    taps.append((y * g.in_width + x) * g.in_depth if inside else -1)
            table.append(taps)
    return table


CHANGES = [
    *({name: 1} for name in ("stride_h", "stride_w", "pad_left")),
    *({name: 2} for name in ("dilation_h", "dilation_w", "pad_top", "out_height", "out_width")),
    *({name: 6} for name in ("in_height", "in_width", "in_depth")),
    *({name: 1} for name in ("filter_height", "filter_width")),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_other_windows_have_another_table(change: dict[str, int]) -> None:
    first, other = window_table(geometry()), window_table(geometry(**change))
    assert first.tolist() == by_definition(geometry())
    assert other is not first and other.tolist() == by_definition(geometry(**change))


@pytest.mark.parametrize("name", ["batch", "out_depth", "filter_depth", "groups"])
def test_the_same_windows_share_a_table_as_long_as_it_is_used(name: str) -> None:
    table = window_table(geometry())
    assert window_table(geometry(**{name: 3})) is table
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 0
    kept = weakref.ref(table)
    del table
    gc.collect()
    assert kept() is None
