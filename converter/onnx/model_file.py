"""ONNX models from files and bytes."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from google.protobuf.message import DecodeError, Message

from ...lite.errors import ModelError, UnsupportedError
from ...lite.foreign_file import what_it_is
from ...schema.onnx import ModelProto
from ...schema.shown import shown

# Before it, operators had attributes where they have inputs now.
OLDEST_OPSET = 7
# Those that had the form of opset 7 from the first on, but for attributes that change no result.
_AS_BEFORE = frozenset(
    (
        *(
            "Abs",
            "ArgMax",
            "ArgMin",
            "AveragePool",
            "Ceil",
            "Constant",
            "Conv",
            "ConvTranspose",
            "DepthToSpace",
        ),
        *("Elu", "Exp", "Flatten", "Floor", "Gather", "GlobalAveragePool", "GlobalMaxPool", "HardSigmoid"),
        *(
            "Identity",
            "InstanceNormalization",
            "LRN",
            "LeakyRelu",
            "Log",
            "LogSoftmax",
            "MatMul",
            "MaxPool",
            "Neg",
        ),
        *("Not", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax"),
        *(
            "ReduceMean",
            "ReduceMin",
            "ReduceProd",
            "ReduceSum",
            "ReduceSumSquare",
            "Relu",
            "Shape",
            "Sigmoid",
        ),
        *("Size", "Slice", "Softmax", "Softplus", "Softsign", "SpaceToDepth", "Sqrt", "Squeeze", "Tanh"),
        *("Transpose", "Unsqueeze"),
    )
)
_LISTED = 3
ONNX_DOMAINS = ("", "ai.onnx")
ONNX_MODEL = "an ONNX model"


def model_of(source: Message | bytes | str | PathLike[str]) -> tuple[ModelProto, Path | None]:
    """The model, and the folder that its external data may lie in (None for bytes and messages).

    source is a path, the file's content, or a message (ours or the onnx package's). Raises ModelError for
    what is no ONNX model, UnsupportedError for one of an opset before 7 with operators that changed.
    """
    folder, name = None, "model"
    if isinstance(source, str | PathLike):
        path = Path(source)
        folder, name, content = path.parent, path.name, path.read_bytes()
    else:
        content = source.SerializeToString() if isinstance(source, Message) else source
    return _checked(content, name), folder


def is_onnx(content: bytes) -> bool:
    """Whether the first bytes of a file are those of an ONNX model."""
    return what_it_is(content) == ONNX_MODEL


def _checked(content: bytes, name: str) -> ModelProto:
    try:
        model = ModelProto.FromString(content)
    except DecodeError as error:
        known = what_it_is(content)
        fault = f"it is {known}" if known not in (None, ONNX_MODEL) else str(error)
        raise ModelError(f"{name}: not an ONNX model ({fault})") from error
    if not model.HasField("graph") or not model.opset_import:
        known = what_it_is(content)
        fault = f"it is {known}" if known not in (None, ONNX_MODEL) else "it has no graph or no opset"
        raise ModelError(f"{name}: not an ONNX model ({fault})")
    version = next((each.version for each in model.opset_import if each.domain in ONNX_DOMAINS), None)
    changed = sorted({node.op_type for node in model.graph.node} - _AS_BEFORE)
    if version is not None and version < OLDEST_OPSET and changed:
        raise UnsupportedError(
            f"{name}: opset must be {OLDEST_OPSET} or newer for {', '.join(map(shown, changed[:_LISTED]))}, "
            f"got {version}; onnx.version_converter.convert_version of the onnx package makes it newer"
        )
    assert isinstance(model, ModelProto)
    return model
