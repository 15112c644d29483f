"""Steps of optimizers: variables and their slots changed by a gradient.

A rule takes the slots first, then by the op's own names the other inputs and the flags that it
knows, and returns the slots' new values. The same rule serves the op on references, on resources,
and the sparse ones, whose gradient has rows for indices of the slots.
Source: TensorFlow tensorflow/core/kernels/training_ops.cc.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import numpy as np

from .dtypes import COMPLEX, FLOATS
from .gather import check_indices
from .kernel import KernelConstruction, KernelContext, OpKernel
from .registry import KernelRegistration
from .status import InvalidArgumentError
from .variable import variable_of

Array = np.ndarray
Rule = Callable[..., tuple[np.ndarray, ...]]


def gradient_descent(var: Array, *, alpha: Array, delta: Array) -> tuple[Array, ...]:
    """A step against the gradient."""
    return (var - alpha * delta,)


def _shrunk(value: Array, rate: Array, l1: Array, l2: Array) -> Array:
    """The proximal step: towards zero by l1, then scaled by l2."""
    size = np.maximum(np.abs(value) - rate * np.maximum(l1, 0), 0)
    return np.asarray(np.sign(value) * size / (1 + l2 * rate))


def proximal_gradient_descent(
    var: Array, *, alpha: Array, l1: Array, l2: Array, delta: Array
) -> tuple[Array, ...]:
    """A step against the gradient, then a proximal one."""
    return (_shrunk(var - alpha * delta, alpha, l1, l2),)


def adadelta(
    var: Array, accum: Array, accum_update: Array, *, lr: Array, rho: Array, epsilon: Array, grad: Array
) -> tuple[Array, ...]:
    """Zeiler's Adadelta."""
    accum = accum * rho + grad * grad * (1 - rho)
    update = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * grad
    return var - update * lr, accum, accum_update * rho + update * update * (1 - rho)


def adagrad(
    var: Array, accum: Array, *, lr: Array, grad: Array, update_slots: bool = True
) -> tuple[Array, ...]:
    """Adagrad without an epsilon."""
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / np.sqrt(accum), accum


def adagrad_v2(
    var: Array, accum: Array, *, lr: Array, epsilon: Array, grad: Array, update_slots: bool = True
) -> tuple[Array, ...]:
    """Adagrad with an epsilon."""
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / (np.sqrt(accum) + epsilon), accum


def adagrad_da(
    var: Array,
    gradient_accumulator: Array,
    gradient_squared_accumulator: Array,
    *,
    grad: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    global_step: Array,
) -> tuple[Array, ...]:
    """Adagrad by dual averaging."""
    total, squares = gradient_accumulator + grad, gradient_squared_accumulator + grad * grad
    step = global_step.astype(grad.dtype)
    size = np.maximum(np.abs(total) - np.maximum(l1, 0) * step, 0)
    made = -np.sign(total) * size * lr / (l2 * step * lr + np.sqrt(squares))
    return made, total, squares


def proximal_adagrad(
    var: Array, accum: Array, *, lr: Array, l1: Array, l2: Array, grad: Array
) -> tuple[Array, ...]:
    """Adagrad, then a proximal step."""
    accum = accum + grad * grad
    rate = lr / np.sqrt(accum)
    return _shrunk(var - grad * rate, rate, l1, l2), accum


def ftrl(
    var: Array,
    accum: Array,
    linear: Array,
    *,
    grad: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    lr_power: Array,
    l2_shrinkage: Array | None = None,
    multiply_linear_by_lr: bool = False,
) -> tuple[Array, ...]:
    """Follow the regularised leader, with shrinkage where the op has it."""
    moved = grad if l2_shrinkage is None else grad + 2 * l2_shrinkage * var
    total = accum + grad * grad
    new, old = np.power(total, -lr_power), np.power(accum, -lr_power)
    scale = lr if multiply_linear_by_lr else lr.dtype.type(1)
    rate = lr.dtype.type(1) if multiply_linear_by_lr else lr
    linear = linear + moved * scale - (new - old) / rate * var
    quadratic = new / rate + 2 * l2 * scale
    made = (l1 * scale * np.sign(linear) - linear) / quadratic
    return np.where(np.abs(linear) > l1 * scale, made, 0).astype(var.dtype), total, linear


def momentum(
    var: Array, accum: Array, *, lr: Array, grad: Array, momentum: Array, use_nesterov: bool = False
) -> tuple[Array, ...]:
    """Momentum on the gradient."""
    accum = accum * momentum + grad
    step = grad * lr + accum * momentum * lr if use_nesterov else accum * lr
    return var - step, accum


def keras_momentum(
    var: Array, accum: Array, *, lr: Array, grad: Array, momentum: Array, use_nesterov: bool = False
) -> tuple[Array, ...]:
    """Momentum on the step."""
    accum = accum * momentum - grad * lr
    return var + (accum * momentum - grad * lr if use_nesterov else accum), accum


def adam(
    var: Array,
    m: Array,
    v: Array,
    *,
    beta1_power: Array,
    beta2_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    grad: Array,
    use_nesterov: bool = False,
) -> tuple[Array, ...]:
    """Adam."""
    alpha = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    m, v = m + (grad - m) * (1 - beta1), v + (grad * grad - v) * (1 - beta2)
    ahead = grad * (1 - beta1) + beta1 * m if use_nesterov else m
    return var - ahead * alpha / (np.sqrt(v) + epsilon), m, v


def adam_with_amsgrad(
    var: Array,
    m: Array,
    v: Array,
    vhat: Array,
    *,
    beta1_power: Array,
    beta2_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    grad: Array,
) -> tuple[Array, ...]:
    """Adam with the largest second moment so far."""
    alpha = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    m, v = m + (grad - m) * (1 - beta1), v + (grad * grad - v) * (1 - beta2)
    vhat = np.maximum(vhat, v)
    return var - m * alpha / (np.sqrt(vhat) + epsilon), m, v, vhat


def ada_max(
    var: Array,
    m: Array,
    v: Array,
    *,
    beta1_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    grad: Array,
) -> tuple[Array, ...]:
    """AdaMax."""
    m, v = m + (grad - m) * (1 - beta1), np.maximum(beta2 * v, np.abs(grad))
    return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


def rms_prop(
    var: Array, ms: Array, mom: Array, *, lr: Array, rho: Array, momentum: Array, epsilon: Array, grad: Array
) -> tuple[Array, ...]:
    """RMSProp with momentum."""
    ms = ms + (grad * grad - ms) * (1 - rho)
    mom = mom * momentum + grad * lr / np.sqrt(ms + epsilon)
    return var - mom, ms, mom


def centered_rms_prop(
    var: Array,
    mg: Array,
    ms: Array,
    mom: Array,
    *,
    lr: Array,
    rho: Array,
    momentum: Array,
    epsilon: Array,
    grad: Array,
) -> tuple[Array, ...]:
    """RMSProp by the variance of the gradient."""
    ms, mg = ms + (grad * grad - ms) * (1 - rho), mg + (grad - mg) * (1 - rho)
    mom = mom * momentum + grad * lr / np.sqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def add_sign(
    var: Array, m: Array, *, lr: Array, alpha: Array, sign_decay: Array, beta: Array, grad: Array
) -> tuple[Array, ...]:
    """A larger step where the gradient agrees with its mean."""
    m = m * beta + grad * (1 - beta)
    return var - lr * (alpha + sign_decay * np.sign(grad) * np.sign(m)) * grad, m


def power_sign(
    var: Array, m: Array, *, lr: Array, logbase: Array, sign_decay: Array, beta: Array, grad: Array
) -> tuple[Array, ...]:
    """A step scaled by a power where the gradient agrees with its mean."""
    m = m * beta + grad * (1 - beta)
    return var - lr * np.exp(logbase * sign_decay * np.sign(grad) * np.sign(m)) * grad, m


class ApplyKernel(OpKernel):
    """An optimizer's step by its rule: gives the reference of var, or nothing for resources."""

    def __init__(self, construction: KernelConstruction, rule: Rule) -> None:
        super().__init__(construction)
        parameters = inspect.signature(rule).parameters
        self._names = [argument.name for argument in construction.metadata.op_def.input_arg]
        self._slots = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
        flags = (n for n, p in parameters.items() if isinstance(p.default, bool))
        held = {flag: construction.get_attr(flag, bool) for flag in flags if construction.has_attr(flag)}
        self._rule = partial(rule, **held)
        # The sparse op for gradient descent calls its gradient as all others do.
        self._renamed = {"grad": "delta"} if "delta" in parameters else {}

    def compute(self, context: KernelContext) -> None:
        inputs = dict(zip(self._names, context.inputs, strict=True))
        variables = [variable_of(inputs.pop(name)) for name in self._slots]
        indices = inputs.pop("indices", None)
        rest = {self._renamed.get(name, name): value for name, value in inputs.items()}
        with np.errstate(all="ignore"), ExitStack() as locks:
            # In one order everywhere, so that two steps cannot wait for each other.
            for variable in sorted(variables, key=id):
                locks.enter_context(variable.lock)
            slots = [variable.value for variable in variables]
            self._check(slots, rest, indices)
            made = self._rule(*slots, **rest) if indices is None else self._rows(slots, rest, indices)
            for variable, value, old in zip(variables, made, slots, strict=True):
                variable.assign(np.array(value, old.dtype))
        if context.output_types:
            context.set_output(0, context.input(0))

    def _check(self, slots: list[Array], rest: dict[str, Array], indices: Array | None) -> None:
        gradient = rest["delta"] if "delta" in rest else rest["grad"]
        shape = slots[0].shape
        wanted = shape if indices is None else (*indices.shape, *shape[1:])
        if any(slot.shape != shape for slot in slots) or gradient.shape != wanted:
            shapes = [list(slot.shape) for slot in slots]
            message = f"slots must have one shape and the gradient {list(wanted)}, got {shapes}"
            raise InvalidArgumentError(f"{self.construction.op}: {message} and {list(gradient.shape)}")
        for name, value in rest.items():
            if value is not gradient and value.ndim:
                message = f"{name} must be a scalar, got {list(value.shape)}"
                raise InvalidArgumentError(f"{self.construction.op}: {message}")

    def _rows(self, slots: list[Array], rest: dict[str, Array], indices: Array) -> list[Array]:
        """The rows at indices changed one after another: one index may come again."""
        name = "delta" if "delta" in rest else "grad"
        made = [slot.copy() for slot in slots]
        if indices.ndim != 1 or not slots[0].ndim:
            raise InvalidArgumentError(f"indices must be a vector, got {list(indices.shape)}")
        check_indices(indices, len(slots[0]))
        for row, gradient in zip(indices.tolist(), rest[name], strict=True):
            changed = self._rule(*(slot[row] for slot in made), **{**rest, name: gradient})
            for slot, value in zip(made, changed, strict=True):
                slot[row] = value
        return made


_DENSE: dict[str, Rule] = {
    "AdaMax": ada_max,
    "Adadelta": adadelta,
    "Adagrad": adagrad,
    "AdagradDA": adagrad_da,
    "AdagradV2": adagrad_v2,
    "Adam": adam,
    "AddSign": add_sign,
    "CenteredRMSProp": centered_rms_prop,
    "Ftrl": ftrl,
    "FtrlV2": ftrl,
    "GradientDescent": gradient_descent,
    "Momentum": momentum,
    "PowerSign": power_sign,
    "ProximalAdagrad": proximal_adagrad,
    "ProximalGradientDescent": proximal_gradient_descent,
    "RMSProp": rms_prop,
}
_RESOURCE_ONLY: dict[str, Rule] = {"AdamWithAmsgrad": adam_with_amsgrad, "KerasMomentum": keras_momentum}
_SPARSE = (
    *("Adadelta", "Adagrad", "AdagradDA", "AdagradV2", "CenteredRMSProp", "Ftrl", "FtrlV2", "Momentum"),
    *("ProximalAdagrad", "ProximalGradientDescent", "RMSProp"),
)


def _registration(op: str, rule: Rule) -> KernelRegistration:
    return KernelRegistration(op, partial(ApplyKernel, rule=rule), {"T": FLOATS | COMPLEX})


REGISTRATIONS = (
    *(_registration(f"Apply{name}", rule) for name, rule in _DENSE.items()),
    *(_registration(f"ResourceApply{name}", rule) for name, rule in (_DENSE | _RESOURCE_ONLY).items()),
    *(_registration(f"SparseApply{name}", _DENSE[name]) for name in _SPARSE),
    *(_registration(f"ResourceSparseApply{name}", _DENSE[name]) for name in _SPARSE),
    _registration("ResourceSparseApplyKerasMomentum", keras_momentum),
)
