"""Cells: one step of a recurrent layer, and what of it can be computed for all steps at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...lite.errors import ModelError, UnsupportedError
from ..building.contraction import product
from ..building.movement import split_of
from ..building.tensor import Tensor
from .activations import activation_of
from .call import Call, Given, Value, flat
from .config import Config
from .conv import convolved
from .core import biased, rows_by
from .kind import Kind, Read
from .layer import Layer
from .window import Window

State = list[Tensor]


@dataclass(frozen=True)
class Ahead:
    """For cells of a kind: the share that the inputs of all steps have in their gates."""

    share: Callable[[Call, Tensor], Tensor]


def states_of(c: Call) -> State:
    """The states that a cell is called with."""
    given: Given = c.argument(1, "states", c.named.get("initial_state"))
    return [value.tensor for value in flat(given)]


def _share(c: Call) -> Tensor:
    """The inputs' share: given, where it was computed for all steps."""
    given = c.named.get("share")
    return given.tensor if isinstance(given, Value) else AHEAD[c.layer.kind].share(c, c.x)


def _units(c: Call, gates: int) -> int:
    units = c.config.positive("units")
    if c.layer.weights["recurrent_kernel"].shape != (units, gates * units):
        found = list(c.layer.weights["recurrent_kernel"].shape)
        raise ModelError(
            f"weight 'recurrent_kernel' must have the shape {[units, gates * units]}, got {found}"
        )
    return units


def _parts(x: Tensor, count: int) -> list[Tensor]:
    return split_of(x, [x.sizes[-1] // count] * count, x.rank - 1)


def _simple_share(c: Call, x: Tensor) -> Tensor:
    units = c.config.positive("units")
    y = rows_by(x, c.weight("kernel", [x.sizes[-1], units]))
    return biased(y, c.optional_weight("bias", [units]))


def simple_rnn_cell(c: Call) -> list[Tensor]:
    """activation(x W + h U + b)."""
    (h,) = states_of(c)
    _units(c, 1)
    y = activation_of(c, default="tanh")(_share(c) + product(h, c.weight("recurrent_kernel")))
    return [y, y]


def _lstm_share(c: Call, x: Tensor) -> Tensor:
    units = c.config.positive("units")
    y = rows_by(x, c.weight("kernel", [x.sizes[-1], 4 * units]))
    return biased(y, c.optional_weight("bias", [4 * units]))


def lstm_cell(c: Call) -> list[Tensor]:
    """Gates i, f, c, o."""
    h, cell = states_of(c)
    _units(c, 4)
    return _gated(c, _share(c) + product(h, c.weight("recurrent_kernel")), cell)


def _gated(c: Call, gates: Tensor, cell: Tensor) -> list[Tensor]:
    sigma, squash = activation_of(c, "recurrent_activation", "sigmoid"), activation_of(c, default="tanh")
    i, f, g, o = _parts(gates, 4)
    cell = sigma(f) * cell + sigma(i) * squash(g)
    h = sigma(o) * squash(cell)
    return [h, h, cell]


def _resets_after(c: Call) -> bool:
    return c.config.flag("reset_after", True)


def _gru_bias(c: Call) -> tuple[Tensor | None, Tensor | None]:
    """The bias of the inputs, and that of the state."""
    if "bias" not in c.layer.own:
        return None, None
    width = 3 * c.config.positive("units")
    if not _resets_after(c):
        return c.weight("bias", [width]), None
    data = c.weight("bias", [2, width]).data
    assert data is not None
    return c.body.constant(data[0]), c.body.constant(data[1])


def _gru_share(c: Call, x: Tensor) -> Tensor:
    kernel = c.weight("kernel", [x.sizes[-1], 3 * c.config.positive("units")])
    return biased(rows_by(x, kernel), _gru_bias(c)[0])


def gru_cell(c: Call) -> list[Tensor]:
    """Gates z, r, h; the state is reset before or after its product."""
    (h,) = states_of(c)
    units = _units(c, 3)
    sigma, squash = activation_of(c, "recurrent_activation", "sigmoid"), activation_of(c, default="tanh")
    of_z, of_r, of_h = _parts(_share(c), 3)
    recurrent = c.weight("recurrent_kernel")
    if _resets_after(c):
        by_z, by_r, by_h = _parts(biased(product(h, recurrent), _gru_bias(c)[1]), 3)
        z, r = sigma(of_z + by_z), sigma(of_r + by_r)
        inside = of_h + r * by_h
    else:
        gates, last = split_of(recurrent, [2 * units, units], 1)
        by_z, by_r = _parts(product(h, gates), 2)
        z, r = sigma(of_z + by_z), sigma(of_r + by_r)
        inside = of_h + product(r * h, last)
    y = z * h + (1 - z) * squash(inside)
    return [y, y]


def stacked(c: Call) -> list[Tensor]:
    """Cells on top of each other; states are those of all, one after the other."""
    states = states_of(c)
    y: Tensor = c.x
    new: State = []
    for name, cell in c.layer.parts.items():
        count = len(state_sizes(cell))
        results = list(flat(c.part(name, Value(y), all_states(states[:count]))))
        states = states[count:]
        y = results[0].tensor
        new += [value.tensor for value in results[1:]]
    return [y, *new]


def _conv_window(c: Call, rank: int) -> Window:
    padding = c.config.choice("padding", ("valid", "same"), "valid").upper()
    kernel, strides = c.config.sizes("kernel_size", rank), c.config.sizes("strides", rank, 1)
    return Window(kernel, strides, c.config.sizes("dilation_rate", rank, 1), padding)


def _conv_share(rank: int) -> Callable[[Call, Tensor], Tensor]:
    def share(c: Call, x: Tensor) -> Tensor:
        window, filters = _conv_window(c, rank), c.config.positive("filters")
        kernel = c.weight("kernel", [*window.kernel, x.sizes[-1], 4 * filters])
        return biased(convolved(x, kernel, window), c.optional_weight("bias", [4 * filters]))

    return share


def conv_lstm_cell(c: Call) -> list[Tensor]:
    """An LSTM whose products are convolutions of images with channels last."""
    h, cell = states_of(c)
    filters, ones = c.config.positive("filters"), (1,) * (h.rank - 2)
    sizes = _conv_window(c, h.rank - 2).kernel
    kernel = c.weight("recurrent_kernel", [*sizes, filters, 4 * filters])
    return _gated(c, _share(c) + convolved(h, kernel, Window(sizes, ones, ones, "SAME")), cell)


def state_sizes(cell: Layer) -> list[int]:
    """How many numbers each state of a cell has."""
    if cell.kind == "StackedRNNCells":
        return [size for part in cell.parts.values() for size in state_sizes(part)]
    if cell.kind == "LSTMCell":
        return [cell.config.positive("units")] * 2
    if cell.config.has("state_size"):
        return [int(size) for size in cell.config.integers("state_size")]
    if not cell.config.has("units"):
        raise UnsupportedError(
            f"the cell's settings must have units or state_size, {cell.class_name} has none"
        )
    return [cell.config.positive("units")]


def _cells(config: Config, read: Read) -> Mapping[str, Layer]:
    from .weights import numbered

    if config.flag("reverse_state_order"):
        raise UnsupportedError("reverse_state_order=True is not built")
    return {f"cells/{name}": cell for name, cell in numbered([read(each) for each in config.list("cells")])}


AHEAD: dict[str, Ahead] = {
    "SimpleRNNCell": Ahead(_simple_share),
    "LSTMCell": Ahead(_lstm_share),
    "GRUCell": Ahead(_gru_share),
    **{f"ConvLSTMCell{rank}D": Ahead(_conv_share(rank)) for rank in (1, 2, 3)},
}
WEIGHTS = "kernel recurrent_kernel bias?use_bias"
REGISTRATIONS: dict[str, Kind] = {
    "GRUCell": Kind(gru_cell, WEIGHTS),
    "LSTMCell": Kind(lstm_cell, WEIGHTS),
    "SimpleRNNCell": Kind(simple_rnn_cell, WEIGHTS),
    "StackedRNNCells": Kind(stacked, parts=_cells),
    **{f"ConvLSTMCell{rank}D": Kind(conv_lstm_cell, WEIGHTS) for rank in (1, 2, 3)},
}


def cell_of(kind: str, config: Config) -> Layer:
    """The cell of a layer that has one by its own settings."""
    names = REGISTRATIONS[kind].own(config)
    return Layer(kind, "cell", config, True, *names, config.flag("trainable", True))


def all_states(states: Sequence[Tensor]) -> list[Value]:
    return [Value(state) for state in states]
