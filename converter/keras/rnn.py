"""Recurrent layers: the steps one after the other, or in a loop over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32
from ..building.body import Body
from ..building.control_flow import while_loop
from ..building.tensor import Tensor
from .call import Call, Given, Result, Value, flat
from .config import Config
from .kind import Kind, Read
from .layer import Layer
from .rnn_cells import AHEAD, all_states, cell_of, state_sizes

# Shorter sequences are written out: a loop costs more than so many steps.
_MOST_STEPS = 8
_MOST_UNROLLED = 512


def recurrent(c: Call) -> list[Value]:
    """The outputs by time or the last one, and with return_state the last states.

    Where a step is masked, states stay, and the output is the one before, or with zero_output_for_mask 0.
    """
    if c.config.flag("stateful"):
        raise UnsupportedError(
            "stateful=True keeps states between calls; save the model with stateful=False, return_state=True "
            "and initial_state as an input"
        )
    x, cell = c.floats(c.x), c.layer.parts["cell"]
    is_major = c.config.flag("time_major")
    is_image = cell.kind.startswith("ConvLSTM")
    if is_image and c.is_channels_first:
        x = c.body.transposed(x, [0, 1, *range(3, x.rank), 2])
    rows = x if is_major else _swapped(x)
    mask = None if c.mask is None else _time_mask(c, c.mask, rows.rank, is_major)
    if c.config.flag("go_backwards"):
        rows, mask = _reversed(rows), None if mask is None else _reversed(mask)
    shares = _shares(c, cell, rows)
    states = _initial(c, cell, rows, shares)
    run = _Steps(c, cell, shares, mask)
    ys, last, states = run.all(states)
    results = [_output(c, y, is_major) for y in ([ys] if ys is not None else [last])]
    if is_image and c.is_channels_first:
        results = [_first(y, 2 if ys is not None else 1) for y in results]
        states = [_first(state, 1) for state in states]
    keeps = c.config.flag("return_sequences")
    found = [Value(results[0], c.mask if keeps else None)]
    return [*found, *(all_states(states) if c.config.flag("return_state") else [])]


def _swapped(x: Tensor) -> Tensor:
    return x.body.transposed(x, [1, 0, *range(2, x.rank)])


def _reversed(x: Tensor) -> Tensor:
    return x.body.op("ReverseV2", x, x.body.integers([0]))


def _first(y: Tensor, place: int) -> Tensor:
    """The last axis brought to a place."""
    order = list(range(y.rank - 1))
    order.insert(place, y.rank - 1)
    return y.body.transposed(y, order)


def _output(c: Call, y: Tensor, is_major: bool) -> Tensor:
    return y if is_major or not c.config.flag("return_sequences") else _swapped(y)


def _time_mask(c: Call, mask: Tensor, rank: int, is_major: bool) -> Tensor:
    """[time, batch] with as many axes as a step has."""
    mask = c.body.cast(mask, DT_BOOL)
    mask = mask if is_major else _swapped(mask)
    for _ in range(rank - 2):
        mask = c.make("ExpandDims", mask, c.body.scalar(mask.rank, DT_INT32))
    return mask


def _shares(c: Call, cell: Layer, rows: Tensor) -> Tensor:
    """What the steps are given: for known cells the inputs' share in their gates."""
    ahead = AHEAD.get(cell.kind)
    if ahead is None or cell.class_name in c.importer.custom or cell.name in c.importer.custom:
        return rows
    inner = Call(c.importer, cell, [Value(rows)], {}, c.body)
    if rows.rank == 3:
        return ahead.share(inner, rows)
    sizes = c.body.sizes_of(rows)
    flat_rows = c.body.reshaped(rows, [-1, *sizes[2:]])
    made = ahead.share(inner, flat_rows)
    return c.body.reshaped(made, [*sizes[:2], *c.body.sizes_of(made)[1:]])


def _initial(c: Call, cell: Layer, rows: Tensor, shares: Tensor) -> list[Tensor]:
    """The states that are given, or zeros."""
    given = [value.tensor for value in list(flat(c.arguments[0]))[1:]] if c.arguments else []
    named: Given = c.argument(1, "initial_state")
    given = given or [value.tensor for value in flat(named)]
    is_image = cell.kind.startswith("ConvLSTM")
    if is_image:
        filters = cell.config.positive("filters")
        shapes = [[*shares.sizes[2:-1], filters]] * 2
    else:
        shapes = [[size] for size in state_sizes(cell)]
    if given:
        if len(given) != len(shapes):
            raise ModelError(f"it must be given {len(shapes)} states, got {len(given)}")
        last = [c.last(state) for state in given] if is_image else given
        return [c.floats(state) for state in last]
    batch = c.body.sizes_of(rows)[1]
    found = []
    for shape in shapes:
        if -1 in shape:
            raise UnsupportedError(
                "the sizes of its states must be known; input_shapes tells those of inputs"
            )
        if isinstance(batch, int):
            found.append(c.body.constant(np.zeros((batch, *shape), np.float32)))
        else:
            found.append(c.make("Fill", c.body.vector([batch, *shape]), c.body.scalar(0.0, DT_FLOAT)))
    return found


class _Steps:
    """The steps of a layer's cell over [time, batch, ...]."""

    def __init__(self, c: Call, cell: Layer, shares: Tensor, mask: Tensor | None) -> None:
        self.c = c
        self.cell = cell
        self.shares = shares
        self.mask = mask
        self.is_share = cell.kind in AHEAD and cell.class_name not in c.importer.custom
        self.is_share = self.is_share and cell.name not in c.importer.custom
        self.keeps = c.config.flag("return_sequences")
        self.zeroes = c.config.flag("zero_output_for_mask")

    def all(self, states: list[Tensor]) -> tuple[Tensor | None, Tensor, list[Tensor]]:
        """Outputs by time (None unless the layer returns them), the last output, the last states."""
        count = self.shares.sizes[0]
        if count == 0:
            raise ModelError("its input must have steps, it has none")
        most = _MOST_UNROLLED if self.c.config.flag("unroll") else _MOST_STEPS
        is_short = 0 < count <= most and not self._is_one_operator(states)
        return self._written_out(states, count) if is_short else self._looped(states, count)

    def _is_one_operator(self, states: Sequence[Tensor]) -> bool:
        """Whether UNIDIRECTIONAL_SEQUENCE_LSTM takes the place of the loop (operator_rules/lstm.py)."""
        cell, settings = self.cell, self.cell.config
        usual = {"activation": "tanh", "recurrent_activation": "sigmoid"}
        is_usual = all(settings.get(name) == value for name, value in usual.items() if settings.has(name))
        has_reader = self.c.config.flag("return_state")
        is_known = all(-1 not in state.sizes for state in states)
        is_lstm = cell.kind == "LSTMCell" and self.is_share and is_usual
        return is_lstm and is_known and self.mask is None and not has_reader

    def step(
        self, body: Body, row: Tensor, states: Sequence[Tensor], before: Tensor | None, runs: Tensor | None
    ) -> tuple[Tensor, list[Tensor]]:
        """Output and states; before is the last output, where a mask needs it."""
        named = {"share": Value(row)} if self.is_share else {}
        found = self.c.importer.called(self.cell, [Value(row), all_states(states)], named, body)
        y, *new = [value.tensor for value in flat(found)]
        if len(new) != len(states):
            raise ModelError(f"the cell must give {len(states)} states, got {len(new)}")
        if runs is None:
            return y, new
        kept = [runs.choose(b, a) for a, b in zip(states, new, strict=True)]
        if self.zeroes or before is None:
            return runs.choose(y, y * 0.0), kept
        return runs.choose(y, before), kept

    def _written_out(self, states: list[Tensor], count: int) -> tuple[Tensor | None, Tensor, list[Tensor]]:
        body, outputs = self.c.body, []
        rows = body.ops("Unpack", self.shares, num=count, axis=0)
        masks: Sequence[Tensor | None] = [None] * count
        if self.mask is not None:
            masks = self._rows_of(self.mask, count)
        y: Tensor | None = None
        for row, runs in zip(rows, masks, strict=True):
            y, states = self.step(body, row, states, y, runs)
            outputs.append(y)
        assert y is not None
        return (body.op("Pack", *outputs, axis=0) if self.keeps else None), y, states

    def _rows_of(self, mask: Tensor, count: int) -> list[Tensor]:
        """Bools have no UNPACK."""
        body = self.c.body
        parts = body.ops("Unpack", body.cast(mask, DT_INT32), num=count, axis=0)
        return [body.cast(part, DT_BOOL) for part in parts]

    def _looped(self, states: list[Tensor], count: int) -> tuple[Tensor | None, Tensor, list[Tensor]]:
        c, body = self.c, self.c.body
        width = self._output_sizes(states)
        batch = body.sizes_of(self.shares)[1]
        # The last output is a state of its own: masks repeat it.
        zeros = self._zeros([batch, *width])
        carried = [*states, zeros]
        # A list cannot have elements whose batch is not known: then all rows are there from the start.
        is_open = self.keeps and -1 in zeros.sizes
        if is_open:
            carried.append(self._zeros([body.sizes_of(self.shares)[0], batch, *width]))
        outer = {"x": self.shares, **({} if self.mask is None else {"mask": self.mask})}

        def turn(inner: Body, time: Tensor, state: Sequence[Tensor], seen: dict[str, Tensor]) -> list[Tensor]:
            here = {
                name: seen[name] if name in seen else inner.constant(np.asarray(tensor.data))
                for name, tensor in outer.items()
            }
            row = _taken(inner, here["x"], time)
            runs = _taken(inner, here["mask"], time) if "mask" in here else None
            y, new = self.step(inner, row, state[: len(states)], state[len(states)], runs)
            kept = [*new, y]
            if is_open:
                place = inner.reshaped(time, [1, 1])
                item = inner.op("ExpandDims", y, inner.scalar(0, DT_INT32))
                kept.append(inner.op("TensorScatterUpdate", state[-1], place, item))
            return [inner.scalar(True, DT_BOOL), *kept, *([y] if self.keeps and not is_open else [])]

        passed = {name: tensor for name, tensor in outer.items() if tensor.data is None}
        turns = body.scalar(count, DT_INT32) if count != -1 else body.size(self.shares, 0)
        lists = int(self.keeps and not is_open)
        found = while_loop(
            c.importer.shared, body, passed, carried, lists, turn, turns, body.scalar(True, DT_BOOL)
        )
        ys = found[-1] if self.keeps else None
        return ys, found[len(states)], found[: len(states)]

    def _output_sizes(self, states: Sequence[Tensor]) -> list[int]:
        """The sizes of an output behind the batch: those of the last cell's first state."""
        if self.cell.kind != "StackedRNNCells":
            return list(states[0].sizes[1:])
        last = list(self.cell.parts.values())[-1]
        return list(states[len(states) - len(state_sizes(last))].sizes[1:])

    def _zeros(self, sizes: Sequence[int | Tensor]) -> Tensor:
        known = [size for size in sizes if isinstance(size, int)]
        if len(known) == len(sizes) and np.prod(known) < 1 << 20:
            return self.c.body.constant(np.zeros(known, np.float32))
        return self.c.make("Fill", self.c.body.vector(sizes), self.c.body.scalar(0.0, DT_FLOAT))


def _taken(body: Body, x: Tensor, time: Tensor) -> Tensor:
    """One step."""
    return body.op("GatherV2", x, time, body.scalar(0, DT_INT32))


def _cell_parts(kind: str) -> Kind:
    def parts(config: Config, read: Read) -> Mapping[str, Layer]:
        return {"cell": cell_of(kind, config)}

    return Kind(recurrent_result, parts=parts)


def _any_cell(config: Config, read: Read) -> Mapping[str, Layer]:
    return {"cell": read(config.get("cell"))}


def recurrent_result(c: Call) -> Result:
    """What the layer gives: one value, or several."""
    results = recurrent(c)
    return results[0] if len(results) == 1 else results


REGISTRATIONS: dict[str, Kind] = {
    **{f"ConvLSTM{rank}D": _cell_parts(f"ConvLSTMCell{rank}D") for rank in (1, 2, 3)},
    "GRU": _cell_parts("GRUCell"),
    "LSTM": _cell_parts("LSTMCell"),
    "RNN": Kind(recurrent_result, parts=_any_cell),
    "SimpleRNN": _cell_parts("SimpleRNNCell"),
}
