"""LSTM, GRU and RNN: one product for all inputs, then a loop over time, or its turns one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..building import elementwise as formulas
from ..building.body import Body
from ..building.contraction import product
from ..building.control_flow import while_loop
from ..building.movement import split_of
from ..building.tensor import Tensor
from .call import Call, Rule

# Sequences of so many steps are written out: more are more operators than a loop and its body.
_MOST_TURNS = 2
_DEFAULTS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_SIDES = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
Function = Callable[[Tensor], Tensor]


def recurrent(c: Call) -> list[Tensor | None]:
    """All outputs by time, the last output, and of LSTM the last cell state."""
    x = c.input(0)
    sides = _SIDES.get(c.text("direction", "forward"))
    if sides is None or x.rank != 3:
        raise ModelError(f"direction must be one of ONNX's and x have 3 dimensions, got {x.rank}")
    batch_first = c.flag("layout")
    if batch_first:
        x = c.body.transposed(x, (1, 0, 2))
    found = [_side(c, x, place, backwards, batch_first) for place, backwards in enumerate(sides)]
    ys: list[Tensor | None] = [None]
    if c.wants(0):
        ys = [c.make("Pack", *(side[0] for side in found if side[0] is not None), axis=1)]
        if batch_first and ys[0] is not None:
            ys = [c.body.transposed(ys[0], (2, 0, 1, 3))]
    states = [c.make("Pack", *parts, axis=0) for parts in zip(*(side[1] for side in found), strict=True)]
    if batch_first:
        states = [c.body.transposed(state, (1, 0, 2)) for state in states]
    return [*ys, *states][: max(len(c.wanted), 1)]


@dataclass(frozen=True)
class Cell:
    """What one step does: state and constants by name in, state out. Its functions are the node's."""

    op: str
    functions: Sequence[Function]
    limit: float
    resets_behind: bool
    couples: bool

    def step(self, x: Tensor, state: Sequence[Tensor], held: dict[str, Tensor]) -> list[Tensor]:
        """x has the inputs' share of all gates, and the biases that are added to it."""
        if self.op == "RNN":
            return [self.functions[0](self._cut(x + product(state[0], held["r"])))]
        return self._gru(x, state[0], held) if self.op == "GRU" else self._lstm(x, state, held)

    def _cut(self, x: Tensor) -> Tensor:
        return x.maximum(-self.limit).minimum(self.limit) if self.limit else x

    def _lstm(self, x: Tensor, state: Sequence[Tensor], held: dict[str, Tensor]) -> list[Tensor]:
        h, cell = state
        sigma, squash, out = self.functions
        i, o, f, g = _parts(x + product(h, held["r"]), 4)
        if "p" in held:
            of_i, of_o, of_f = _parts(held["p"], 3)
            i, f = i + of_i * cell, f + of_f * cell
        i = sigma(self._cut(i))
        f = 1 - i if self.couples else sigma(self._cut(f))
        cell = f * cell + i * squash(self._cut(g))
        if "p" in held:
            o = o + of_o * cell
        return [sigma(self._cut(o)) * out(cell), cell]

    def _gru(self, x: Tensor, h: Tensor, held: dict[str, Tensor]) -> list[Tensor]:
        sigma, squash = self.functions
        of_z, of_r, of_h = _parts(x, 3)
        if self.resets_behind:
            by_z, by_r, by_h = _parts(product(h, held["r"]), 3)
            z, r = sigma(self._cut(of_z + by_z)), sigma(self._cut(of_r + by_r))
            inside = of_h + r * (by_h + held["b"])
        else:
            size = held["r"].sizes[1] // 3
            gates, last = split_of(held["r"], [2 * size, size], 1)
            by_z, by_r = _parts(product(h, gates), 2)
            z, r = sigma(self._cut(of_z + by_z)), sigma(self._cut(of_r + by_r))
            inside = of_h + product(r * h, last)
        return [(1 - z) * squash(self._cut(inside)) + z * h]


def _parts(x: Tensor, count: int) -> list[Tensor]:
    """Equal parts of the last axis."""
    size = x.sizes[-1]
    if size == -1 or size % count:
        raise ModelError(f"gates must be {count} of one size, got {size} in all")
    return split_of(x, [size // count] * count, x.rank - 1)


def _side(
    c: Call, x: Tensor, place: int, backwards: bool, batch_first: bool
) -> tuple[Tensor | None, list[Tensor]]:
    """Outputs by time and the last states of one direction."""
    body, gates = c.body, _GATES[c.op]
    weights, recurrence = _own(c.input(1), place), _own(c.input(2), place)
    hidden = recurrence.sizes[-1]
    if hidden == -1:
        raise UnsupportedError("the hidden size must be known")
    given = c.optional(3)
    biases = None if given is None else _parts(_own(given, place), 2)
    cell = _cell(c, place)
    held = {"r": body.transposed(recurrence, (1, 0))}
    added = None
    if biases is not None:
        added = biases[0] + biases[1]
        if c.op == "GRU" and cell.resets_behind:
            # The state's bias of the last gate is added before what is reset.
            first, second = (_parts(bias, 3) for bias in biases)
            held["b"] = second[2]
            added = body.op(
                "ConcatV2", first[0] + second[0], first[1] + second[1], first[2], body.scalar(0, DT_INT32)
            )
    elif c.op == "GRU" and cell.resets_behind:
        held["b"] = body.constant(np.zeros(hidden, np.float32))
    if c.op == "LSTM" and (peepholes := c.optional(7)) is not None:
        held["p"] = _own(peepholes, place)
    lengths = c.optional(4)
    order = _backwards(body, lengths) if backwards else (lambda tensor: tensor)
    shares = product(order(x), body.transposed(weights, (1, 0)))
    shares = shares if added is None else shares + added
    if shares.sizes[-1] not in (-1, gates * hidden):
        raise ModelError(f"weights must be of {gates} gates of size {hidden}, got {shares.sizes[-1]} in all")
    states = [_initial(c, x, 5, place, hidden, batch_first)]
    if c.op == "LSTM":
        states.append(_initial(c, x, 6, place, hidden, batch_first))
    ys, states = _over_time(c, cell, shares, states, held, lengths)
    return (None if ys is None else order(ys)), states


def _own(x: Tensor, place: int) -> Tensor:
    """The direction's part of weights."""
    return x.body.op("GatherV2", x, x.body.scalar(place, DT_INT32), x.body.scalar(0, DT_INT32))


def _backwards(body: Body, lengths: Tensor | None) -> Function:
    """The sequences the other way round, each as long as it is."""
    if lengths is None:
        return lambda x: body.op("ReverseV2", x, body.integers([0]))
    return lambda x: body.op("ReverseSequence", x, lengths, seq_dim=0, batch_dim=1)


def _initial(c: Call, x: Tensor, at: int, place: int, hidden: int, batch_first: bool) -> Tensor:
    given = c.optional(at)
    if given is not None:
        return _own(c.body.transposed(given, (1, 0, 2)) if batch_first else given, place)
    batch = c.body.sizes_of(x)[1]
    if isinstance(batch, int):
        return c.body.constant(np.zeros((batch, hidden), np.float32))
    return c.make("Fill", c.body.vector([batch, hidden]), c.body.scalar(0.0, x.type))


def _over_time(
    c: Call, cell: Cell, shares: Tensor, states: list[Tensor], held: dict[str, Tensor], lengths: Tensor | None
) -> tuple[Tensor | None, list[Tensor]]:
    """The steps one after the other: outputs by time (None where not wanted) and the last states."""
    body, count = c.body, shares.sizes[0]
    mask = None if lengths is None else body.op("ExpandDims", lengths, body.scalar(1, DT_INT32))
    if 0 < count <= _MOST_TURNS and not _is_one_operator(c, cell, states, held, mask):
        outputs = []
        rows = body.ops("Unpack", shares, num=count, axis=0)
        for time, row in enumerate(rows):
            new = cell.step(row, states, held)
            states, y = _masked(states, new, None if mask is None else mask > time)
            outputs.append(y)
        return (body.op("Pack", *outputs, axis=0) if c.wants(0) else None), states
    outer = {"x": shares, **held, **({} if mask is None else {"mask": mask})}

    # A list cannot have elements whose batch is not known: then all rows are there from the start.
    is_open = c.wants(0) and -1 in states[0].sizes
    carried = [*states, _rows(c, shares, states[0])] if is_open else states
    lists = c.wants(0) and not is_open

    def turn(inner: Body, time: Tensor, state: Sequence[Tensor], seen: dict[str, Tensor]) -> list[Tensor]:
        here = {
            name: seen[name] if name in seen else inner.constant(np.asarray(tensor.data))
            for name, tensor in outer.items()
        }
        old = state[: len(states)]
        row = inner.op("GatherV2", here["x"], time, inner.scalar(0, DT_INT32))
        new = cell.step(row, old, here)
        kept, y = _masked(old, new, here["mask"] > time if "mask" in here else None)
        if is_open:
            place = inner.reshaped(time, [1, 1])
            item = inner.op("ExpandDims", y, inner.scalar(0, DT_INT32))
            kept = [*kept, inner.op("TensorScatterUpdate", state[-1], place, item)]
        return [inner.scalar(True, DT_BOOL), *kept, *([y] if lists else [])]

    passed = {name: tensor for name, tensor in outer.items() if tensor.data is None}
    turns = body.scalar(count, DT_INT32) if count != -1 else body.size(shares, 0)
    found = while_loop(
        c.importer.shared, body, passed, carried, int(lists), turn, turns, body.scalar(True, DT_BOOL)
    )
    return (found[-1] if c.wants(0) else None), found[: len(states)]


def _is_one_operator(
    c: Call, cell: Cell, states: Sequence[Tensor], held: dict[str, Tensor], mask: Tensor | None
) -> bool:
    """Whether UNIDIRECTIONAL_SEQUENCE_LSTM or _RNN takes the place of the loop (operator_rules/lstm.py)."""
    names = [name.decode(errors="replace") for name in c.texts("activations", [])] or _DEFAULTS[c.op]
    if c.op == "LSTM":
        is_usual = (
            not cell.couples and "p" not in held and names in (_DEFAULTS["LSTM"], _DEFAULTS["LSTM"] * 2)
        )
        is_usual = is_usual and not _is_read(c, 2)
    else:
        is_usual = c.op == "RNN" and {*names} <= {"Tanh", "Relu"}
    is_known = held["r"].data is not None and all(-1 not in state.sizes for state in states)
    return is_usual and is_known and mask is None and not cell.limit


def _is_read(c: Call, place: int) -> bool:
    """Whether anything in the graph, but its subgraphs, uses a result."""
    name = c.wanted[place] if c.wants(place) else ""
    return bool(name) and (name in c.importer.users or name in c.importer.outputs)


def _rows(c: Call, shares: Tensor, state: Tensor) -> Tensor:
    """Zeros [time, batch, hidden]."""
    sizes = [c.body.sizes_of(shares)[0], *c.body.sizes_of(state)]
    return c.make("Fill", c.body.vector(sizes), c.body.scalar(0.0, state.type))


def _masked(old: Sequence[Tensor], new: list[Tensor], runs: Tensor | None) -> tuple[list[Tensor], Tensor]:
    """States and output: where a sequence has ended, the old ones and 0."""
    if runs is None:
        return new, new[0]
    return [runs.choose(b, a) for a, b in zip(old, new, strict=True)], runs.choose(new[0], 0)


def _cell(c: Call, place: int) -> Cell:
    defaults = _DEFAULTS[c.op]
    names = [name.decode(errors="replace") for name in c.texts("activations", [])] or defaults * (place + 1)
    alphas, betas = c.reals("activation_alpha", []), c.reals("activation_beta", [])
    count = len(defaults)
    own = names[place * count : (place + 1) * count]
    if len(own) != count:
        raise ModelError(f"activations must be {count} for each direction, got {names}")
    functions = []
    for at, name in enumerate(names[: (place + 1) * count]):
        takes = _PARAMETERS.get(name)
        if takes is None:
            raise UnsupportedError(f"activation {name!r}")
        alpha = alphas.pop(0) if takes[0] is not None and alphas else takes[0]
        beta = betas.pop(0) if takes[1] is not None and betas else takes[1]
        if at >= place * count:
            functions.append(_function(name, alpha or 0.0, beta or 0.0))
    return Cell(
        c.op,
        functions,
        c.real("clip", 0.0),
        c.op == "GRU" and c.flag("linear_before_reset"),
        c.op == "LSTM" and c.flag("input_forget"),
    )


# The parameters that each function takes, with their defaults; None where it takes none.
_PARAMETERS: dict[str, tuple[float | None, float | None]] = {
    **dict.fromkeys(("Relu", "Tanh", "Sigmoid", "Softsign", "Softplus"), (None, None)),
    "Affine": (1.0, 0.0),
    "LeakyRelu": (0.01, None),
    "ThresholdedRelu": (1.0, None),
    "ScaledTanh": (1.0, 1.0),
    "HardSigmoid": (0.2, 0.5),
    "Elu": (1.0, None),
}


def _function(name: str, alpha: float, beta: float) -> Function:
    functions: dict[str, Function] = {
        "Affine": lambda x: x * alpha + beta,
        "LeakyRelu": lambda x: x.body.op("LeakyRelu", x, alpha=alpha),
        "ThresholdedRelu": lambda x: (x > alpha).choose(x, 0),
        "ScaledTanh": lambda x: (x * beta).apply("Tanh") * alpha,
        "HardSigmoid": lambda x: formulas.hard_sigmoid(x, alpha, beta),
        "Elu": lambda x: formulas.elu(x, alpha),
        "Softplus": formulas.softplus,
    }
    return functions.get(name) or (lambda x: x.apply(name))


REGISTRATIONS: dict[str, Rule] = {"GRU": recurrent, "LSTM": recurrent, "RNN": recurrent}
