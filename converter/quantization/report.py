"""Report: what became of each operator, what that costs in accuracy, and which operators to look at first."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...lite.model import Model
from ...schema.page import Markup, head, table, text
from .calibrate import Sample
from .float_graph import FloatGraph, Site
from .integer_recipe import Preparation
from .layer_statistics import LayerStatistics, layer_statistics
from .mending import PLAIN
from .model_editor import ModelEditor
from .model_notes import RANDOM_CALIBRATION
from .operator_times import OperatorTimes, operator_times
from .range_drawing import drawn_range
from .scheme import Scheme
from .weight_rewrite import Outcome, scope_of

_SUSPECTS, _BARS = 10, 32
_LEGEND = (
    "SQNR (dB) is that of the operator's result in the quantized model against the float one's; "
    "what lies before has its share. <i>lost</i>: by how much it is below the worst operand's. "
    "<i>RMSE / scale</i>: rounding alone makes 0.289. <i>saturated</i>: the share of values at the ends of "
    "the integers' range, but for zeros. <i>weights</i>: the SQNR of the worst channel. <i>values</i>: how "
    "often they occur in the float model; between the lines is what integers stand for, <i>outside</i> the "
    "rest. "
    "<i>\u00b5s</i>: the median time of the operator alone in numlite on the machine that made this page."
)
_RANDOM = (
    "<p><b>Ranges come from random numbers, as does all that was measured here:</b> "
    "this model is for trying out time and size.</p>"
)
_YES = {True: "yes", False: ""}


@dataclass(frozen=True)
class LayerReport:
    """One operator. What was not measured, or does not apply, is None.

    bars count the float values in equal parts from low to high; clip is the range that integers stand for.
    before_ns and after_ns are the times of the operator in the float model and in the quantized one.
    """

    operation: str
    scope: str
    scheme: str
    reason: str
    type: str | None = None
    scale: float | None = None
    zero_point: int | None = None
    low: float | None = None
    high: float | None = None
    saturated: float | None = None
    rmse_per_scale: float | None = None
    weights_db: float | None = None
    sqnr_db: float | None = None
    lost_db: float | None = None
    bars: list[int] | None = None
    clip: tuple[float, float] | None = None
    outside: float | None = None
    before_ns: float | None = None
    after_ns: float | None = None


@dataclass(frozen=True)
class Trial:
    """A model that was tried: its operators that stay float and those of 16 bits, where others have 8, its
    bytes, and the SQNR of its worst output.

    is_best tells that no other has both fewer of them and comes nearer to the float model, is_taken that it
    was chosen.
    """

    floats: int
    wide: int
    nbytes: int
    sqnr_db: float
    is_best: bool
    is_taken: bool = False


def trials(tried: Sequence[tuple[int, int, int, float]], taken: int | None = None) -> list[Trial]:
    """Of operators left float and given 16 bits, bytes and SQNR: those with the fewest of both first.

    taken is the number of the one that was chosen.
    """
    order = sorted(range(len(tried)), key=lambda n: (tried[n][0] + tried[n][1], -tried[n][3]))
    nearest = list(accumulate((tried[n][3] for n in order), max, initial=float("-inf")))
    return [
        Trial(*tried[n], tried[n][3] > before, n == taken) for n, before in zip(order, nearest, strict=False)
    ]


@dataclass(frozen=True)
class Report:
    """sizes are the bytes of the float model and of the quantized one, outputs the SQNR of each output.

    times_ns are those of a run of the float model, of the quantized one, and of what changes types there;
    None without samples.

    tried are the models between which one was chosen, if that was asked for. is_random tells that ranges, and
    all that was measured, are of random numbers.
    """

    layers: list[LayerReport]
    outputs: dict[str, float]
    sizes: tuple[int, int]
    conversions: int
    improved: str
    tried: Sequence[Trial] = ()
    times_ns: tuple[float, float, float] | None = None
    is_random: bool = False

    def suspects(self) -> list[LayerReport]:
        """The operators that lose most, the worst one first."""
        known = [layer for layer in self.layers if layer.lost_db is not None and layer.lost_db > 0]
        return sorted(known, key=lambda layer: -(layer.lost_db or 0))[:_SUSPECTS]

    def to_json(self) -> str:
        return json.dumps(_plain(asdict(self)), indent=1) + "\n"

    def to_html(self, title: str = "quantized model") -> str:
        """A page of one file."""
        before, after = self.sizes
        names = _short_names([layer.scope for layer in self.layers])
        return "\n".join(
            [
                f"{head(title)}<p>{after:,} bytes, {after / max(before, 1):.0%} of {before:,}; "
                f"{self.conversions:,} operators change types; {text(self.improved)}</p>",
                *([_RANDOM] if self.is_random else []),
                *self._times(),
                "<h2>Outputs</h2>",
                table(("output", "SQNR dB"), self.outputs.items()),
                *self._tried_table(),
                "<h2>Look at these first</h2>",
                table(
                    ("operator", "result", "lost dB", "SQNR dB", "rule that leaves it as it is"),
                    [
                        (s.operation, _named(s.scope, names), s.lost_db, s.sqnr_db, _option(s.scope, names))
                        for s in self.suspects()
                    ],
                ),
                f"<h2>Operators</h2><p>{_LEGEND}</p>",
                table(
                    (
                        *(
                            "operator",
                            "result",
                            "becomes",
                            "type",
                            "scale",
                            "zero point",
                            "lowest",
                            "highest",
                            "values",
                            "outside",
                        ),
                        *("saturated", "RMSE / scale", "weights dB", "SQNR dB", "lost dB"),
                        *("\u00b5s before", "\u00b5s after"),
                    ),
                    [_row(layer, names) for layer in self.layers],
                ),
            ]
        )

    def _times(self) -> list[str]:
        if self.times_ns is None:
            return []
        before, after, conversions = (each / 1000 for each in self.times_ns)
        return [
            f"<p>A run takes {after:,.1f} \u00b5s here, before {before:,.1f} \u00b5s; what changes types "
            f"{conversions:,.1f} \u00b5s.</p>"
        ]

    def _tried_table(self) -> list[str]:
        if not self.tried:
            return []
        rows = [
            (t.floats, t.wide, t.nbytes, t.sqnr_db, _YES[t.is_best], _YES[t.is_taken]) for t in self.tried
        ]
        heads = ("operators float", "of 16 bits", "bytes", "SQNR dB", "none nearer with as few", "taken")
        return ["<h2>What was tried</h2>", table(heads, rows)]

    def save(self, path: str | Path) -> None:
        """A page, or for a name that ends in .json what it is made of."""
        path = Path(path)
        path.write_text(self.to_json() if path.suffix == ".json" else self.to_html(path.stem))


class _Tensors(NamedTuple):
    """The names of an operator's first result and of its operands."""

    result: str
    operands: list[str]


class Quantized(Protocol):
    """What a report is made of: a QuantizedModel."""

    @property
    def outcomes(self) -> list[Outcome]: ...
    @property
    def source(self) -> Model: ...
    @property
    def float_bytes(self) -> int: ...
    @property
    def samples(self) -> Sequence[Sample]: ...
    @property
    def weights_db(self) -> Mapping[str, np.ndarray]: ...
    @property
    def preparation(self) -> Preparation | None: ...
    @property
    def quantized_model(self) -> bytes: ...
    def prepared_model(self) -> Model: ...


def made_report(quantized: Quantized) -> Report:
    """The report of a quantized model; without samples nothing of activations is in it."""
    model, graph = Model(quantized.quantized_model), FloatGraph(ModelEditor(quantized.source))
    statistics = (
        layer_statistics(quantized.prepared_model(), model, quantized.samples) if quantized.samples else {}
    )
    by_name = {name: found for (_, name), found in statistics.items()}
    first = next(iter(quantized.samples), None)
    times = None if first is None else [operator_times(each, first) for each in (quantized.source, model)]
    tensors = {
        scope_of(graph.subgraphs[step.graph], step.operator): _Tensors(
            graph.name(Site(step.graph, step.outputs[0])),
            [graph.name(Site(step.graph, t)) for t in step.inputs if t >= 0],
        )
        for step in graph.steps
        if step.outputs
    }
    outputs = [graph.name(site) for site in sorted(graph.outputs) if site.graph in graph.entries]
    changes = [
        step for step in FloatGraph(ModelEditor(model)).steps if step.name in ("QUANTIZE", "DEQUANTIZE")
    ]
    return Report(
        [
            _timed(_layer(outcome, named, by_name, quantized.weights_db), named, times)
            for outcome in quantized.outcomes
            for named in [tensors[outcome.scope]]
        ],
        {name: by_name[name].sqnr_db for name in outputs if name in by_name},
        (quantized.float_bytes, len(quantized.quantized_model)),
        len(changes),
        str(PLAIN if quantized.preparation is None else quantized.preparation.mending),
        times_ns=None if times is None else (times[0].total, times[1].total, times[1].conversions),
        is_random=RANDOM_CALIBRATION[0] in model.metadata(),
    )


def _timed(layer: LayerReport, tensors: _Tensors, times: Sequence[OperatorTimes] | None) -> LayerReport:
    """With the times of the operator in both models."""
    if times is None:
        return layer
    before, after = (each.of(tensors.result) for each in times)
    return replace(layer, before_ns=before, after_ns=after)


def _layer(
    outcome: Outcome,
    tensors: _Tensors,
    found: dict[str, LayerStatistics],
    weights: Mapping[str, np.ndarray],
) -> LayerReport:
    seen, noise = found.get(tensors.result), weights.get(tensors.result)
    scheme = "" if outcome.scheme is None else _words(outcome.scheme, noise is not None)
    base = LayerReport(outcome.operation, outcome.scope, scheme, outcome.reason)
    worst = None if noise is None or not len(noise) else float(noise.min())
    if seen is None or not seen.count:
        return LayerReport(**{**asdict(base), "weights_db": worst})
    before = [found[other].sqnr_db for other in tensors.operands if other in found]
    lost = min(before) - seen.sqnr_db if before and np.isfinite(min(before)) else None
    return LayerReport(
        **{
            **asdict(base),
            **{"type": seen.type, "scale": seen.scale, "low": seen.low, "high": seen.high},
            "zero_point": None if seen.scale is None else seen.zero_point,
            "saturated": None if seen.scale is None else seen.saturated_share,
            **{"rmse_per_scale": seen.rmse_per_scale, "weights_db": worst},
            **{"sqnr_db": seen.sqnr_db, "lost_db": lost},
            **{"bars": seen.bars(_BARS), "clip": seen.clip},
            "outside": None if seen.scale is None else seen.outside_share,
        }
    )


def _words(scheme: Scheme, has_filter: bool) -> str:
    if scheme.is_float16:
        return "float16 weights"
    if not scheme.activation_bits:
        return f"int{scheme.weight_bits} weights, float32 activations"
    is_plain = not has_filter or scheme.weight_bits == scheme.activation_bits
    return f"int{scheme.activation_bits}" + ("" if is_plain else f", int{scheme.weight_bits} weights")


def _short_names(scopes: Sequence[str]) -> dict[str, str]:
    """Of each, as many of the names that fusing has joined as tell it from all others."""
    counts = Counter(prefix for scope in scopes for prefix in _prefixes(scope))
    return {scope: next((p for p in _prefixes(scope) if counts[p] == 1), scope) for scope in scopes}


def _prefixes(scope: str) -> list[str]:
    return list(accumulate(scope.split(";"), lambda before, name: f"{before};{name}"))


def _named(scope: str, names: Mapping[str, str]) -> object:
    """The short name of an operator's result; what else it is called shows when it is pointed at."""
    short = names[scope]
    return (
        scope if short == scope else Markup(f"<span class=t title='{text(scope)}'>{text(short)}; ...</span>")
    )


def _option(scope: str, names: Mapping[str, str]) -> str:
    short = names[scope]
    return f"--skip '^{re.escape(short)}{'$' if short == scope else ';'}'"


def _row(layer: LayerReport, names: Mapping[str, str]) -> tuple[object, ...]:
    becomes = layer.scheme or f"float: {layer.reason}"
    return (
        *(
            layer.operation,
            _named(layer.scope, names),
            becomes,
            layer.type,
            layer.scale,
            layer.zero_point,
            layer.low,
        ),
        *(layer.high, _drawing(layer), layer.outside),
        *(layer.saturated, layer.rmse_per_scale, layer.weights_db, layer.sqnr_db, layer.lost_db),
        *(None if each is None else each / 1000 for each in (layer.before_ns, layer.after_ns)),
    )


def _drawing(layer: LayerReport) -> Markup | None:
    low, high = layer.low, layer.high
    if layer.bars is None or low is None or high is None or not np.isfinite([low, high]).all():
        return None
    return drawn_range(layer.bars, (low, high), layer.clip)


def _plain(value: Any) -> Any:
    """With None for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
