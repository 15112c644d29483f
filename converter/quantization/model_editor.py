"""ModelEditor: a .tflite file's tables, changed in place, and the file that they make."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import cast
from weakref import WeakKeyDictionary

import numpy as np

from ...kernels.packed import PACKED_BITS, elements_of
from ...lite.errors import UnsupportedError
from ...lite.model import Model
from ...lite.tensor import NUMPY_DTYPES, TensorType
from ...schema import tflite
from ...schema.objects import TableT, copied
from ...schema.operator_code import CODES, CUSTOM, operator_code, operator_name
from ..flatbuffer import ModelFile, constant_bytes
from ..lite_graph import LiteOperator, LiteTensor
from ..operator_version import version_of
from .compact_model import compact


class ModelEditor:
    """A model as objects. root has no buffers: a tensor's `buffer` is a number that content() knows.

    Constants are views of the file; what is changed gets a new number, so that tensors that share one
    stay independent. Raises UnsupportedError for a model whose weights lie in other files.
    """

    def __init__(self, model: Model) -> None:
        if model not in _OPENED:
            _OPENED[model] = _opened(model)
        root, contents = _OPENED[model]
        self.root = cast(tflite.ModelT, copied(root))
        self._contents = list(contents)
        self._old_operators = [list(subgraph.operators or []) for subgraph in self.subgraphs]

    def copied(self) -> ModelEditor:
        """Another editor of the model as it is now; its constants are shared."""
        made = object.__new__(ModelEditor)
        made.root = cast(tflite.ModelT, copied(self.root))
        made._contents = list(self._contents)
        now = {
            id(old): new
            for before, after in zip(self.subgraphs, made.subgraphs, strict=True)
            for old, new in zip(before.operators or (), after.operators or (), strict=True)
        }
        made._old_operators = [[now.get(id(o), o) for o in operators] for operators in self._old_operators]
        return made

    @property
    def subgraphs(self) -> list[tflite.SubGraphT]:
        return self.root.subgraphs or []

    def operators(self, subgraph: tflite.SubGraphT) -> Iterator[tuple[tflite.OperatorT, str]]:
        """Each operator with its name, in order; the list may be changed meanwhile."""
        return ((operator, self.name(operator)) for operator in list(subgraph.operators or []))

    def name(self, operator: tflite.OperatorT) -> str:
        """The operator's name in the schema, CUSTOM for a custom one."""
        return operator_name(self._code(operator))

    def content(self, tensor: tflite.TensorT) -> np.ndarray | None:
        """A constant's bytes (flat uint8), None for what is no constant."""
        return self._contents[tensor.buffer] if tensor.buffer else None

    def constant(self, tensor: tflite.TensorT) -> np.ndarray | None:
        """A constant in its shape and type (2 and 4 bits as int8); None for what is none, or is sparse.

        Types that NumPy does not have are None, too. A buffer may hold more than its tensor.
        """
        content = self.content(tensor)
        type_ = TensorType(tensor.type)
        if content is None or tensor.is_variable or tensor.sparsity is not None:
            return None
        shape = _numbers(tensor.shape)
        count = math.prod(shape)
        if type_ in PACKED_BITS:
            return elements_of(content, type_)[:count].reshape(shape)
        if type_ not in NUMPY_DTYPES:
            return None
        dtype = NUMPY_DTYPES[type_]
        return content[: count * dtype.itemsize].view(dtype).reshape(shape)

    def set_constant(
        self,
        tensor: tflite.TensorT,
        type: TensorType,
        data: np.ndarray,
        quantization: tflite.QuantizationParametersT | None = None,
    ) -> None:
        """Make a tensor a constant of other values (2 and 4 bits from int8); others keep what they have."""
        tensor.type, tensor.quantization = type, quantization
        tensor.buffer = self.buffer(constant_bytes(data, type))

    def buffer(self, content: np.ndarray) -> int:
        """A new buffer of bytes (flat uint8). Equal ones become one in the file."""
        self._contents.append(content)
        return len(self._contents) - 1

    def add_tensor(
        self,
        subgraph: tflite.SubGraphT,
        name: str,
        type: TensorType,
        like: tflite.TensorT,
        quantization: tflite.QuantizationParametersT | None = None,
    ) -> int:
        """A new tensor without data, of the shape that another has; its index."""
        return self._append(
            subgraph,
            tflite.TensorT(
                name=name,
                type=type,
                shape=like.shape,
                shape_signature=like.shape_signature,
                has_rank=like.has_rank,
                quantization=quantization,
            ),
        )

    def add_constant(
        self,
        subgraph: tflite.SubGraphT,
        name: str,
        type: TensorType,
        data: np.ndarray,
        quantization: tflite.QuantizationParametersT | None = None,
    ) -> int:
        """A new constant (2 and 4 bits from int8); its index."""
        tensor = tflite.TensorT(name=name, shape=list(data.shape), has_rank=True)
        self.set_constant(tensor, type, data, quantization)
        return self._append(subgraph, tensor)

    def _append(self, subgraph: tflite.SubGraphT, tensor: tflite.TensorT) -> int:
        assert subgraph.tensors is not None
        subgraph.tensors.append(tensor)
        return len(subgraph.tensors) - 1

    def insert(
        self,
        subgraph: tflite.SubGraphT,
        place: int,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: TableT | None = None,
    ) -> tflite.OperatorT:
        """A new builtin operator, in the order at a place, of the version that its types need."""
        second = options is not None and type(options).__name__[:-1] in tflite.UNIONS["BuiltinOptions2"]
        operator = tflite.OperatorT(
            inputs=list(inputs),
            outputs=list(outputs),
            builtin_options=None if second else options,
            builtin_options_2=options if second else None,
        )
        self.set_operator(subgraph, operator, name)
        assert subgraph.operators is not None
        subgraph.operators.insert(place, operator)
        return operator

    def set_operator(
        self, subgraph: tflite.SubGraphT, operator: tflite.OperatorT, name: str | None = None
    ) -> None:
        """Give an operator the version that its types need, and perhaps another code."""
        code = self._code(operator) if name is None else CODES[name]
        assert code != CUSTOM
        version = version_of(self._lite_operator(subgraph, operator, code))
        codes = self.root.operator_codes = self.root.operator_codes or []
        for index, entry in enumerate(codes):
            if builtin_code_of(entry) == code and entry.version == version:
                operator.opcode_index = index
                return
        operator.opcode_index = len(codes)
        codes.append(operator_code(code, None, version))

    def custom_operator(
        self, name: str, inputs: Sequence[int], outputs: Sequence[int], options: Mapping[str, object]
    ) -> tflite.OperatorT:
        """A new custom operator, in no list yet, whose options are a flexbuffer map."""
        from flatbuffers import flexbuffers

        codes = self.root.operator_codes = self.root.operator_codes or []
        index = next((i for i, entry in enumerate(codes) if entry.custom_code == name), len(codes))
        if index == len(codes):
            codes.append(operator_code(CUSTOM, name, 1))
        packed = np.frombuffer(bytes(flexbuffers.Dumps(dict(options))), np.uint8)
        return tflite.OperatorT(
            opcode_index=index, inputs=list(inputs), outputs=list(outputs), custom_options=packed
        )

    def finish(self) -> ModelFile:
        """The file: no tensor, buffer or operator code that nothing uses, and equal contents once."""
        return compact(self.root, self._contents, self._old_operators)

    def _code(self, operator: tflite.OperatorT) -> int:
        return builtin_code_of((self.root.operator_codes or [])[operator.opcode_index])

    def _lite_operator(
        self, subgraph: tflite.SubGraphT, operator: tflite.OperatorT, code: int
    ) -> LiteOperator:
        """The operator as the table of versions reads it."""
        tensors = subgraph.tensors or []
        known = {i: _lite_tensor(tensors[i]) for i in (*operator.inputs, *operator.outputs) if i >= 0}  # type: ignore[misc]
        options = operator.builtin_options or operator.builtin_options_2
        return LiteOperator(
            tflite.BuiltinOperator(code),
            [known.get(i) for i in operator.inputs or ()],
            [known[i] for i in operator.outputs or ()],
            options,
            (),
        )


# The tables of models, which editors copy: unpacking takes ten times as long.
_Opened = tuple[tflite.ModelT, list[np.ndarray | None]]
_OPENED: WeakKeyDictionary[Model, _Opened] = WeakKeyDictionary()


def _opened(model: Model) -> _Opened:
    """A model's tables without buffers, and what these hold."""
    root = tflite.unpack(model.root)
    if root.external_buffers:
        raise UnsupportedError(
            "model: its weights must lie in the file itself, got external buffers; a file that has them "
            "inside can be quantized"
        )
    contents = [model.buffer(i) for i in range(len(root.buffers or []))]
    root.buffers = root.metadata_buffer = None
    for number, subgraph in enumerate(root.subgraphs or []):
        _make_lists(model, number, subgraph)
    return root, contents


def _make_lists(model: Model, number: int, subgraph: tflite.SubGraphT) -> None:
    """Lists that can be changed; no tables of parameters that say nothing."""
    subgraph.tensors, subgraph.operators = list(subgraph.tensors or []), list(subgraph.operators or [])
    subgraph.inputs, subgraph.outputs = _numbers(subgraph.inputs), _numbers(subgraph.outputs)
    readers = model.root.subgraphs[number].operators
    for operator, reader in zip(subgraph.operators, readers, strict=True):
        operator.inputs, operator.outputs = _numbers(operator.inputs), _numbers(operator.outputs)
        if operator.large_custom_options_offset > 1:
            operator.custom_options = model.custom_options(reader)
            operator.large_custom_options_offset = operator.large_custom_options_size = 0
    for tensor in subgraph.tensors:
        found = tensor.quantization
        if found is not None and _says_nothing(found):
            tensor.quantization = None


def builtin_code_of(entry: tflite.OperatorCodeT) -> int:
    """builtin_code of an entry that is an object."""
    return max(entry.builtin_code, entry.deprecated_builtin_code)


def _numbers(values: Sequence[int] | np.ndarray | None) -> list[int]:
    if isinstance(values, np.ndarray):
        return values.tolist()
    return [] if values is None else [int(value) for value in values]


def _says_nothing(found: tflite.QuantizationParametersT) -> bool:
    lists = (found.scale, found.zero_point, found.min, found.max)
    return found.details is None and all(values is None or not len(values) for values in lists)


def _lite_tensor(tensor: tflite.TensorT) -> LiteTensor:
    shape = None if tensor.shape is None and not tensor.has_rank else tuple(_numbers(tensor.shape))
    made = LiteTensor(tensor.name or "", TensorType(tensor.type), shape)
    made.quantization = tensor.quantization
    return made
