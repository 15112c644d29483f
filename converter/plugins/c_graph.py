"""The graph half of TensorFlow's C interface: what a plugin's optimize function may ask about its graph."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import RLock

from google.protobuf.message import DecodeError

from ...kernels.fallback.status import FailedPreconditionError, InvalidArgumentError
from ...kernels.plugin.buffer import content, fill
from ...kernels.plugin.callbacks import Answer, name_text
from ...kernels.plugin.handles import Handles
from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import GraphDef, OpDef, TensorProto, TensorShapeProto
from ...schema.op_info import OpInfo
from ..ir.attributes import DenseAttr
from ..ir.dense import tensor_proto
from ..ir.import_graph import import_graph_def
from ..ir.import_options import ImportOptions
from ..optimizers.item import GrapplerItem
from ..optimizers.properties import GraphProperties, TensorProperties
from .plugin import FunctionLibrary

_NO_STORAGE = "Not enough storage to hold the requested list of nodes"
_POINTER, _INT, _SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t


@dataclass
class CItem:
    """A TF_GrapplerItem: the graph's bytes, the names in it, and definitions of ops that are not
    TensorFlow's.
    """

    graph: bytes
    preserved: Sequence[str]
    feeds: Sequence[str]
    fetches: Sequence[str]
    ops: Mapping[str, OpDef]

    @cached_property
    def item(self) -> GrapplerItem:
        """The graph as properties want it, made when they are first asked for."""
        try:
            options = ImportOptions(check_nodes=False, op_defs=tuple(self.ops.values()))
            module = import_graph_def(self._parsed(), options)
        except (ModelError, UnsupportedError, DecodeError) as error:
            raise InvalidArgumentError(f"graph: must import, got: {error}") from error
        return GrapplerItem(module, tuple(self.feeds), tuple(self.fetches), tuple(self.preserved))

    @cached_property
    def constants(self) -> dict[int, TensorProto]:
        """The tensors of the graph's constants as they are written there, by the id of what they are here."""
        written = {node.name: node.attr["value"].tensor for node in self._parsed().node if node.op == "Const"}
        nodes = (node for node in self.item.nodes() if node.name in written)
        return {id(node.attributes.get("value")): written[node.name] for node in nodes}

    def _parsed(self) -> GraphDef:
        return GraphDef.FromString(self.graph)


class CProperties:
    """A TF_GraphProperties: what is inferred of a graph's values, once, for a C optimizer.

    Safe from several threads. Nothing is known before infer; TensorFlow infers once for each of these.
    """

    def __init__(self, item: CItem) -> None:
        self.item = item
        self.held = GraphProperties(item.item)
        self.is_inferred = False
        self.lock = RLock()

    def infer(self, valid_feeds: int, aggressive: int, input_values: int, output_values: int) -> None:
        """Infer from the graph alone; the flags are those of TF_InferStatically, 0 or 1.

        Raises FailedPreconditionError the second time, where TensorFlow ends the process.
        """
        with self.lock:
            if self.is_inferred:
                raise FailedPreconditionError(
                    "TF_InferStatically: must be called once on a TF_GraphProperties"
                )
            self.is_inferred = True
            self.held.infer_statically(
                bool(valid_feeds), bool(aggressive), bool(input_values), bool(output_values)
            )

    def of(self, name: bytes | None, outputs: bool) -> list[TensorProperties]:
        """Of a node's inputs or outputs; of none for a name of nothing."""
        with self.lock:
            ask = self.held.output_properties if outputs else self.held.input_properties
            return ask(name_text(name))

    def message(self, properties: TensorProperties) -> OpInfo.TensorProperties:
        """What plugins read; a constant of the graph is written as it is there."""
        made = properties_proto(properties)
        if made.HasField("value"):
            with self.lock:
                written = self.item.constants.get(id(properties.value))
            if written is not None:
                made.value.CopyFrom(written)
        return made


def graph_answers(handles: Handles, ops: Mapping[str, OpDef]) -> Mapping[str, Answer]:
    """What the functions of TensorFlow's C interface for graph optimizers do, by their C names.

    Their handles stand for a CItem, CProperties or FunctionLibrary. ops are the definitions that plugins
    have registered. What an answer raises (an OpError) becomes the status of the C call.
    Source: TensorFlow c/experimental/grappler/grappler.h.
    """

    def preserved(handle: int) -> list[bytes]:
        return _encoded(handles.get(handle, CItem).preserved)

    def fetched(handle: int) -> list[bytes]:
        return _encoded(handles.get(handle, CItem).fetches)

    def new_library(buffer: int) -> int:
        try:
            graph = GraphDef.FromString(content(buffer))
        except DecodeError as error:
            raise InvalidArgumentError(f"graph: must be a GraphDef, got {error}") from error
        return handles.new(FunctionLibrary.of_graph_def(graph, ops))

    def look_up(handle: int, name: bytes | None, buffer: int) -> None:
        definition = handles.get(handle, FunctionLibrary).look_up_op_def(name_text(name))
        fill(buffer, definition.SerializeToString())

    answers: dict[str, Answer] = {
        "TF_GetNodesToPreserveListSize": _size_of(preserved),
        "TF_GetNodesToPreserveList": _list_of(preserved),
        "TF_GetFetchNodesListSize": _size_of(fetched),
        "TF_GetFetchNodesList": _list_of(fetched),
        "TF_NewGraphProperties": lambda handle: handles.new(CProperties(handles.get(handle, CItem))),
        "TF_DeleteGraphProperties": handles.drop,
        "TF_InferStatically": lambda handle, *flags: handles.get(handle, CProperties).infer(*flags),
        "TF_NewFunctionLibraryDefinition": new_library,
        "TF_DeleteFunctionLibraryDefinition": handles.drop,
        "TF_LookUpOpDef": look_up,
    }
    for side in ("Input", "Output"):
        answers[f"TF_Get{side}PropertiesListSize"] = _property_count(handles, side == "Output")
        answers[f"TF_Get{side}PropertiesList"] = _property_list(handles, side == "Output")
    return answers


def _encoded(names: Iterable[str]) -> list[bytes]:
    return [name.encode(errors="surrogateescape") for name in names]


def _size_of(names: Callable[[int], list[bytes]]) -> Answer:
    def answer(handle: int, count: int, storage_size: int) -> None:
        found = names(handle)
        _there(count, storage_size)
        _INT.from_address(count).value = len(found)
        _SIZE.from_address(storage_size).value = sum(map(len, found))

    return answer


def _list_of(names: Callable[[int], list[bytes]]) -> Answer:
    """No name ends in a zero: the next one follows at once."""

    def answer(handle: int, values: int, lengths: int, count: int, storage: int, room: int) -> None:
        found = names(handle)
        if count < len(found):
            raise InvalidArgumentError(f"num_values: must be {len(found)}, got {count}")
        if not found:
            return
        _there(values, lengths, storage)
        used = 0
        for index, name in enumerate(found):
            if used + len(name) > room:
                raise InvalidArgumentError(_NO_STORAGE)
            _POINTER.from_address(values + 8 * index).value = storage + used
            _SIZE.from_address(lengths + 8 * index).value = len(name)
            ctypes.memmove(storage + used, name, len(name))
            used += len(name)

    return answer


def _there(*pointers: int) -> None:
    if not all(pointers):
        raise InvalidArgumentError("pointers to what is filled in: must not be null")


def _property_count(handles: Handles, outputs: bool) -> Answer:
    def answer(handle: int, name: bytes | None, count: int) -> None:
        found = handles.get(handle, CProperties).of(name, outputs)
        _there(count)
        _INT.from_address(count).value = len(found)

    return answer


def _property_list(handles: Handles, outputs: bool) -> Answer:
    def answer(handle: int, name: bytes | None, buffers: int, count: int) -> None:
        held = handles.get(handle, CProperties)
        found = held.of(name, outputs)
        if count < len(found):
            raise InvalidArgumentError(f"num_values: must be {len(found)}, got {count}")
        if found:
            _there(buffers)
        for index, each in enumerate(found):
            fill(_POINTER.from_address(buffers + 8 * index).value, held.message(each).SerializeToString())

    return answer


def properties_proto(properties: TensorProperties) -> OpInfo.TensorProperties:
    """The message that plugins read of one value: its dtype, shape, and elements where they are known.

    An unknown size is -1, or a number of at most -2 that equal unknown sizes share. A shape of rank 0 is
    not there at all, an unknown rank says so.
    """
    made = OpInfo.TensorProperties(dtype=properties.dtype)
    if properties.shape is None:
        made.shape.unknown_rank = True
    elif properties.shape:  # TensorFlow writes no shape at all for rank 0
        made.shape.dim.extend(TensorShapeProto.Dim(size=size) for size in properties.shape)
    if isinstance(properties.value, DenseAttr):
        made.value.CopyFrom(tensor_proto(properties.value))
    return made
