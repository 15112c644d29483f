"""What the tables of a model file say of an operator, a type, a shape: by names, also of what cannot run."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..lite.model import Model


def operator_name(model: Model, operator: Any) -> tuple[str, int]:
    """Its name, with CUSTOM or TensorFlow before those that are no builtins, and its version."""
    from ..schema import tflite
    from ..schema.operator_code import builtin_code

    code = model.root.operator_codes[operator.opcode_index]
    builtin = builtin_code(code)
    if builtin == tflite.BuiltinOperator.CUSTOM:
        return _custom_name(code.custom_code or "", model.custom_options(operator)), code.version
    try:
        return tflite.BuiltinOperator(builtin).name, code.version
    except ValueError:
        return f"builtin {builtin}", code.version


def _custom_name(custom_code: str, custom_options: bytes) -> str:
    """The custom code; for a TensorFlow op its name, which is in the options."""
    from ..lite.errors import ModelError
    from ..lite.unresolved import FLEX_PREFIX

    if custom_code.startswith(FLEX_PREFIX):
        from ..delegates.flex.options import node_def_of

        with suppress(ModelError):
            return f"TensorFlow {node_def_of(bytes(custom_options)).op}"
    return f"CUSTOM {custom_code}"


def type_name(type: int) -> str:
    """The schema's name in lower case, or the number of a type that it has not."""
    from ..lite.tensor import TensorType

    try:
        return TensorType(type).name.lower()
    except ValueError:
        return f"type {type}"


def shape_of(tensor: Any) -> list[int]:
    """The shape, with -1 for sizes that the model leaves open."""
    signature = tensor.shape_signature
    return [int(extent) for extent in (signature if len(signature) else tensor.shape)]
