"""Body: a graph or function under construction, to which rules add TensorFlow's ops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...kernels.fallback.dtypes import data_type_of, numpy_dtype
from ...kernels.fallback.node_runner import run_node
from ...kernels.fallback.register import fallback_kernels
from ...kernels.fallback.status import OpError
from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import (
    DT_FLOAT,
    DT_INT8,
    DT_INT32,
    DT_INT64,
    DT_QINT8,
    DT_STRING,
    DT_VARIANT,
    NodeDef,
)
from ..ir.attribute_export import write_attributes
from ..ir.attributes import Attribute, Attributes, FuncAttr
from ..ir.dense import dense_attr
from ..ir.node import Block, Node, Value
from ..ir.signature import Signature, registered
from ..ir.types import ElementType, TensorType, element_type
from ..shapes.context import MOST_ELEMENTS, unknown_places
from ..shapes.dimensions import PartialShape
from ..shapes.infer import infer
from .computed_types import wider
from .tensor import Integers, Tensor

# A constant result may be so large, or twice what it is made from.
_SMALL_BYTES = 1 << 20
_GROWTH = 2
# What makes large results of small operands.
_SIZED_BY_VALUES = frozenset(("Fill", "Tile", "BroadcastTo", "Range", "OneHot", "PadV2", "MirrorPad"))


# Weights stay integers, and random numbers are drawn in each run.
_NOT_FOLDED = frozenset(("UniformDequantize", "RandomUniform", "RandomStandardNormal", "Multinomial"))
_VARIANT = element_type(DT_VARIANT)


class Names:
    """Names of nodes, each given once."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def new(self, wanted: str) -> str:
        """The name, with a number behind it where it is taken; characters that edges mean something by go."""
        wanted = wanted.replace(":", "_").replace("^", "_").replace("\0", "_") or "node"
        name = wanted
        while name in self._taken:
            self._taken[wanted] += 1
            name = f"{wanted}_{self._taken[wanted]}"
        self._taken[name] = 0
        return name


class Body:
    """Nodes of a block. prefix is what new nodes are named after; results are inferred and folded at once."""

    def __init__(self, block: Block, names: Names) -> None:
        self.block = block
        self.names = names
        self.prefix = ""

    def op(self, op: str, *inputs: Tensor, **attributes: Attribute | str | Sequence[int]) -> Tensor:
        """The first result of a node. See ops."""
        return self.ops(op, *inputs, **attributes)[0]

    def ops(self, op: str, *inputs: Tensor, **attributes: Attribute | str | Sequence[int]) -> list[Tensor]:
        """All results of a node of TensorFlow's op.

        Attributes that follow from the inputs may be left out. Integers that the op's operator does not take
        are cast to a wider type and back. Raises ModelError when the inputs do not fit the op.
        """
        signature = registered(op)
        assert signature is not None, op
        widened = self._widened(op, signature, inputs, attributes)
        if widened is not None:
            return widened
        held: Attributes = {key: _attribute(value) for key, value in attributes.items()}
        _tell(signature, inputs, held)
        types = [TensorType(element_type(number)) for number in signature.result_types(held)]
        given = [TensorType(element_type(x.type), x.shape) for x in inputs]
        inferred = infer(op, held, given, types, [known_numbers(x) for x in inputs])
        has_lists = any(str(type.element) == str(_VARIANT) for type in types)
        constant = None if has_lists or op in _NOT_FOLDED else self._folded(op, held, inputs, inferred.types)
        if constant is not None:
            return constant
        node: Node | None = None
        results = []
        for place, (type, numbers) in enumerate(zip(inferred.types, inferred.values, strict=True)):
            assert isinstance(type.element, ElementType)
            number = type.element.number
            if numbers is not None and numbers.dtype == np.int64 and not unknown_places(numbers).any():
                results.append(self.constant(numbers.astype(numpy_dtype(number))))
                continue
            if node is None:
                node = self._node(op, held, inputs, inferred.types)
            results.append(Tensor(self, number, type.shape, node.results[place], None, numbers, node.name))
        return results

    def call(
        self, op: str, inputs: Sequence[Tensor], results: Sequence[TensorType], attributes: Attributes
    ) -> list[Tensor]:
        """A node of control flow, whose results are told."""
        node = self._node(op, attributes, inputs, results)
        made = []
        for value, type in zip(node.results, results, strict=True):
            assert isinstance(type.element, ElementType)
            made.append(Tensor(self, type.element.number, type.shape, value, name=node.name))
        return made

    def _node(
        self, op: str, attributes: Attributes, inputs: Sequence[Tensor], types: Sequence[TensorType]
    ) -> Node:
        plain = [TensorType(type.element, plain_shape(type.shape)) for type in types]
        operands = [x.value for x in inputs]
        node = Node(op, self.names.new(f"{self.prefix}/{op}" if self.prefix else op), plain, attributes)
        self.block.append(node)
        node.operands = operands
        return node

    def _widened(
        self,
        op: str,
        signature: Signature,
        inputs: Sequence[Tensor],
        attributes: dict[str, Attribute | str | Sequence[int]],
    ) -> list[Tensor] | None:
        """The results computed in a wider type, None where the op takes the inputs' own."""
        attr = next((a.type_attr for a in signature.inputs if a.type_attr), "")
        if not inputs or not attr:
            return None
        own = [a.type_attr == attr for a in _spread(signature, len(inputs), attributes)]
        first = next((x for x, is_own in zip(inputs, own, strict=True) if is_own), None)
        type = None if first is None else wider(op, first.type)
        if type is None or first is None or all(x.data is not None for x in inputs):
            return None
        wide = [self.cast(x, type) if is_own else x for x, is_own in zip(inputs, own, strict=True)]
        results = self.ops(op, *wide, **attributes)
        same = [output.type_attr == attr for output in signature.outputs]
        if len(same) == 1:
            same *= len(results)
        return [self.cast(y, first.type) if back else y for y, back in zip(results, same, strict=True)]

    def _folded(
        self, op: str, attributes: Attributes, inputs: Sequence[Tensor], types: Sequence[TensorType]
    ) -> list[Tensor] | None:
        arrays = [x.data for x in inputs if x.data is not None]
        if not arrays or len(arrays) < len(inputs) or not fallback_kernels().registrations(op):
            return None
        limit = max(_SMALL_BYTES, _GROWTH * sum(array.nbytes for array in arrays))
        counts = [math.prod(type.shape) for type in types if type.shape is not None and -1 not in type.shape]
        if 8 * sum(counts) > 4 * limit or (op in _SIZED_BY_VALUES and len(counts) < len(types)):
            return None
        definition = NodeDef(op=op, input=[""] * len(inputs))
        write_attributes(attributes, definition.attr)
        try:
            results = run_node(definition, arrays)
        except (UnsupportedError, OpError):
            # What is wrong with it is for its lowering to say.
            return None
        return [self.constant(result) for result in results]

    def constant_value(self, tensor: Tensor) -> Value:
        """The value of a Const node of the tensor's data."""
        # The IR has no constants of quantized types.
        data, dtype = tensor.data, element_type(DT_INT8 if tensor.type == DT_QINT8 else tensor.type)
        assert data is not None
        type = TensorType(dtype, data.shape)
        elements: bytes | tuple[bytes, ...]
        if tensor.type == DT_STRING:
            elements = tuple(bytes(item) for item in data.reshape(-1))
        else:
            elements = np.ascontiguousarray(data).tobytes()
        name = self.names.new(tensor.name or (f"{self.prefix}/const" if self.prefix else "const"))
        node = Node("Const", name, [type], {"dtype": dtype, "value": dense_attr(type, elements)})
        self.block.prepend(node)
        return node.results[0]

    def constant(self, data: np.ndarray, name: str = "") -> Tensor:
        """A constant of the array's type."""
        return Tensor(self, data_type_of(data.dtype), data.shape, data=data, name=name)

    def scalar(self, value: float, type: int) -> Tensor:
        """A constant of a type's number."""
        return self.constant(np.array(value, numpy_dtype(type)))

    def integers(self, values: Sequence[int], type: int = DT_INT32) -> Tensor:
        """A constant vector."""
        return self.constant(np.array(values, numpy_dtype(type)))

    def cast(self, x: Tensor, type: int) -> Tensor:
        """The numbers in another type, x itself where it has it."""
        return x if x.type == type else self.op("Cast", x, DstT=element_type(type))

    def shape(self, x: Tensor, type: int = DT_INT32) -> Tensor:
        """The sizes as a vector, as known as they are."""
        return self.op("Shape", x, out_type=element_type(type))

    def size(self, x: Tensor, axis: int) -> Tensor:
        """The size of one axis, an int32 scalar."""
        return self.element(self.shape(x), axis % x.rank)

    def element(self, vector: Tensor, place: int) -> Tensor:
        """One number of a vector, a scalar."""
        bounds = [self.integers([each]) for each in (place, place + 1, 1)]
        return self.op("StridedSlice", vector, *bounds, shrink_axis_mask=1)

    def vector(self, sizes: Sequence[int | Tensor]) -> Tensor:
        """An int32 vector of numbers and int32 scalars."""
        if all(isinstance(size, int) for size in sizes):
            return self.integers([int(size) for size in sizes if isinstance(size, int)])
        parts = [self.scalar(size, DT_INT32) if isinstance(size, int) else size for size in sizes]
        return self.op("Pack", *parts, axis=0)

    def reshaped(self, x: Tensor, sizes: Sequence[int | Tensor]) -> Tensor:
        """x in another shape; x itself where it has it."""
        known = tuple(size for size in sizes if isinstance(size, int))
        if len(known) == len(sizes) - 1 and min((*known, 1)) > 0:
            # The one that is not known is what is left.
            sizes = [size if isinstance(size, int) else -1 for size in sizes]
            return self.op("Reshape", x, self.vector(sizes))
        if len(known) == len(sizes) and x.shape == known and -1 not in known:
            return x
        return self.op("Reshape", x, self.vector(sizes))

    def transposed(self, x: Tensor, order: Sequence[int]) -> Tensor:
        """x with its axes in another order."""
        if list(order) == list(range(len(order))):
            return x
        if x.data is not None:
            return self.constant(np.ascontiguousarray(x.data.transpose(order)), x.name)
        if x.integers is not None:
            return self.dequantized(x.integers.transposed(order))
        return self.op("Transpose", x, self.integers(order))

    def dequantized(self, integers: Integers) -> Tensor:
        """The floats that integers stand for; of constants they are not folded, but stay integers."""
        scales, zeros = self.constant(integers.scales), self.constant(integers.zeros)
        limits = {"quantization_min_val": -128, "quantization_max_val": 127}
        y = self.op(
            "UniformDequantize",
            *(integers.tensor, scales, zeros),
            Tout=element_type(DT_FLOAT),
            quantization_axis=integers.axis,
            **limits,
        )
        y.integers = integers if integers.tensor.data is not None else None
        return y

    def sizes_of(self, x: Tensor) -> list[int | Tensor]:
        """Each size as a number, or as a scalar that is computed when the model runs."""
        return [size if size != -1 else self.size(x, axis) for axis, size in enumerate(x.sizes)]

    def as_int32(self, x: Tensor) -> Tensor:
        """Sizes, axes and places as int32."""
        return self.cast(x, DT_INT32) if x.type == DT_INT64 else x


def plain_shape(shape: PartialShape) -> PartialShape:
    """The shape without symbols."""
    return None if shape is None else tuple(int(size) for size in shape)


def known_numbers(x: Tensor) -> np.ndarray | None:
    """What is known of a small tensor's elements, as shape rules want it."""
    if x.data is None:
        return x.numbers
    if x.data.size > MOST_ELEMENTS:
        return None
    wide = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}.get(x.data.dtype.kind)
    with np.errstate(invalid="ignore"):
        return None if wide is None else x.data.astype(wide)


def _attribute(value: Attribute | str | Sequence[int]) -> Attribute:
    if isinstance(value, str):
        return value.encode()
    return tuple(value) if isinstance(value, list) else value  # type: ignore[return-value]


def _spread(signature: Signature, count: int, held: Mapping[str, object]) -> list:
    """The argument of the op that each input belongs to. Attributes tell the lengths of all lists but one."""
    lengths = []
    for argument in signature.inputs:
        number, types = held.get(argument.number_attr or ""), held.get(argument.type_list_attr or "")
        if not argument.number_attr and not argument.type_list_attr:
            lengths.append(1)
        elif isinstance(number, int):
            lengths.append(number)
        else:
            lengths.append(len(types) if isinstance(types, tuple) else -1)
    rest = count - sum(length for length in lengths if length != -1)
    found = []
    for argument, length in zip(signature.inputs, lengths, strict=True):
        found += [argument] * (rest if length == -1 else length)
    return found


def _tell(signature: Signature, inputs: Sequence[Tensor], held: Attributes) -> None:
    """Add the attributes that the inputs tell, and the op's defaults."""
    arguments = _spread(signature, len(inputs), held)
    if len(arguments) != len(inputs):
        raise ModelError(f"{signature.name}: must have other inputs, got {len(inputs)}")
    for argument, x in zip(arguments, inputs, strict=True):
        if argument.number_attr:
            held.setdefault(argument.number_attr, sum(a is argument for a in arguments))
        if argument.type_attr:
            held.setdefault(argument.type_attr, element_type(x.type))
    for name, value in signature.defaults.items():
        held.setdefault(name, value)


def function_attr(name: str) -> FuncAttr:
    """A function by its name."""
    return FuncAttr(name, {})
