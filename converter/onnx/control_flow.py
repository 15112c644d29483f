"""If, Loop and Scan: functions of the module, to which what they use of the graph around them is passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32, DT_INT64
from ...schema.onnx import AttributeProto, GraphProto, ValueInfoProto
from ..building.body import Body, plain_shape
from ..building.tensor import Tensor
from ..ir.attributes import Attributes, FuncAttr
from ..ir.module import Function
from ..ir.node import RETURN, Node
from ..ir.types import TensorType, element_type
from .call import Call, Held, Rule, axis_of
from .element_types import inner_type
from .graph_import import declared_shape


def outer_names(graph: GraphProto) -> Iterator[str]:
    """What the graph uses and does not give itself, in order of use."""
    own = {info.name for info in graph.input} | {proto.name for proto in graph.initializer}
    for node in graph.node:
        yield from (name for name in node.input if name and name not in own)
        for attribute in node.attribute:
            if attribute.type in (AttributeProto.GRAPH, AttributeProto.UNDEFINED):
                yield from (name for name in outer_names(attribute.g) if name not in own)
        own.update(node.output)
    yield from (info.name for info in graph.output if info.name not in own)


def captures(c: Call, *graphs: GraphProto) -> dict[str, Tensor]:
    """Tensors of the graph around that the subgraphs use, but for constants."""
    found = {}
    for name in dict.fromkeys(name for graph in graphs for name in outer_names(graph)):
        held = c.importer.find(name)
        if isinstance(held, Tensor) and held.data is None:
            found[name] = held
    return found


class Site(Protocol):
    """A call of a node or layer, in whose place a loop is made. importer makes functions of the module."""

    importer: Any
    body: Body

    def make(self, op: str, *inputs: Tensor, **attributes: Any) -> Tensor:
        """The first result of a TensorFlow op."""


class Region:
    """A function under construction, which stands for a subgraph. given are its arguments."""

    def __init__(self, c: Site, what: str, types: Sequence[Tensor]) -> None:
        self.function: Function = c.importer.new_function(f"{c.body.prefix}/{what}")
        body = Body(self.function.body, c.importer.shared.names)
        body.prefix = what
        self.importer = c.importer.inner(body)
        self.body = body
        self.given = [self._argument(body, place, like) for place, like in enumerate(types)]

    def _argument(self, body: Body, place: int, like: Tensor) -> Tensor:
        type = TensorType(element_type(like.type), plain_shape(like.shape))
        value = self.function.add_argument(type, {"tfg.name": f"argument{place}".encode()})
        return Tensor(body, like.type, like.shape, value)

    def run(self, graph: GraphProto, inputs: Sequence[Held], outer: dict[str, Tensor]) -> list[Tensor]:
        """Import the subgraph; its outputs. outer are the arguments by the names around."""
        importer = self.importer
        importer.values.update(outer)
        importer.initializers(graph)
        if len(graph.input) != len(inputs):
            raise ModelError(f"the subgraph must have {len(inputs)} inputs, got {len(graph.input)}")
        for info, tensor in zip(graph.input, inputs, strict=True):
            importer.values[info.name] = tensor
        importer.run(graph.node)
        found = [importer.find(info.name) for info in graph.output]
        if not all(isinstance(each, Tensor) for each in found):
            raise UnsupportedError("sequences and optional values as results of subgraphs")
        pairs = zip(found, graph.output, strict=True)
        return [_as_declared(each, info) for each, info in pairs if isinstance(each, Tensor)]

    def finish(self, results: Sequence[Tensor]) -> list[TensorType]:
        """End the function with its results; their types."""
        types = []
        for place, tensor in enumerate(results):
            type = TensorType(element_type(tensor.type), plain_shape(tensor.shape))
            self.function.add_result(type, {"tfg.name": f"result{place}".encode()})
            types.append(type)
        end = Node(RETURN, attributes={"control_ret_attrs": ()})
        operands = [tensor.value for tensor in results]
        self.function.body.append(end)
        end.operands = operands
        return types


def _as_declared(tensor: Tensor, info: ValueInfoProto) -> Tensor:
    """The tensor in the shape that the subgraph's output declares, where that says more."""
    declared = declared_shape(info, {})
    if (
        tensor.is_known
        or declared is None
        or -1 in declared
        or len(declared) != len(tensor.shape or declared)
    ):
        return tensor
    return tensor.body.reshaped(tensor, declared)


def if_(c: Call) -> list[Tensor]:
    """IF; the branch itself where the condition is constant."""
    condition = c.input(0)
    graphs = [c.graph("then_branch"), c.graph("else_branch")]
    if condition.data is not None:
        return _in_place(c, graphs[0] if condition.data.reshape(-1)[0] else graphs[1])
    outer = captures(c, *graphs)
    ends, functions = [], []
    for what, graph in zip(("then", "else"), graphs, strict=True):
        region = Region(c, what, list(outer.values()))
        results = region.run(graph, [], dict(zip(outer, region.given, strict=True)))
        ends.append(region.finish(results))
        functions.append(FuncAttr(region.function.name, {}))
    types = [_joined(one, other) for one, other in zip(*ends, strict=True)]
    condition = c.make("Reshape", condition, c.body.integers([]))
    attributes: Attributes = {
        "Tcond": element_type(DT_BOOL),
        "Tin": tuple(element_type(x.type) for x in outer.values()),
        "Tout": tuple(type.element for type in types),
        "then_branch": functions[0],
        "else_branch": functions[1],
    }
    return c.body.call("StatelessIf", [condition, *outer.values()], types, attributes)


def _joined(one: TensorType, other: TensorType) -> TensorType:
    if one.element != other.element:
        raise ModelError(f"both branches must give one type, got {one} and {other}")
    if one.shape is None or other.shape is None or len(one.shape) != len(other.shape):
        return TensorType(one.element)
    return TensorType(
        one.element, tuple(a if a == b else -1 for a, b in zip(one.shape, other.shape, strict=True))
    )


def _in_place(c: Call, graph: GraphProto) -> list[Tensor]:
    importer = c.importer.inner(c.body)
    importer.initializers(graph)
    importer.run(graph.node)
    found = [importer.find(info.name) for info in graph.output]
    return found  # type: ignore[return-value]


def loop(c: Call) -> list[Tensor]:
    """WHILE over the count, the condition and what is carried; lists for what each turn gives."""
    graph = c.graph("body")
    carried = [c.input(place) for place in range(2, len(c.operands))]
    limit, first = c.optional(0), c.optional(1)
    count = None if limit is None else c.body.cast(c.make("Reshape", limit, c.body.integers([])), DT_INT32)
    keeps = c.body.scalar(True, DT_BOOL) if first is None else c.make("Reshape", first, c.body.integers([]))
    scans = len(graph.output) - 1 - len(carried)
    if scans < 0 or len(graph.input) != 2 + len(carried):
        raise ModelError("the body must take and give what is carried")

    def turn(
        region: Region, place: Tensor, state: Sequence[Tensor], outer: dict[str, Tensor]
    ) -> list[Tensor]:
        at = region.body.cast(place, DT_INT64)
        if graph.input[0].type.tensor_type.elem_type:
            at = region.body.cast(place, inner_type(graph.input[0].type.tensor_type.elem_type))
        return region.run(graph, [at, region.body.scalar(True, DT_BOOL), *state], outer)

    return while_loop(c, captures(c, graph), carried, scans, turn, count, keeps)


Turn = Callable[[Region, Tensor, Sequence[Tensor], dict[str, Tensor]], list[Tensor]]


def while_loop(
    c: Site,
    outer: dict[str, Tensor],
    carried: Sequence[Tensor],
    scans: int,
    turn: Turn,
    count: Tensor | None,
    keeps: Tensor,
) -> list[Tensor]:
    """While a condition holds and at most so many turns.

    A turn gives the next condition, what is carried on, and what is listed. The results are what is carried
    in the end, then all that was listed, each along a new first axis.
    """
    element_shapes = _listed_types(c, outer, carried, scans, turn)
    lists = [_list(c, type, count) for type in element_shapes]
    zero = c.body.scalar(0, DT_INT32)
    state = [zero, keeps, *carried, *lists, *outer.values()]
    test = Region(c, "cond", state)
    goes_on = test.given[1]
    names = list(outer)
    if count is not None:
        if count.data is None:
            # The limit is one more that is passed on.
            names.append("")
            state.append(count)
            test = Region(c, "cond", state)
            goes_on = test.body.op("LogicalAnd", test.given[0] < test.given[-1], test.given[1])
        else:
            goes_on = test.body.op("LogicalAnd", test.given[0] < int(count.data), test.given[1])
    test.finish([goes_on])
    region = Region(c, "body", state)
    held = dict(zip(names, region.given[len(state) - len(names) :], strict=True))
    held.pop("", None)
    own = region.given[2 : 2 + len(carried)]
    again, *results = turn(region, region.given[0], own, held)
    listed = region.given[2 + len(carried) : 2 + len(carried) + scans]
    put = [
        _put(region.body, held_list, region.given[0], item)
        for held_list, item in zip(listed, results[len(carried) :], strict=True)
    ]
    again = region.body.op("Reshape", again, region.body.integers([]))
    nexts = [region.body.cast(new, old.type) for new, old in zip(results[: len(carried)], own, strict=True)]
    region.finish([region.given[0] + 1, again, *nexts, *put, *region.given[2 + len(carried) + scans :]])
    types = [
        TensorType(element_type(x.type), _loop_shape(x, new))
        for x, new in zip(state, [None, None, *nexts, *put], strict=False)
    ]
    types += [TensorType(element_type(x.type), plain_shape(x.shape)) for x in state[len(types) :]]
    attributes: Attributes = {
        "T": tuple(type.element for type in types),
        "cond": FuncAttr(test.function.name, {}),
        "body": FuncAttr(region.function.name, {}),
    }
    ended = c.body.call("StatelessWhile", state, types, attributes)
    stacked = [
        _stacked(c.body, ended[2 + len(carried) + place], type, count)
        for place, type in enumerate(element_shapes)
    ]
    return [*ended[2 : 2 + len(carried)], *stacked]


def _loop_shape(before: Tensor, after: Tensor | None) -> tuple[int, ...] | None:
    """The shape that a carried value has before and after a turn."""
    own = plain_shape(before.shape)
    other = own if after is None else plain_shape(after.shape)
    if own is None or other is None or len(own) != len(other):
        return None
    return tuple(a if a == b else -1 for a, b in zip(own, other, strict=True))


def _listed_types(
    c: Site, outer: dict[str, Tensor], carried: Sequence[Tensor], scans: int, turn: Turn
) -> list[TensorType]:
    """What one turn lists, as a turn on trial tells."""
    if not scans:
        return []
    trial = Region(c, "trial", [c.body.scalar(0, DT_INT32), *carried, *outer.values()])
    held = dict(zip(outer, trial.given[1 + len(carried) :], strict=True))
    before = len(c.importer.shared.refusals)
    try:
        results = turn(trial, trial.given[0], trial.given[1 : 1 + len(carried)], held)
    finally:
        del c.importer.shared.refusals[before:]
        c.importer.shared.module.ops.remove(trial.function)
    return [TensorType(element_type(x.type), plain_shape(x.shape)) for x in results[1 + len(carried) :]]


def _list(c: Site, type: TensorType, count: Tensor | None) -> Tensor:
    shape = type.shape
    if shape is None:
        raise UnsupportedError("what each turn lists must have a known rank")
    size = c.body.scalar(0, DT_INT32) if count is None else count
    return c.make(
        "TensorListReserve",
        c.body.integers(shape),
        size,
        element_dtype=type.element,
        shape_type=element_type(DT_INT32),
    )


def _put(body: Body, held: Tensor, place: Tensor, item: Tensor) -> Tensor:
    return body.op("TensorListSetItem", held, place, item, element_dtype=element_type(item.type))


def _stacked(body: Body, held: Tensor, type: TensorType, count: Tensor | None) -> Tensor:
    assert type.shape is not None
    known = int(count.data) if count is not None and count.data is not None else -1
    return body.op(
        "TensorListStack", held, body.integers(type.shape), element_dtype=type.element, num_elements=known
    )


def scan(c: Call) -> list[Tensor]:
    """A loop over slices of the last operands."""
    if c.opset < 9:
        raise UnsupportedError("Scan of opset 8 has another form; opsets from 9 on are built")
    graph, scanned = c.graph("body"), c.integer("num_scan_inputs")
    operands = c.inputs()
    carried, inputs = operands[: len(operands) - scanned], operands[len(operands) - scanned :]
    axes = [
        axis_of(a, x.rank) for a, x in zip(c.integers("scan_input_axes", [0] * scanned), inputs, strict=True)
    ]
    backwards = c.integers("scan_input_directions", [0] * scanned)
    rows = []
    for x, axis, back in zip(inputs, axes, backwards, strict=True):
        first = c.body.transposed(x, [axis, *(each for each in range(x.rank) if each != axis)])
        rows.append(c.make("ReverseV2", first, c.body.integers([0])) if back else first)
    if not rows:
        raise ModelError("num_scan_inputs must be positive, got 0")
    size = rows[0].sizes[0]
    count = c.body.scalar(size, DT_INT32) if size != -1 else c.body.size(rows[0], 0)
    outer = captures(c, graph)
    hidden = {f"\0row{place}": row for place, row in enumerate(rows)}
    scans = len(graph.output) - len(carried)

    def turn(region: Region, place: Tensor, state: Sequence[Tensor], held: dict[str, Tensor]) -> list[Tensor]:
        body = region.body
        slices = []
        for name, row in hidden.items():
            given = held.get(name) or body.constant(np.asarray(row.data))
            slices.append(body.op("GatherV2", given, place, body.scalar(0, DT_INT32)))
        plain = {name: tensor for name, tensor in held.items() if name not in hidden}
        return [body.scalar(True, DT_BOOL), *region.run(graph, [*state, *slices], plain)]

    passed = {name: row for name, row in hidden.items() if row.data is None}
    found = while_loop(c, {**outer, **passed}, carried, scans, turn, count, c.body.scalar(True, DT_BOOL))
    results = found[: len(carried)]
    out_axes, out_back = (
        c.integers("scan_output_axes", [0] * scans),
        c.integers("scan_output_directions", [0] * scans),
    )
    for y, axis, back in zip(found[len(carried) :], out_axes, out_back, strict=True):
        if back:
            y = c.make("ReverseV2", y, c.body.integers([0]))
        at = axis_of(axis, y.rank)
        order = list(range(1, y.rank))
        order.insert(at, 0)
        results.append(c.body.transposed(y, order))
    return results


REGISTRATIONS: dict[str, Rule] = {"If": if_, "Loop": loop, "Scan": scan}
