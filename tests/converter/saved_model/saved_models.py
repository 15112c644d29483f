"""SavedModels and GraphDefs written for the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from google.protobuf import text_format
from numlite.converter import GraphRunner
from numlite.converter.saved_model import FrozenGraph, SavedModel, load_saved_model
from numlite.schema import graph_def
from numlite.schema.graph_def import AttrValue, FunctionDef, GraphDef, NodeDef
from numlite.schema.saved_model import MetaGraphDef
from numlite.schema.saved_model import SavedModel as SavedModelProto

from .checkpoint_files import write_floats


@dataclass(frozen=True)
class Type:
    """An element type, as an attribute."""

    number: int


@dataclass(frozen=True)
class Func:
    """A function, as an attribute."""

    name: str


FLOAT, INT, STRING = Type(graph_def.DT_FLOAT), Type(graph_def.DT_INT32), Type(graph_def.DT_STRING)
BOOL, RESOURCE = Type(graph_def.DT_BOOL), Type(graph_def.DT_RESOURCE)
LONG = Type(graph_def.DT_INT64)


def add(owner: GraphDef | FunctionDef, op: str, name: str, *inputs: str, **attrs: object) -> NodeDef:
    """A new last node."""
    nodes = owner.node if isinstance(owner, GraphDef) else owner.node_def
    made = nodes.add(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        _set(made.attr[key], value)
    return made


def _set(attr: AttrValue, value: object) -> None:
    if isinstance(value, Type):
        attr.type = value.number
    elif isinstance(value, Func):
        attr.func.name = value.name
    elif isinstance(value, bool):
        attr.b = value
    elif isinstance(value, int):
        attr.i = value
    elif isinstance(value, str):
        attr.s = value.encode()
    elif isinstance(value, tuple):
        attr.shape.SetInParent()
        for size in value:
            attr.shape.dim.add(size=size)
    elif isinstance(value, list):
        attr.list.SetInParent()
        attr.list.type.extend(item.number for item in value if isinstance(item, Type))
        for item in value:
            if isinstance(item, Func):
                attr.list.func.add(name=item.name)
    else:
        raise TypeError(value)


def constant(owner: GraphDef | FunctionDef, name: str, value: object, type: Type = FLOAT) -> None:
    """A Const."""
    made = add(owner, "Const", name, dtype=type)
    tensor = made.attr["value"].tensor
    tensor.dtype = type.number
    tensor.tensor_shape.SetInParent()
    if type == STRING:
        values = value if isinstance(value, list) else [value]
        if isinstance(value, list):
            tensor.tensor_shape.dim.add(size=len(value))
        tensor.string_val.extend(values)
        return
    array = np.array(value, {FLOAT: np.float32, INT: np.int32, BOOL: np.bool_, LONG: np.int64}[type])
    for size in array.shape:
        tensor.tensor_shape.dim.add(size=size)
    tensor.tensor_content = array.tobytes()


def variable(graph: GraphDef, name: str, *shape: int, **attrs: object) -> None:
    """The handle of a float variable."""
    add(graph, "VarHandleOp", name, dtype=FLOAT, shape=shape, **{"shared_name": name, **attrs})


def function(
    graph: GraphDef,
    name: str,
    arguments: Mapping[str, Type],
    results: Mapping[str, tuple[Type, str]],
    controls: Sequence[str] = (),
) -> FunctionDef:
    """A new function: results by name, with what gives them; control results are nodes."""
    made = graph.library.function.add()
    made.signature.name = name
    for argument, type in arguments.items():
        made.signature.input_arg.add(name=argument, type=type.number)
    for result, (type, source) in results.items():
        made.signature.output_arg.add(name=result, type=type.number)
        made.ret[result] = source
    for control in controls:
        made.signature.control_output.append(control)
        made.control_ret[control] = control
    return made


def signature(
    meta_graph: MetaGraphDef, name: str, inputs: Mapping[str, str], outputs: Mapping[str, str]
) -> None:
    """A signature over tensors of floats."""
    made = meta_graph.signature_def.add(key=name).value
    for entries, tensors in ((made.inputs, inputs), (made.outputs, outputs)):
        for key, tensor in tensors.items():
            info = entries.add(key=key).value
            info.name, info.dtype = tensor, FLOAT.number
            info.tensor_shape.unknown_rank = True


def restores(
    meta_graph: MetaGraphDef, variables: Mapping[str, str], specs: Mapping[str, str] | None = None
) -> None:
    """Nodes that restore each variable (its handle's node) from a tensor of the checkpoint, or part of it."""
    graph = meta_graph.graph_def
    parts = specs or {}
    constant(graph, "save/file", b"", STRING)
    constant(graph, "save/names", [name.encode() for name in variables.values()], STRING)
    constant(graph, "save/parts", [parts.get(name, "").encode() for name in variables], STRING)
    made = add(graph, "RestoreV2", "save/restore", "save/file", "save/names", "save/parts")
    made.attr["dtypes"].list.type.extend([FLOAT.number] * len(variables))
    root = add(graph, "NoOp", "save/all")
    for i, name in enumerate(variables):
        if next(node.op for node in graph.node if node.name == name) == "VarHandleOp":
            add(graph, "Identity", f"save/value_{i}", f"save/restore:{i}", T=FLOAT)
            add(graph, "AssignVariableOp", f"save/assign_{i}", name, f"save/value_{i}", dtype=FLOAT)
        else:
            add(graph, "Assign", f"save/assign_{i}", name, f"save/restore:{i}", T=FLOAT)
        root.input.append(f"^save/assign_{i}")
    meta_graph.saver_def.restore_op_name = "save/all"


def init_op(meta_graph: MetaGraphDef, node: str) -> None:
    entry = meta_graph.collection_def.add(key="saved_model_main_op")
    entry.value.node_list.value.append(node)


def new_model(*tags: str) -> tuple[MetaGraphDef, GraphDef]:
    """An empty graph with these tags ("serve" without any)."""
    meta_graph = MetaGraphDef()
    meta_graph.meta_info_def.tags.extend(tags or ("serve",))
    meta_graph.graph_def.versions.producer = 1000
    return meta_graph, meta_graph.graph_def


def write_model(
    path: Path,
    *meta_graphs: MetaGraphDef,
    tensors: Mapping[str, np.ndarray] | None = None,
    as_text: bool = False,
) -> Path:
    """The folder of a SavedModel, with float tensors as its checkpoint."""
    path.mkdir(parents=True, exist_ok=True)
    proto = SavedModelProto(saved_model_schema_version=1, meta_graphs=meta_graphs)
    if as_text:
        (path / "saved_model.pbtxt").write_text(text_format.MessageToString(proto))
    else:
        (path / "saved_model.pb").write_bytes(proto.SerializeToString(deterministic=True))
    if tensors is not None:
        (path / "variables").mkdir(exist_ok=True)
        write_floats(path / "variables" / "variables", tensors)
    return path


def loaded(
    path: Path, *meta_graphs: MetaGraphDef, tensors: Mapping[str, np.ndarray] | None = None
) -> SavedModel:
    return load_saved_model(write_model(path, *meta_graphs, tensors=tensors))


class Running:
    """A frozen graph that runs, its initializers done."""

    def __init__(self, frozen: FrozenGraph) -> None:
        self.frozen = frozen
        self.runner = GraphRunner(frozen.graph_def())
        if frozen.initializers:
            self.runner.run(targets=frozen.initializers)

    def __call__(self, **inputs: object) -> dict[str, np.ndarray]:
        """The outputs by name."""
        feeds = {self.frozen.inputs[name].tensor: np.asarray(value) for name, value in inputs.items()}
        fetches = [output.tensor for output in self.frozen.outputs.values()]
        return dict(zip(self.frozen.outputs, self.runner.run(feeds, fetches), strict=True))


def ops(frozen: FrozenGraph) -> list[str]:
    """Ops of the graph, sorted."""
    return sorted(node.op for node in frozen.graph_def().node)


def linear() -> MetaGraphDef:
    """y = x * w + b, w by a handle and b by a reference."""
    meta_graph, graph = new_model()
    add(graph, "Placeholder", "x", dtype=FLOAT)
    variable(graph, "w", 3)
    add(graph, "VariableV2", "b", dtype=FLOAT, shape=(3,))
    add(graph, "ReadVariableOp", "w/read", "w", dtype=FLOAT)
    add(graph, "Identity", "b/read", "b", T=FLOAT)
    add(graph, "Mul", "mul", "x", "w/read", T=FLOAT)
    add(graph, "AddV2", "y", "mul", "b/read", T=FLOAT)
    signature(meta_graph, "run", {"x": "x:0"}, {"y": "y:0"})
    return meta_graph


TENSORS = {"w": np.float32([1, 2, 3]), "b": np.float32([10, 20, 30])}


def table_model(filename: str) -> MetaGraphDef:
    """A table from the file's columns 0 and 1, whose path goes through a variable."""
    meta_graph, graph = new_model()
    add(graph, "Placeholder", "path", dtype=STRING)
    variable(graph, "held")
    graph.node[-1].attr["dtype"].type = STRING.number
    add(graph, "AssignVariableOp", "held/assign", "held", "path", dtype=STRING)
    add(graph, "ReadVariableOp", "held/read", "held", "^held/assign", dtype=STRING)
    add(graph, "HashTableV2", "table", key_dtype=STRING, value_dtype=LONG, shared_name="t")
    add(
        graph,
        *("InitializeTableFromTextFileV2", "fill", "table", "held/read"),
        **{"key_index": 0, "value_index": 1, "delimiter": ","},
    )
    add(graph, "NoOp", "init", "^fill", "^held/assign")
    add(graph, "Placeholder", "k", dtype=STRING)
    constant(graph, "none", -1, LONG)
    add(graph, "LookupTableFindV2", "find", "table", "k", "none", Tin=STRING, Tout=LONG)
    signature(meta_graph, "run", {"k": "k:0"}, {"v": "find:0"})
    init_op(meta_graph, "init")
    asset = meta_graph.asset_file_def.add(filename=filename)
    asset.tensor_info.name = "path:0"
    return meta_graph
