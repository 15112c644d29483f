"""Signatures of a SavedModel: named inputs and outputs, and the graph's tensors behind them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import TensorProto
from ...schema.saved_model import SignatureDef, TensorInfo
from ..element_types import type_name


@dataclass(frozen=True)
class SignatureTensor:
    """A tensor of the graph ("node" or "node:1"), TensorFlow's number of its type, and its shape.

    The shape has -1 for sizes not known, and is None where the rank is not known.
    """

    tensor: str
    dtype: int
    shape: tuple[int, ...] | None

    def __str__(self) -> str:
        sizes = "?" if self.shape is None else "x".join("?" if n < 0 else str(n) for n in self.shape)
        return f"{type_name(self.dtype)} {sizes or 'scalar'}"


@dataclass(frozen=True)
class Signature:
    """Inputs and outputs by name, in the file's order, and the inputs that need not be given."""

    name: str
    method_name: str
    inputs: dict[str, SignatureTensor]
    outputs: dict[str, SignatureTensor]
    defaults: dict[str, TensorProto]


def signature_of(name: str, proto: SignatureDef) -> Signature:
    """The signature; ModelError for a name that occurs twice, UnsupportedError for sparse tensors."""
    return Signature(
        name,
        proto.method_name,
        _tensors(name, "input", proto.inputs),
        _tensors(name, "output", proto.outputs),
        {entry.key: entry.value for entry in proto.defaults},
    )


def _tensors(name: str, kind: str, entries: Iterable[SignatureDef.Tensor]) -> dict[str, SignatureTensor]:
    found: dict[str, SignatureTensor] = {}
    for entry in entries:
        if entry.key in found:
            raise ModelError(f"signature {name!r}: {kind} {entry.key!r} occurs twice")
        found[entry.key] = _tensor(entry.value, f"signature {name!r}: {kind} {entry.key!r}")
    return found


def _tensor(info: TensorInfo, what: str) -> SignatureTensor:
    if info.WhichOneof("encoding") in ("coo_sparse", "composite_tensor"):
        raise UnsupportedError(f"{what} is not one tensor; export the model with dense tensors")
    if not info.name:
        raise ModelError(f"{what}: it must name a tensor")
    shape = None if info.tensor_shape.unknown_rank else tuple(dim.size for dim in info.tensor_shape.dim)
    return SignatureTensor(info.name, info.dtype, shape)
