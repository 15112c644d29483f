"""drawn_range: how often values occurred, and which of them integers stand for, as a small picture."""

from __future__ import annotations

from collections.abc import Sequence

from ...schema.page import Markup

_WIDTH, _HEIGHT = 120, 32
_FILL = "#68a"


def drawn_range(bars: Sequence[int], ends: tuple[float, float], clip: tuple[float, float] | None) -> Markup:
    """An SVG: a bar for each equal part between ends, and lines at the ends of the range of integers (clip).

    Bars have the square root of what was counted as their height, so that rare values are seen, too.
    """
    low, high = min(ends[0], *(clip or ends)), max(ends[1], *(clip or ends))
    unit = _WIDTH / (high - low) if high > low else 0.0
    begin, width = (ends[0] - low) * unit, (ends[1] - ends[0]) * unit / len(bars)
    most = max(bars) or 1
    drawn = [
        _rectangle(begin + i * width, width, (count / most) ** 0.5 * _HEIGHT)
        for i, count in enumerate(bars)
        if count
    ]
    lines = [_line((end - low) * unit) for end in clip or ()]
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="-1 0 {_WIDTH + 2} {_HEIGHT}"'
    return Markup(f"<svg {size}>{''.join([*drawn, *lines])}</svg>")


def _rectangle(x: float, width: float, height: float) -> str:
    size = f'width="{max(width, 1.0):.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{_HEIGHT - height:.1f}" {size} fill="{_FILL}"/>'


def _line(x: float) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{_HEIGHT}" stroke="#c33"/>'
