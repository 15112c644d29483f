"""`convert-model --json`: what became of a graph, as docs/json.md describes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..converter.flatbuffer import name_in_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..converter.conversion import Conversion
    from ..converter.lite_graph import LiteTensor
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
