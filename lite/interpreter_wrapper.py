"""InterpreterWrapper: the calls that tools make below the public interpreter, under LiteRT's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..schema.shown import shown
from .errors import StateError, UnsupportedError
from .interpreter import Interpreter
from .tensor_access import numpy_type, view_tensor
from .tensor_details import quantization, quantization_parameters, sparsity_parameters

if TYPE_CHECKING:
    from .delegate import Delegate
    from .node import Node


class _ViewOwner:
    """The base of a view: it keeps the wrapper alive (which blocks invoke), and the memory."""

    def __init__(self, wrapper: object, view: np.ndarray) -> None:
        self._wrapper = wrapper
        self._view = view
        self.__array_interface__ = view.__array_interface__


class InterpreterWrapper:
    """LiteRT's wrapper class by method names; `core` is what it wraps."""

    def __init__(self, core: Interpreter) -> None:
        self.core = core

    def InputIndices(self) -> np.ndarray:
        return np.array(self.core.subgraph().inputs, np.int32)

    def OutputIndices(self) -> np.ndarray:
        return np.array(self.core.subgraph().outputs, np.int32)

    def NumSubgraphs(self) -> int:
        return len(self.core.subgraphs)

    def NumTensors(self, subgraph_index: int = 0) -> int:
        return len(self.core.subgraph(subgraph_index).tensors)

    def TensorName(self, index: int, subgraph_index: int = 0) -> str:
        """Nothing where there is no such tensor."""
        tensors = self.core.subgraph(subgraph_index).tensors
        return tensors[index].name if 0 <= index < len(tensors) else ""

    def TensorType(self, index: int, subgraph_index: int = 0) -> type[np.generic] | None:
        return numpy_type(self.core.tensor(index, subgraph_index).type)

    def TensorSize(self, index: int, subgraph_index: int = 0) -> np.ndarray:
        return np.array(self.core.tensor(index, subgraph_index).shape, np.int32)

    def TensorSizeSignature(self, index: int, subgraph_index: int = 0) -> np.ndarray:
        return np.array(self.core.tensor(index, subgraph_index).shape_signature, np.int32)

    def TensorQuantization(self, index: int, subgraph_index: int = 0) -> tuple[float, int]:
        return quantization(self.core.tensor(index, subgraph_index))

    def TensorQuantizationParameters(self, index: int, subgraph_index: int = 0) -> tuple[Any, ...]:
        tensor, tensors = self.core.tensor(index, subgraph_index), self.core.subgraph(subgraph_index).tensors
        return tuple(quantization_parameters(tensor, tensors).values())

    def TensorSparsityParameters(self, index: int, subgraph_index: int = 0) -> dict[str, Any]:
        return sparsity_parameters(self.core.tensor(index, subgraph_index))

    def GetTensor(self, index: int, subgraph_index: int = 0) -> np.ndarray:
        return self.core.get_tensor(index, subgraph_index)

    def SetTensor(self, index: int, value: object, subgraph_index: int = 0) -> None:
        self.core.set_tensor(index, value, subgraph_index)

    def tensor(self, base: object, index: int, subgraph_index: int = 0) -> np.ndarray:
        """A view of the tensor's memory that keeps base alive."""
        return np.asarray(_ViewOwner(base, view_tensor(self.core.readable_tensor(index, subgraph_index))))

    def NumNodes(self) -> int:
        return len(self.core.subgraph().nodes)

    def NodeName(self, index: int) -> str:
        """Nothing where there is no such node."""
        return self.node(index).registration.name if 0 <= index < self.NumNodes() else ""

    def NodeInputs(self, index: int) -> np.ndarray:
        return np.array(self.node(index).inputs, np.int32)

    def NodeOutputs(self, index: int) -> np.ndarray:
        return np.array(self.node(index).outputs, np.int32)

    def node(self, index: int) -> Node:
        nodes = self.core.subgraph().nodes
        if not 0 <= index < len(nodes):
            raise ValueError("Invalid node index")
        return nodes[index]

    def GetSignatureDefs(self) -> dict[str, dict[str, dict[str, int]]]:
        return {
            key: {"inputs": dict(signature.inputs), "outputs": dict(signature.outputs)}
            for key, signature in self.core.signatures.items()
        }

    def GetSubgraphIndexFromSignature(self, key: str) -> int:
        if key not in self.core.signatures:
            raise ValueError(f'Invalid signature_key provided: "{shown(key)}".')
        return self.core.signatures[key].subgraph_index

    def ResizeInputTensor(
        self, index: int, shape: np.ndarray, strict: bool = False, subgraph_index: int = 0
    ) -> None:
        shape = np.asarray(shape)
        if shape.ndim == 1 and shape.dtype != np.int32:
            raise ValueError(f"Shape must be type int32 (was {shape.dtype.num}).")
        self.core.resize_input(index, shape, strict, subgraph_index)

    def AllocateTensors(self, subgraph_index: int = 0) -> None:
        self.core.allocate_tensors(max(subgraph_index, 0))

    def Invoke(self, subgraph_index: int = 0) -> None:
        self.core.subgraph(subgraph_index)
        self.core.invoke(subgraph_index)

    def ResetVariableTensors(self) -> None:
        self.core.reset_all_variables()

    def SetNumThreads(self, num_threads: int) -> None:
        if any(subgraph.stages for subgraph in self.core.subgraphs):
            raise StateError("SetNumThreads: it must be called before allocate_tensors()")
        if num_threads < -1 or num_threads == 0:
            raise ValueError("num_threads should >= 1")
        self.core.runtime.num_threads = max(num_threads, 1)

    def ModifyGraphWithDelegate(self, delegate: Delegate) -> None:
        self.core.modify_graph_with_delegate(delegate)

    def interpreter(self) -> NoReturn:
        """UnsupportedError: C++ code would take any number for a pointer, and end the process."""
        raise UnsupportedError(
            "interpreter(): it must be the address of a C++ tflite::Interpreter, and numlite has none; "
            "Interpreter.core reaches the runtime, experimental_preserve_all_tensors=True and get_tensor "
            "give every tensor's value, profile() the operators' times"
        )
