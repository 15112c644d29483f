"""Optimizers' steps and scatters into variables: what TensorFlow leaves in them (golden/README.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numlite.kernels.fallback.dtypes import data_type_of
from numlite.kernels.fallback.environment import Environment
from numlite.kernels.fallback.node_runner import NodeRunner
from numlite.kernels.fallback.status import FailedPreconditionError, InvalidArgumentError
from numlite.kernels.fallback.variable import Variable, variable_of

from ...shared_arrays import difference
from .golden_cases import array, cases_of, ops_of, tolerance
from .nodes import node


def handle(value: np.ndarray) -> np.ndarray:
    variable = Variable("v", data_type_of(value.dtype), value.shape)
    variable.assign(value.copy())
    made = np.empty((), object)
    made[()] = variable
    return made


def inputs_of(case: dict[str, Any]) -> list[np.ndarray]:
    values = [array(*tensor) for tensor in case["inputs"]]
    return [handle(v) if held else v for v, held in zip(values, case["variables"], strict=True)]


@pytest.mark.parametrize("op", ops_of("variables"))
def test_variables_become_what_tensorflow_makes_of_them(op: str) -> None:
    for case in (case for case in cases_of("variables") if case["op"] == op):
        inputs = inputs_of(case)
        handles = [value for value, held in zip(inputs, case["variables"], strict=True) if held]
        read_before = [variable_of(held).value for held in handles]
        kept = [value.copy() for value in read_before]
        outputs = NodeRunner(node(op, **case["attributes"]))(inputs, Environment())
        for held, tensor in zip(handles, case["after"], strict=True):
            expected = array(*tensor)
            assert not difference(variable_of(held).value, expected, tolerance(expected)), case
        for found, tensor in zip(outputs, case["outputs"], strict=True):
            assert not difference(found, array(*tensor), {"rtol": 0, "atol": 0})
        # What was read before the step is another array than the variable's new value.
        for value, copy in zip(read_before, kept, strict=True):
            np.testing.assert_array_equal(value, copy)


def step(inputs: list[np.ndarray]) -> None:
    NodeRunner(node("ResourceApplyGradientDescent", T="f32"))(inputs, Environment())


def test_a_step_of_a_variable_without_a_value() -> None:
    made = np.empty((), object)
    made[()] = Variable("v", data_type_of(np.dtype(np.float32)), (2,))
    with pytest.raises(FailedPreconditionError, match="must be initialized"):
        step([made, np.float32(1), np.float32([1, 2])])


def test_a_gradient_of_another_shape() -> None:
    with pytest.raises(InvalidArgumentError):
        step([handle(np.float32([1, 2])), np.asarray(np.float32(1)), np.float32([1, 2, 3])])


@pytest.mark.parametrize("place", [-1, 4, 2**40])
def test_scatters_outside(place: int) -> None:
    held = handle(np.zeros((4, 2), np.float32))
    runner = NodeRunner(node("ResourceScatterAdd", dtype="f32", Tindices="i64"))
    with pytest.raises(InvalidArgumentError, match=r"is not in \[0, 4\)"):
        runner([held, np.array([place]), np.ones((1, 2), np.float32)], Environment())
    assert not variable_of(held).value.any()
