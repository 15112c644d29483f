"""If, Loop and Scan: functions of the module, to which what they use of the graph around them is passed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32, DT_INT64
from ...schema.onnx import GraphProto, ValueInfoProto
from ..building.body import Body
from ..building.control_flow import while_loop
from ..building.module_builder import FailedError
from ..building.movement import axis_of
from ..building.region import Region
from ..building.tensor import Tensor
from .branches import Run, captures, chosen, sequences_within
from .call import Call, Held, Rule
from .element_types import inner_type
from .graph_import import declared_shape
from .stacked import Growing, Stacked, carried_on

_NO_LIMIT = 2**31 - 1
# So many turns are written out where they cannot be a loop.
_MOST_IN_A_ROW = 64


def _imported(
    c: Call, body: Body, graph: GraphProto, inputs: Sequence[Held], outer: dict[str, Tensor]
) -> list[Tensor]:
    """The subgraph's outputs, whose nodes the body takes. outer are the captured tensors by their names."""
    found = _values(c, body, graph, inputs, outer)
    if not all(isinstance(each, Tensor) for each in found):
        raise UnsupportedError("sequences and optional values as results of subgraphs")
    return [each for each in found if isinstance(each, Tensor)]


def _values(
    c: Call, body: Body, graph: GraphProto, inputs: Sequence[Held], outer: dict[str, Tensor]
) -> list[Held]:
    """The subgraph's outputs, which may be sequences."""
    importer = c.importer.inner(body)
    importer.outputs = {info.name for info in graph.output}
    importer.values.update(outer)
    importer.values.update(sequences_within(c.importer, body, graph, outer))
    importer.initializers(graph)
    if len(graph.input) != len(inputs):
        raise ModelError(f"the subgraph must have {len(inputs)} inputs, got {len(graph.input)}")
    for info, tensor in zip(graph.input, inputs, strict=True):
        importer.values[info.name] = tensor
    importer.run(graph.node)
    pairs = [(importer.find(info.name), info) for info in graph.output]
    return [_as_declared(each, info) if isinstance(each, Tensor) else each for each, info in pairs]


def _as_declared(tensor: Tensor, info: ValueInfoProto) -> Tensor:
    """The tensor in the shape that the subgraph's output declares, where that says more."""
    declared = declared_shape(info.type.tensor_type, {})
    if (
        tensor.is_known
        or declared is None
        or -1 in declared
        or len(declared) != len(tensor.shape or declared)
    ):
        return tensor
    return tensor.body.reshaped(tensor, declared)


def if_(c: Call) -> list[Held]:
    """IF; the branch itself where the condition is constant. Branches may give sequences, and no value."""
    condition = c.input(0)
    graphs = [c.graph("then_branch"), c.graph("else_branch")]
    if condition.data is not None:
        return _in_place(c, graphs[0] if condition.data.reshape(-1)[0] else graphs[1])

    def run(graph: GraphProto) -> Run:
        return lambda body, outer: _values(c, body, graph, [], outer)

    outer = captures(c.importer, *graphs)
    return chosen(c.importer.shared, c.body, condition, outer, [run(graph) for graph in graphs])


def _in_place(c: Call, graph: GraphProto) -> list[Held]:
    importer = c.importer.inner(c.body)
    importer.outputs = {info.name for info in graph.output}
    importer.initializers(graph)
    importer.run(graph.node)
    return [importer.find(info.name) for info in graph.output]


def loop(c: Call) -> list[Held]:
    """WHILE over the count, the condition and what is carried; lists for what each turn gives.

    A sequence that is carried, and that turns put items behind, is such a list too; where only some turns do,
    with a list of which items are there. Turns that do something else with a sequence are written out one
    by one, where it is known how many they are.
    """
    graph, given = c.graph("body"), list(c.operands[2:])
    if any(isinstance(held, Growing) for held in given):
        return _in_a_row(c, graph, given, captures(c.importer, graph))
    sequences = [place for place, held in enumerate(given) if isinstance(held, list | Stacked)]
    carried = [c.input(2 + place) for place in range(len(given)) if place not in sequences]
    limit, first = c.optional(0), c.optional(1)
    scans = len(graph.output) - 1 - len(given)
    if scans < 0 or len(graph.input) != 2 + len(given):
        raise ModelError("the body must take and give what is carried")
    outer = captures(c.importer, graph)

    def values(body: Body, place: Tensor, state: Sequence[Tensor], outer: dict[str, Tensor]) -> list[Held]:
        at = body.cast(place, DT_INT64)
        if graph.input[0].type.tensor_type.elem_type:
            at = body.cast(place, inner_type(graph.input[0].type.tensor_type.elem_type))
        rest = iter(state)
        inputs = [Growing(place) if place in sequences else next(rest) for place in range(len(given))]
        return _values(c, body, graph, [at, body.scalar(True, DT_BOOL), *inputs], outer)

    unsure = _unsure(c, sequences, carried, outer, values)
    if unsure is None:
        return _in_a_row(c, graph, given, outer)

    def turn(body: Body, place: Tensor, state: Sequence[Tensor], outer: dict[str, Tensor]) -> list[Tensor]:
        found = values(body, place, state, outer)
        grown = [_grown(found[1 + place], place) for place in sequences]
        return [
            *(_tensor(each) for place, each in enumerate(found) if place - 1 not in sequences),
            *(each.packed() for each in grown),
            *(each.presence() for each in grown if each.place in unsure),
        ]

    lists = scans + len(sequences) + len(unsure)
    count = None if limit is None else _count(c.make("Reshape", limit, c.body.integers([])), lists > 0)
    keeps = c.body.scalar(True, DT_BOOL) if first is None else c.make("Reshape", first, c.body.integers([]))
    found = while_loop(c.importer.shared, c.body, outer, carried, lists, turn, count, keeps)
    results: list[Held] = list(found[: len(carried) + scans])
    ends = found[len(results) :]
    presence = dict(zip(unsure, ends[len(sequences) :], strict=True))
    for place, items in zip(sequences, ends, strict=False):
        results.insert(place, carried_on(given[place], items, presence.get(place)))
    return results


def _unsure(
    c: Call,
    sequences: Sequence[int],
    carried: Sequence[Tensor],
    outer: dict[str, Tensor],
    values: Callable[[Body, Tensor, Sequence[Tensor], dict[str, Tensor]], list[Held]],
) -> list[int] | None:
    """The sequences that not every turn puts as many items behind, as a turn on trial tells.

    None where turns are to be written out.
    """
    if not sequences:
        return []
    builder, like = c.importer.shared, [c.body.scalar(0, DT_INT32), *carried, *outer.values()]
    trial = Region(builder, f"{c.body.prefix}/trial", like)
    held = dict(zip(outer, trial.given[1 + len(carried) :], strict=True))
    before, functions = len(builder.refusals), len(builder.module.ops)
    try:
        found = values(trial.body, trial.given[0], trial.given[1 : 1 + len(carried)], held)
        grown = [_grown(found[1 + place], place) for place in sequences]
        for each in grown:
            if -1 in each.packed().sizes:
                raise UnsupportedError(
                    "a sequence that is carried by a loop: its items must have one known shape, "
                    "or the loop a constant number of turns"
                )
    except (FailedError, UnsupportedError, ModelError):
        if _turns(c) is None:
            raise
        del builder.refusals[before:]
        return None
    finally:
        del builder.module.ops[functions - 1 :]
    del builder.refusals[before:]
    return [each.place for each in grown if not each.is_sure]


def _turns(c: Call) -> int | None:
    """How many turns there are at most, where that is known, and few enough to write them out."""
    limit, first = c.optional(0), c.optional(1)
    if limit is None or limit.data is None or (first is not None and not _is_true(first)):
        return None
    count = int(limit.data.reshape(-1)[0])
    return count if count <= _MOST_IN_A_ROW else None


def _is_true(condition: Tensor) -> bool:
    return condition.data is not None and bool(condition.data.all())


def _in_a_row(c: Call, graph: GraphProto, given: list[Held], outer: dict[str, Tensor]) -> list[Held]:
    """The turns one after the other, each of which must say itself whether another one follows."""
    count = _turns(c)
    if count is None:
        raise UnsupportedError(
            "a loop within a loop that puts items behind the outer one's sequence: "
            f"it must have a constant number of turns, at most {_MOST_IN_A_ROW}"
        )
    state = given
    lists: list[list[Tensor]] = [[] for _ in graph.output[1 + len(given) :]]
    for place in range(max(count, 0)):
        at = c.body.constant(np.array(place, np.int64))
        goes_on, *results = _values(c, c.body, graph, [at, c.body.scalar(True, DT_BOOL), *state], outer)
        state = results[: len(given)]
        for held, item in zip(lists, results[len(given) :], strict=True):
            held.append(_tensor(item))
        if _tensor(goes_on).data is None:
            raise UnsupportedError(
                "a sequence that is carried by a loop: where a turn does more than put items behind it, "
                "the loop's condition must be constant"
            )
        if not _is_true(_tensor(goes_on)):
            break
    if lists and not lists[0]:
        raise UnsupportedError("a loop of no turns that lists what each turn gives")
    return [*state, *(c.make("Pack", *items, axis=0) for items in lists)]


def _tensor(held: Held) -> Tensor:
    if not isinstance(held, Tensor):
        raise UnsupportedError("sequences and optional values as results of subgraphs")
    return held


def _grown(held: Held, place: int) -> Growing:
    """What a turn has put behind the sequence that it was given."""
    if not isinstance(held, Growing) or held.place != place:
        raise UnsupportedError("a sequence that is carried by a loop: a turn may only put items behind it")
    return held


def _count(limit: Tensor, is_length: bool) -> Tensor:
    """The limit as int32, not negative where it is a list's length too.

    The largest int64 stands for none. Sizes of tensors need no care.
    """
    if limit.numbers is None:
        limit = limit.minimum(_NO_LIMIT)
        limit = limit.maximum(0) if is_length else limit
    return limit.body.cast(limit, DT_INT32)


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
    outer = captures(c.importer, graph)
    hidden = {f"\0row{place}": row for place, row in enumerate(rows)}
    scans = len(graph.output) - len(carried)

    def turn(body: Body, place: Tensor, state: Sequence[Tensor], held: dict[str, Tensor]) -> list[Tensor]:
        slices = []
        for name, row in hidden.items():
            given = held.get(name) or body.constant(np.asarray(row.data))
            slices.append(body.op("GatherV2", given, place, body.scalar(0, DT_INT32)))
        plain = {name: tensor for name, tensor in held.items() if name not in hidden}
        return [body.scalar(True, DT_BOOL), *_imported(c, body, graph, [*state, *slices], plain)]

    passed = {name: row for name, row in hidden.items() if row.data is None}
    keeps = c.body.scalar(True, DT_BOOL)
    found = while_loop(c.importer.shared, c.body, {**outer, **passed}, carried, scans, turn, count, keeps)
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
