"""`numlite inspect --quantization`: scales and zero points, constants at their ends, and float islands."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..schema.shown import shown
from .console import make_table
from .model_file import type_name

if TYPE_CHECKING:
    from rich.console import Console

    from ..converter.quantization.float_graph import FloatGraph, Site, Step
    from ..lite.model import Model

_CONVERSIONS = ("QUANTIZE", "DEQUANTIZE")
_BITS = {"int8": 8, "uint8": 8, "int16": 16, "int4": 4, "int2": 2}


def quantization_of(model: Model) -> dict[str, Any]:
    """What is shown, as JSON can hold it; over all subgraphs.

    operators are counts by kind, tensors those with scales, islands the operators of each float island.
    Raises UnsupportedError for a model whose weights lie in other files.
    """
    from ..converter.quantization.float_graph import FloatGraph
    from ..converter.quantization.islands import float_islands
    from ..converter.quantization.model_editor import ModelEditor

    graph = FloatGraph(ModelEditor(model))
    tensors = [found for site in graph.names() if (found := _tensor(graph, site)) is not None]
    return {
        "operators": dict(Counter(_kind(graph, step) for step in graph.steps)),
        "tensors": tensors,
        "islands": [[graph.where(step) for step in island] for island in float_islands(graph)],
    }


def show_quantization(console: Console, found: dict[str, Any]) -> None:
    table = make_table("tensor", "type", "scale", "zero point", "at the ends")
    for each in found["tensors"]:
        least, largest = (f"{scale:.6g}" for scale in each["scale"])
        scale = least if each["scales"] == 1 else f"{each['scales']}: {least} to {largest}"
        point = "" if each["zero_point"] is None else str(each["zero_point"])
        share = "" if each["saturated"] is None else f"{each['saturated']:.2%}"
        table.add_row(shown(each["name"]), each["type"], scale, point, share)
    console.print(table)
    counts = [f"{count} {kind}" for kind, count in found["operators"].items()]
    islands = [f"float island: {', '.join(island)}" for island in found["islands"]]
    for line in (f"operators: {', '.join(counts)}", *(islands or ["no float islands"])):
        console.print(line, highlight=False, markup=False)


def _tensor(graph: FloatGraph, site: Site) -> dict[str, Any] | None:
    """A tensor's scales: how many, the least and the largest; zero_point where there is one scale; saturated
    is the share of a constant's values that its type could not hold more of."""
    tensor = graph.tensor(site)
    table, kind = tensor.quantization, type_name(tensor.type)
    if table is None or table.scale is None or not len(table.scale):
        return None
    points = [] if table.zero_point is None else [int(each) for each in table.zero_point]
    values = graph.constant(site) if kind in _BITS and graph.is_constant(site) else np.zeros(0)
    least, most = _ends(kind, values)
    share = float(np.mean((values <= least) | (values >= most))) if values.size else None
    return {
        **{"name": graph.name(site), "type": kind, "scales": len(table.scale)},
        "scale": [float(np.min(table.scale)), float(np.max(table.scale))],
        "zero_point": points[0] if len(table.scale) == len(points) == 1 else None,
        "saturated": share,
    }


def _ends(kind: str, values: np.ndarray) -> tuple[int, int]:
    """The ends of a type's range; of narrow ones (-127 to 127) where no value is beyond."""
    if kind not in _BITS:
        return 0, 0
    if kind == "uint8":
        return 0, 255
    half = 1 << (_BITS[kind] - 1)
    is_narrow = bool(values.size) and int(values.min()) > -half
    return (1 - half if is_narrow else -half), half - 1


def _kind(graph: FloatGraph, step: Step) -> str:
    """A conversion's name, else integer, float, or other."""
    from ..converter.quantization.float_graph import Site

    if step.name in _CONVERSIONS:
        return step.name
    named = [t for t in (*step.inputs[:1], *step.outputs) if t >= 0]
    types = {type_name(graph.tensor(Site(step.graph, t)).type) for t in named}
    if types & set(_BITS):
        return "integer"
    return "float" if "float32" in types else "other"
