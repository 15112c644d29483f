"""Values that a caller feeds, as arrays of the types that the graph has for them."""

from __future__ import annotations

import numpy as np

from ...kernels.fallback.attributes import PartialShape, read_attribute
from ...kernels.fallback.dtypes import REFERENCE, numpy_dtype, type_name
from ...kernels.fallback.kernel import KernelConstruction
from ...kernels.fallback.status import InvalidArgumentError
from ...kernels.fallback.variable import matches
from ...lite.errors import ModelError
from ...schema.graph_def import DT_STRING
from .body import BodyNode
from .function_body import FunctionLibrary


def fed_array(node: BodyNode, port: int, value: object, library: FunctionLibrary) -> np.ndarray:
    """The value as an array of the output's type; arrays of another type are InvalidArgumentErrors.

    Numbers and lists take the output's type; texts become bytes.
    """
    construction = KernelConstruction(library.metadata(node.op), node.definition.attr)
    types = [type for output in construction.outputs for type in output.types]
    if port >= len(types):
        raise ModelError(f"{node}: output {port} is fed, but it has {len(types)}")
    data_type = types[port] - REFERENCE if types[port] > REFERENCE else types[port]
    dtype = numpy_dtype(data_type)
    array = value if isinstance(value, np.ndarray) else np.asarray(value, dtype)
    if dtype.kind == "O":
        array = _bytes(array)
    if data_type == DT_STRING:
        _check_strings(node, array)
    if array.dtype != dtype:
        raise InvalidArgumentError(f"{node}: must be fed {type_name(data_type)}, got {array.dtype}")
    _check_shape(node, construction, array)
    return array


def _bytes(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "OSU":
        return array
    made = np.empty(array.shape, object)
    # An `S` array of rank 0 keeps the NULs at its end, as in an interpreter's set_tensor.
    whole = array.dtype.kind == "S" and not array.ndim
    items = [array.tobytes()] if whole else array.reshape(-1).tolist()
    made.reshape(-1)[:] = [_plain(item) for item in items]
    return made


def _plain(item: object) -> object:
    """Text as bytes of Python's own type: NumPy's drop the NULs at their end in arrays."""
    if isinstance(item, str):
        return item.encode()
    return bytes(item) if isinstance(item, bytes) else item


def _check_strings(node: BodyNode, array: np.ndarray) -> None:
    for place, item in enumerate(array.reshape(-1).tolist() if array.dtype == object else ()):
        if not isinstance(item, bytes):
            raise InvalidArgumentError(
                f"{node}: strings must be str or bytes, got {item!r:.60} ({type(item).__name__}) at {place}"
            )


def _check_shape(node: BodyNode, construction: KernelConstruction, array: np.ndarray) -> None:
    # Before producer 24 an empty shape was one that is not known.
    if not node.op.startswith("Placeholder") or "shape" not in construction.attributes:
        return
    shape: PartialShape = read_attribute(construction.attributes, "shape", PartialShape)  # type: ignore[arg-type]
    if shape and not matches(array.shape, shape):
        sizes = ["?" if size < 0 else size for size in shape]
        raise InvalidArgumentError(f"{node}: must be fed a shape like {sizes}, got {list(array.shape)}")
