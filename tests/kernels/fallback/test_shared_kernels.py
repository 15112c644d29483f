"""The fallback kernels against TensorFlow's own outputs, case by case."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from numlite.kernels.fallback.dtypes import data_type_named, data_type_of
from numlite.kernels.fallback.environment import Environment
from numlite.kernels.fallback.jpeg_pixels import read_jpeg
from numlite.kernels.fallback.node_runner import run_node
from numlite.kernels.fallback.png_format import SIGNATURE as PNG
from numlite.kernels.fallback.png_format import read_png
from numlite.kernels.fallback.register import fallback_kernels
from numlite.kernels.fallback.status import InvalidArgumentError
from numlite.lite.errors import ModelError
from numlite.schema.graph_def import AttrValue, NodeDef, TensorShapeProto

from ...shared_arrays import CONVERT, decoded, difference

KERNELS = CONVERT / "kernels"
OPS = [op for op in fallback_kernels().ops() if (KERNELS / f"{op}.json").exists()]
# Where another answer is as right.
OTHERWISE = {
    "Eig": "eigenvalues come in another order",
    "DecodeJSONExample": "lists of numbers are packed",
}
JPEG = b"\xff\xd8"
EDGES = KERNELS / "edge" / "edge.json"


def edge_cases() -> list[dict[str, Any]]:
    ops = set(fallback_kernels().ops())
    cases = json.loads(EDGES.read_text())["cases"] if EDGES.exists() else []
    return [case for case in cases if case["op"] in ops]


def node_of(case: dict[str, Any]) -> NodeDef:
    return NodeDef.FromString(base64.b64decode(case["node_def"]["b64"]))


@pytest.mark.skipif(not OPS, reason="no ../shared/convert beside the repository")
@pytest.mark.parametrize("op", sorted(set(OPS) - set(OTHERWISE)))
def test_outputs_are_tensorflows(op: str) -> None:
    described = json.loads((KERNELS / f"{op}.json").read_text())
    arrays = np.load(KERNELS / f"{op}.npz")
    wrong = []
    for case in described["cases"]:
        inputs = [decoded(tensor, arrays) for tensor in case["inputs"]]
        environment = Environment(producer=described["producer"] or 0)
        outputs = run_node(node_of(case), inputs, environment=environment)
        assert len(outputs) == len(case["outputs"])
        for tensor, output in zip(case["outputs"], outputs, strict=True):
            if not tensor.get("ignore"):
                wrong.append(compare(described["cmp"], output, decoded(tensor, arrays), case["tol"]))
    assert not any(wrong), "\n".join(filter(None, wrong))


def compare(kind: str, found: np.ndarray, wanted: np.ndarray, tolerance: dict[str, float]) -> str:
    if kind == "linalg_sign" and wanted.ndim >= 2:
        found, wanted = (np.abs(value) for value in (found, wanted))
    if kind == "decode" and wanted.ndim == 0 and wanted.item().startswith(PNG):
        found, wanted = (read_png(value.item()).samples for value in (found, wanted))
    if kind == "decode" and wanted.ndim == 0 and wanted.item().startswith(JPEG):
        found, wanted = (read_jpeg(value.item(), 1, True) for value in (found, wanted))
        kind = "image"
    if kind == "image" and found.shape == wanted.shape and found.dtype == wanted.dtype:
        apart = np.abs(found.astype(np.int32) - wanted.astype(np.int32))
        return "" if apart.max(initial=0) <= 8 else f"pixels differ by {apart.max()}"
    return difference(found, wanted, tolerance)


@pytest.mark.skipif(not EDGES.exists(), reason="no ../shared/convert beside the repository")
@pytest.mark.parametrize("case", edge_cases(), ids=lambda case: f"{case['op']}-{case['case']}")
def test_edges_are_tensorflows(case: dict[str, Any]) -> None:
    arrays = np.load(EDGES.with_suffix(".npz"))
    if case["expect"] == "ok":
        inputs = [decoded(tensor, arrays) for tensor in case["inputs"]]
        outputs = run_node(node_of(case), inputs)
        for tensor, output in zip(case["outputs"], outputs, strict=True):
            assert tensor.get("ignore") or not difference(output, decoded(tensor, arrays), case["tol"])
        return
    node, inputs = named_node(case, arrays)
    with pytest.raises((InvalidArgumentError, ModelError)):
        run_node(node, inputs)


def named_node(case: dict[str, Any], arrays: Any) -> tuple[NodeDef, list[np.ndarray]]:
    """A node for inputs and attributes as tf.raw_ops takes them: types by the inputs."""
    op_def = fallback_kernels().metadata(case["op"]).op_def
    node, inputs = NodeDef(op=case["op"], name="n"), []
    kinds = {attr.name: attr.type for attr in op_def.attr}
    for name, value in case["attrs"].items():
        node.attr[RENAMED.get(name, name)].CopyFrom(attribute(kinds[RENAMED.get(name, name)], value))
    # By place: raw_ops has names of its own for some inputs.
    for argument, given in zip(op_def.input_arg, case["inputs_named"].values(), strict=True):
        values = [decoded(tensor, arrays) for tensor in (given if isinstance(given, list) else [given])]
        inputs += values
        if argument.type_attr:
            node.attr[argument.type_attr].type = data_type_of(values[0].dtype)
        if argument.number_attr:
            node.attr[argument.number_attr].i = len(values)
    return node, inputs


# raw_ops calls Squeeze's dimensions axis.
RENAMED = {"axis": "squeeze_dims"}


def attribute(kind: str, value: Any) -> AttrValue:
    if kind == "shape":
        return AttrValue(shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in value]))
    if kind == "type":
        return AttrValue(type=data_type_named({"float32": "float"}.get(value, value)))
    if kind == "list(int)":
        return AttrValue(list=AttrValue.ListValue(i=value))
    if kind == "string":
        return AttrValue(s=value.encode())
    return AttrValue(**{kind[0]: value})
