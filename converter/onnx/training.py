"""Steps of gradient descent: ai.onnx.preview.training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lite.errors import ModelError
from ...schema.graph_def import DT_FLOAT
from ..building.tensor import Tensor
from .call import Call, Rule

# x, its gradient and what is kept of steps before, after the rate and the number of steps; x and that anew.
_Step = Callable[[Call, Tensor, Tensor, Sequence[Tensor]], Sequence[Tensor]]


def _each(kept: int, step: _Step) -> Rule:
    """The rule of a step of several tensors at once; outputs are those of one role after the other."""

    def rule(c: Call) -> list[Tensor]:
        rate, count, *rest = c.inputs()
        tensors, left = divmod(len(rest), 2 + kept)
        if left or not tensors:
            raise ModelError(f"there must be {2 + kept} inputs for each tensor, got {len(rest)}")
        made = [step(c, rate, c.body.cast(count, DT_FLOAT), rest[place::tensors]) for place in range(tensors)]
        return [each for role in zip(*made, strict=True) for each in role]

    return rule


def _regular(c: Call, x: Tensor, gradient: Tensor) -> Tensor:
    """The gradient with that of x's own size."""
    return x * c.real("norm_coefficient", 0.0) + gradient


def _adagrad(c: Call, rate: Tensor, count: Tensor, held: Sequence[Tensor]) -> Sequence[Tensor]:
    x, gradient, squares = held
    gradient = _regular(c, x, gradient)
    squares = squares + gradient * gradient
    slower = rate / (count * c.real("decay_factor", 0.0) + 1)
    return x - gradient * slower / (squares.apply("Sqrt") + c.real("epsilon", 1e-6)), squares


def _adam(c: Call, rate: Tensor, count: Tensor, held: Sequence[Tensor]) -> Sequence[Tensor]:
    x, gradient, mean, squares = held
    alpha, beta = c.real("alpha", 0.9), c.real("beta", 0.999)
    gradient = _regular(c, x, gradient)
    mean = mean * alpha + gradient * (1 - alpha)
    squares = squares * beta + gradient * gradient * (1 - beta)
    unbiased = (1 - _power(c, beta, count)).apply("Sqrt") / (1 - _power(c, alpha, count))
    rate = (count > 0).choose(rate * unbiased, rate)
    x = x - rate * (mean / (squares.apply("Sqrt") + c.real("epsilon", 1e-6)))
    return x * (1 - c.real("norm_coefficient_post", 0.0)), mean, squares


def _power(c: Call, base: float, exponent: Tensor) -> Tensor:
    return c.make("Pow", c.body.scalar(base, DT_FLOAT), exponent)


def _momentum(c: Call, rate: Tensor, count: Tensor, held: Sequence[Tensor]) -> Sequence[Tensor]:
    x, gradient, momentum = held
    mode = c.text("mode")
    if mode not in ("standard", "nesterov"):
        raise ModelError(f"mode must be standard or nesterov, got {mode!r}")
    gradient, alpha = _regular(c, x, gradient), c.real("alpha")
    # The first gradient counts whole.
    share = (count > 0).choose(c.real("beta"), c.body.scalar(1, DT_FLOAT))
    momentum = momentum * alpha + gradient * share
    return x - rate * (gradient + momentum * alpha if mode == "nesterov" else momentum), momentum


_RULES: dict[str, Rule] = {
    "Adagrad": _each(1, _adagrad),
    "Adam": _each(2, _adam),
    "Momentum": _each(1, _momentum),
}
REGISTRATIONS: dict[str, Rule] = {f"ai.onnx.preview.training.{name}": rule for name, rule in _RULES.items()}
