"""Types of the graph IR: element types, tensors, control tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from ...lite.errors import ModelError, UnsupportedError
from ...schema import graph_def

# Types that MLIR has itself, by TensorFlow's number.
_BUILTIN = {
    graph_def.DT_HALF: "f16",
    graph_def.DT_FLOAT: "f32",
    graph_def.DT_DOUBLE: "f64",
    graph_def.DT_BFLOAT16: "bf16",
    graph_def.DT_BOOL: "i1",
    graph_def.DT_INT8: "i8",
    graph_def.DT_INT16: "i16",
    graph_def.DT_INT32: "i32",
    graph_def.DT_INT64: "i64",
    graph_def.DT_UINT8: "ui8",
    graph_def.DT_UINT16: "ui16",
    graph_def.DT_UINT32: "ui32",
    graph_def.DT_UINT64: "ui64",
    graph_def.DT_INT4: "si4",
    graph_def.DT_UINT4: "ui4",
    graph_def.DT_COMPLEX64: "complex<f32>",
    graph_def.DT_COMPLEX128: "complex<f64>",
    graph_def.DT_FLOAT8_E5M2: "f8E5M2",
    graph_def.DT_FLOAT8_E4M3FN: "f8E4M3FN",
}
_TENSORFLOW = {
    graph_def.DT_STRING: "string",
    graph_def.DT_RESOURCE: "resource",
    graph_def.DT_VARIANT: "variant",
    graph_def.DT_QINT8: "qint8",
    graph_def.DT_QINT16: "qint16",
    graph_def.DT_QINT32: "qint32",
    graph_def.DT_QUINT8: "quint8",
    graph_def.DT_QUINT16: "quint16",
    graph_def.DT_FLOAT_REF: "f32ref",
    graph_def.DT_DOUBLE_REF: "f64ref",
    graph_def.DT_FLOAT8_E4M3FN_REF: "float8e4m3fnref",
    graph_def.DT_FLOAT8_E5M2_REF: "float8e5m2ref",
    graph_def.DT_FLOAT8_E4M3FNUZ_REF: "float8e4m3fnuzref",
    graph_def.DT_FLOAT8_E4M3B11FNUZ_REF: "float8e4m3b11fnuzref",
    graph_def.DT_FLOAT8_E5M2FNUZ_REF: "float8e5m2fnuzref",
} | {
    getattr(graph_def, f"DT_{name.upper()}_REF"): f"{name}ref"
    for name in (
        *("half", "bfloat16", "bool", "string", "int4", "uint4", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "complex64", "complex128"),
        *("qint8", "qint16", "qint32", "quint8", "quint16", "resource", "variant"),
    )
}
_NUMBERS = {name: number for number, name in (_BUILTIN | _TENSORFLOW).items()}
TENSORFLOW_NAMES = frozenset(_TENSORFLOW.values())
REFERENCE = 100


@dataclass(frozen=True, slots=True)
class Type:
    """Any type; its text is str(type)."""


@dataclass(frozen=True, slots=True)
class ElementType(Type):
    """Type of a tensor's elements (also of numbers in attributes).

    Resources and variants may say which tensors they hold.
    """

    name: str
    subtypes: tuple[TensorType, ...] = ()

    @property
    def number(self) -> int:
        """TensorFlow's number of the type; UnsupportedError when it has none."""
        try:
            return _NUMBERS[self.name]
        except KeyError:
            raise UnsupportedError(f"type {self}: TensorFlow has no such type") from None

    def __str__(self) -> str:
        if self.name not in TENSORFLOW_NAMES:
            return self.name
        inside = f"<{', '.join(map(str, self.subtypes))}>" if self.subtypes else ""
        return f"!tf_type.{self.name}{inside}"


@dataclass(frozen=True, slots=True)
class TensorType(Type):
    """A tensor: its shape has -1 for sizes not known, and is None where even the rank is not known."""

    element: Type
    shape: tuple[int, ...] | None = None
    text: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        if not self.text:
            sizes = "*x" if self.shape is None else "".join(f"{'?' if n < 0 else n}x" for n in self.shape)
            object.__setattr__(self, "text", f"tensor<{sizes}{self.element}>")
        return self.text


@dataclass(frozen=True, slots=True)
class ControlType(Type):
    """A token that orders nodes."""

    def __str__(self) -> str:
        return "!tf_type.control"


@dataclass(frozen=True, slots=True)
class OpaqueType(Type):
    """All data results of a node whose types are not known."""

    def __str__(self) -> str:
        return "!tf_type.tensor"


@dataclass(frozen=True, slots=True)
class FunctionType(Type):
    """Types of arguments and results."""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __str__(self) -> str:
        results = ", ".join(map(str, self.results))
        bare = len(self.results) == 1 and not isinstance(self.results[0], FunctionType)
        return f"({', '.join(map(str, self.inputs))}) -> {results if bare else f'({results})'}"


CONTROL = ControlType()
OPAQUE = OpaqueType()


@lru_cache(None)
def element_type(number: int) -> ElementType:
    """The type of TensorFlow's number; UnsupportedError for those that the IR has no form for."""
    name = _BUILTIN.get(number) or _TENSORFLOW.get(number)
    if name is None:
        try:
            known = graph_def.DataType.Name(number)
        except ValueError:
            raise ModelError(f"type: {number} is no DataType") from None
        raise UnsupportedError(f"Converting DataType {known!r} to MLIR Type")
    return ElementType(name)


@lru_cache(None)
def unranked(number: int) -> TensorType:
    """A tensor of TensorFlow's number of a type, of any shape."""
    return TensorType(element_type(number))


def compatible(one: Type, other: Type) -> bool:
    """Whether a value could have both types: equal elements, and shapes that agree where known."""
    if isinstance(one, TensorType) and isinstance(other, TensorType):
        return _elements_agree(one.element, other.element) and _shapes_agree(one.shape, other.shape)
    return _elements_agree(one, other)


def _elements_agree(one: Type, other: Type) -> bool:
    if one == other:
        return True
    if not isinstance(one, ElementType) or not isinstance(other, ElementType) or one.name != other.name:
        return False
    if one.name == "variant" or not one.subtypes or not other.subtypes:
        return True
    pairs = zip(one.subtypes, other.subtypes, strict=False)
    return len(one.subtypes) == len(other.subtypes) and all(compatible(a, b) for a, b in pairs)


def _shapes_agree(one: tuple[int, ...] | None, other: tuple[int, ...] | None) -> bool:
    if one is None or other is None:
        return True
    return len(one) == len(other) and all(a == b or a < 0 or b < 0 for a, b in zip(one, other, strict=True))
