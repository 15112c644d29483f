"""The goals of quantization, and which of them measured nets meet: `benchmarks/quantization.py --goals`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from numlite.converter.quantization.model_editor import ModelEditor
from numlite.lite.model import Model
from numlite.lite.tensor import TensorType

PLAIN, BETTER, ENDS = "int8, min-max", "int8", "int8, float ends"
SINGLE, WIDE = "int8 per tensor", "int16x8"
# What the last bits of float sums in another order make, in dB.
_NOISE = 0.1


class Found(NamedTuple):
    """A quantized model: bytes, operators, SQNR of its outputs in dB (None: it does not run), and the share
    of them with the float model's largest value at the same place (None: they are no classes)."""

    size: int
    operators: int = 0
    sqnr: float | None = None
    agreement: float | None = None


class Row(NamedTuple):
    """A net in a scheme: ours, TensorFlow's (None: it made none), whether numlite gives LiteRT's bytes, the
    share of int8 weights that are TensorFlow's (None: they are not compared), how many tensors are floats."""

    net: str
    scheme: str
    ours: Found
    theirs: Found | None
    is_equal: bool
    weights: float | None
    floats: int

    @property
    def gain(self) -> float | None:
        """What ours is nearer, in dB."""
        there = self.theirs is not None and self.theirs.sqnr is not None and self.ours.sqnr is not None
        return self.ours.sqnr - self.theirs.sqnr if there else None  # type: ignore[operator,union-attr]


def operator_count(content: bytes) -> int:
    return sum(len(subgraph.operators) for subgraph in Model(content).root.subgraphs)


def float_count(content: bytes) -> int:
    """How many tensors of a model are floats."""
    editor = ModelEditor(Model(content))
    return sum(t.type == TensorType.FLOAT32 for graph in editor.subgraphs for t in graph.tensors or [])


def goals(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each goal that these rows say something about: what was found, and met or not."""
    yield "| goal | found | |"
    yield "|---|---|---|"
    for goal, scheme, judge in _GOALS:
        chosen = [row for row in rows if scheme in ("", row.scheme)]
        found = judge(chosen) if chosen else None
        if found is not None:
            yield f"| {goal} | {found[0]} | {'met' if found[1] else 'NOT met'} |"


Judgement = tuple[str, bool] | None


def _at_least(less: float) -> Callable[[Sequence[Row]], Judgement]:
    """Whether no net is so much below TensorFlow."""

    def judge(rows: Sequence[Row]) -> Judgement:
        gains = {row.net: row.gain for row in rows if row.gain is not None}
        below = {net: gain for net, gain in gains.items() if gain < -less}
        return (f"{len(gains) - len(below)} of {len(gains)}{_named(below)}", not below) if gains else None

    return judge


def _median(rows: Sequence[Row]) -> Judgement:
    gains = [row.gain for row in rows if row.gain is not None]
    return (f"{median(gains):+.1f} dB", median(gains) >= 2) if gains else None


def _converts(rows: Sequence[Row]) -> Judgement:
    run = sum(row.ours.sqnr is not None for row in rows)
    theirs = sum(row.theirs is not None and row.theirs.sqnr is not None for row in rows)
    return f"{run} of {len(rows)} (TensorFlow {theirs})", run == len(rows)


def _agrees(rows: Sequence[Row]) -> Judgement:
    shares = [row for row in rows if row.ours.agreement is not None]
    low = {row.net: row.ours.agreement for row in shares if row.ours.agreement < 0.99}  # type: ignore[operator]
    beside = {row.net: row.theirs.agreement for row in shares if row.net in low and row.theirs is not None}
    behind = f"; TensorFlow's there{_named(beside)}" if low else ""
    return (f"{len(shares) - len(low)} of {len(shares)}{_named(low)}{behind}", not low) if shares else None


def _agrees_as_much(rows: Sequence[Row]) -> Judgement:
    pairs = [
        (row.net, row.ours.agreement - row.theirs.agreement)
        for row in rows
        if row.theirs and row.ours.agreement is not None and row.theirs.agreement is not None
    ]
    below = {net: gain for net, gain in pairs if gain < 0}
    return (f"{len(pairs) - len(below)} of {len(pairs)}{_named(below)}", not below) if pairs else None


def _no_more(what: str) -> Callable[[Sequence[Row]], Judgement]:
    """Whether no model has more bytes, or operators, than TensorFlow's."""

    def judge(rows: Sequence[Row]) -> Judgement:
        pairs = [row for row in rows if row.theirs is not None]
        more = [row for row in pairs if getattr(row.ours, what) > getattr(row.theirs, what)]
        named = {f"{r.net} {r.scheme}": getattr(r.ours, what) - getattr(r.theirs, what) for r in more}
        return (f"{len(pairs) - len(more)} of {len(pairs)}{_named(named)}", not more) if pairs else None

    return judge


def _equal(rows: Sequence[Row]) -> Judgement:
    integer = [row for row in rows if row.scheme.startswith("int")]
    other = [f"{row.net} {row.scheme}" for row in integer if not row.is_equal]
    named = f" (not {', '.join(other)})" if other else ""
    return f"{len(integer) - len(other)} of {len(integer)}{named}", not other


def _same_weights(rows: Sequence[Row]) -> Judgement:
    shares = [row.weights for row in rows if row.weights is not None]
    return (f"at least {min(shares):.5f} on {len(shares)} nets", min(shares) >= 0.9999) if shares else None


def _whole(rows: Sequence[Row]) -> Judgement:
    left = {row.net: row.floats for row in rows if row.floats}
    return f"{len(rows) - len(left)} of {len(rows)}{_named(left)}", not left


def _named(found: dict[str, float] | dict[str, float | None] | dict[str, int]) -> str:
    """The nets that are not as they should be, with their figures."""
    return f" (not {', '.join(f'{net} {value:.4g}' for net, value in found.items())})" if found else ""


_GOALS: tuple[tuple[str, str, Callable[[Sequence[Row]], Judgement]], ...] = (
    ("min-max int8: int8 weights equal to TensorFlow's, 99.99 %", PLAIN, _same_weights),
    ("min-max int8: SQNR at most 0.3 dB below TensorFlow's", PLAIN, _at_least(0.3)),
    ("int8 with improvements, int8 ends: median 2 dB above TensorFlow's", BETTER, _median),
    ("int8 with improvements, int8 ends: none below TensorFlow's", BETTER, _at_least(_NOISE)),
    ("int8 with improvements, float ends: median 2 dB above TensorFlow's", ENDS, _median),
    ("int8 with improvements, float ends: none below TensorFlow's", ENDS, _at_least(_NOISE)),
    ("int8 per tensor: SQNR of TensorFlow's on every net", SINGLE, _at_least(_NOISE)),
    ("int16x8: all convert and run", WIDE, _converts),
    ("int16x8: SQNR of TensorFlow's", WIDE, _at_least(_NOISE)),
    ("dynamic: SQNR of TensorFlow's", "dynamic", _at_least(_NOISE)),
    ("float16: SQNR of TensorFlow's", "float16", _at_least(_NOISE)),
    ("int8: top-1 agreement with the float model at least 0.99", BETTER, _agrees),
    ("int8: top-1 agreement of TensorFlow's", BETTER, _agrees_as_much),
    ("int8, float ends: top-1 agreement with the float model at least 0.99", ENDS, _agrees),
    ("int8, float ends: top-1 agreement of TensorFlow's", ENDS, _agrees_as_much),
    ("bytes no more than TensorFlow's, all schemes", "", _no_more("size")),
    ("operators no more than TensorFlow's, all schemes", "", _no_more("operators")),
    ("integer activations: numlite's outputs are LiteRT's bytes", "", _equal),
    ("int8 inputs and outputs: no tensor of floats", BETTER, _whole),
)
