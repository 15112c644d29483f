"""`convert-model --json`: what became of a graph, as docs/json.md describes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..converter.flatbuffer import name_in_file
from .model_file import operator_name, shape_of, type_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..converter.conversion import Conversion
    from ..converter.lite_graph import LiteTensor
    from ..lite.model import Model
    from .conversion_check import Difference


def fields(
    source: Path,
    output: Path,
    size: int,
    conversion: Conversion,
    page: Path | None,
    verified: Sequence[Difference] | None,
) -> dict[str, Any]:
    """verified is None where nothing was compared, and page where no report was written."""
    found: dict[str, Any] = {
        "source": str(source),
        "output": str(output),
        "bytes": size,
        "report": None if page is None else str(page),
        "signatures": [
            {
                "key": signature.key,
                "inputs": _tensors(signature.input_names, signature.graph.inputs),
                "outputs": _tensors(signature.output_names, signature.graph.outputs),
            }
            for signature in conversion.lite.signatures
        ],
        "subgraphs": [
            {
                "name": name_in_file(graph.name),
                "operators": dict(
                    Counter(operator.custom_code or operator.code.name for operator in graph).most_common()
                ),
            }
            for graph in conversion.lite.graphs()
        ],
        "nodes": [
            {"node": outcome.node, "op": outcome.op, "became": outcome.became}
            for outcome in conversion.outcomes
        ],
    }
    if verified is not None:
        found["verified"] = [
            {
                "signature": difference.signature,
                "output": difference.output,
                "largest_difference": float(difference.largest),
                "largest_value": float(difference.scale),
            }
            for difference in verified
        ]
    return found


def of_quantized(model: Model) -> dict[str, Any]:
    """The fields that quantizing changes: types of tensors and the operators, as the file has them."""
    graphs = model.root.subgraphs

    def tensors(graph: Any, named: Mapping[str, int]) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "tensor": tensor.name or "",
                "type": type_name(tensor.type),
                "shape": shape_of(tensor),
            }
            for name, place in named.items()
            for tensor in [graph.tensors[place]]
        ]

    return {
        "signatures": [
            {
                "key": key,
                "inputs": tensors(graphs[found.subgraph_index], found.inputs),
                "outputs": tensors(graphs[found.subgraph_index], found.outputs),
            }
            for key, found in model.signatures().items()
        ],
        "subgraphs": [
            {
                "name": graph.name or "",
                "operators": dict(Counter(_name(model, each) for each in graph.operators).most_common()),
            }
            for graph in graphs
        ],
    }


def _name(model: Model, operator: Any) -> str:
    return model.root.operator_codes[operator.opcode_index].custom_code or operator_name(model, operator)[0]


def _tensors(names: Sequence[str], tensors: Sequence[LiteTensor]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "tensor": name_in_file(tensor.name),
            "type": tensor.type.name.lower(),
            "shape": None if tensor.shape is None else list(tensor.shape),
        }
        for name, tensor in zip(names, tensors, strict=True)
    ]
