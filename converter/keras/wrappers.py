"""Layers around layers: Bidirectional and TimeDistributed."""

from __future__ import annotations

from collections.abc import Mapping

from ...lite.errors import ModelError
from ...schema.graph_def import DT_INT32
from ..building.tensor import Tensor
from .call import Call, Given, Result, Value, flat
from .config import Config
from .kind import Kind, Read
from .layer import Layer
from .merge import concatenated

_MODES = ("concat", "sum", "ave", "mul")


def bidirectional(c: Call) -> Result:
    """The layer in both directions, their outputs merged; states are those of both."""
    mode = c.config.choice("merge_mode", _MODES) if c.config.has("merge_mode") else None
    given = list(flat(c.arguments[0]))
    states = given[1:] or list(flat(c.argument(1, "initial_state")))
    half = len(states) // 2
    named = {} if c.mask is None else {"mask": Value(c.mask)}
    forward = _called(c, "forward_layer", given[0], states[:half], named)
    backward = _called(c, "backward_layer", given[0], states[half:], named)
    y, z = forward[0], backward[0]
    settings = c.layer.parts["forward_layer"].config
    if settings.flag("return_sequences"):
        axis = 0 if settings.flag("time_major") else 1
        z = Value(c.make("ReverseV2", z.tensor, c.body.integers([axis])), z.mask)
    ends = [Value(value.tensor) for value in (*forward[1:], *backward[1:])]
    merged = [y, z] if mode is None else [Value(_merged(mode, y.tensor, z.tensor), y.mask)]
    found = [*merged, *ends]
    return found[0] if len(found) == 1 else found


def _called(c: Call, part: str, x: Value, states: list[Value], named: Mapping[str, Given]) -> list[Value]:
    more = {**named, **({"initial_state": states} if states else {})}
    return list(flat(c.part(part, x, **more)))


def _merged(mode: str, y: Tensor, z: Tensor) -> Tensor:
    if mode == "concat":
        return concatenated([y, z], y.rank - 1)
    if mode == "mul":
        return y * z
    return y + z if mode == "sum" else (y + z) * 0.5


def _both(config: Config, read: Read) -> Mapping[str, Layer]:
    """The layer, and the one for the other direction: told, or the same the other way round."""
    told = Config(config.get("layer"))
    forward = read(_with_zeros(told, None))
    other = config.get("backward_layer")
    backwards = not forward.config.flag("go_backwards")
    backward = read(
        _with_zeros(told if other is None else Config(other), backwards if other is None else None)
    )
    return {"forward_layer": forward, "backward_layer": backward}


def _with_zeros(told: Config, backwards: bool | None) -> dict[str, object]:
    """Of a masked step both directions give 0, where they give all steps."""
    settings = {
        **told.config("config").values,
        "zero_output_for_mask": told.config("config").flag("return_sequences"),
    }
    if backwards is not None:
        settings["go_backwards"] = backwards
        settings["name"] = f"backward_{settings.get('name')}"
    return {**told.values, "config": settings}


def time_distributed(c: Call) -> Result:
    """The layer at each step: steps are further examples."""
    value = c.values[0]
    x = value.tensor
    if x.rank < 2:
        raise ModelError(f"its input must have 2 dimensions or more, got {x.rank}")
    sizes = c.body.sizes_of(x)
    rows = c.body.reshaped(x, [_product(c, sizes[0], sizes[1]), *sizes[2:]])
    results = [
        Value(c.body.reshaped(y.tensor, [*sizes[:2], *c.body.sizes_of(y.tensor)[1:]]), c.mask)
        for y in flat(c.part("layer", Value(rows)))
    ]
    return results[0] if len(results) == 1 else results


def _product(c: Call, batch: int | Tensor, time: int | Tensor) -> int | Tensor:
    if isinstance(batch, int) and isinstance(time, int):
        return batch * time
    first, second = (
        c.body.scalar(size, DT_INT32) if isinstance(size, int) else size for size in (batch, time)
    )
    return first * second


def _layer(config: Config, read: Read) -> Mapping[str, Layer]:
    return {"layer": read(config.get("layer"))}


REGISTRATIONS: dict[str, Kind] = {
    "Bidirectional": Kind(bidirectional, parts=_both),
    "TimeDistributed": Kind(time_distributed, parts=_layer),
}
