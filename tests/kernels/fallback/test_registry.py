"""Kernels registered, chosen by their constraints, made and run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numlite.kernels.fallback.attribute_text import attribute_from_text
from numlite.kernels.fallback.attributes import DataType
from numlite.kernels.fallback.dtypes import FLOATS, INTEGERS
from numlite.kernels.fallback.kernel import KernelConstruction, KernelContext, OpKernel
from numlite.kernels.fallback.op_metadata import OpMetadata
from numlite.kernels.fallback.register import FAMILIES, fallback_kernels
from numlite.kernels.fallback.registry import KernelRegistry, built_kernel, kernel
from numlite.kernels.fallback.status import InternalError, InvalidArgumentError
from numlite.lite.errors import ModelError, UnsupportedError

from .nodes import run

ONES = np.ones(3, np.float32)
NODE_TYPE = attribute_from_text("f32")
NODE_COUNT = attribute_from_text("i32$3")


class Halve(OpKernel):
    """Half of the input."""

    def compute(self, context: KernelContext) -> None:
        out = context.forward_input_or_allocate_output([0], 0, context.input(0).shape)
        np.multiply(context.input(0), 0.5, out=out)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A factor, and an offset that nodes may lack."""

    factor: int
    offset: int = 0


def scaled(x: np.ndarray, *, scale: Scale) -> np.ndarray:
    """x factor + offset."""
    return x * x.dtype.type(scale.factor) + x.dtype.type(scale.offset)


@pytest.fixture
def registry() -> KernelRegistry:
    made = KernelRegistry()
    made.register_op(OpMetadata.parse("Halve", inputs=["x: T"], outputs=["out: T"]))
    made.register_kernel("Halve", Halve, T=FLOATS)
    return made


@pytest.mark.parametrize("family", list(FAMILIES))
def test_the_table_says_what_the_families_register(family: str) -> None:
    registered = {registration.op for registration in FAMILIES.registrations(family)}
    assert registered == set(FAMILIES.names(family))


def test_ops_of_the_table_are_tensorflows() -> None:
    for op in fallback_kernels().ops():
        assert fallback_kernels().metadata(op).name == op


def test_a_class(registry: KernelRegistry) -> None:
    assert run("Halve", [ONES], registry, T="f32")[0].tolist() == [0.5] * 3


def test_which_constraint_fails(registry: KernelRegistry) -> None:
    registry.register(kernel("Halve", lambda x: x // 2, T=INTEGERS))
    assert run("Halve", [np.int32(5)], registry, T="i32")[0] == 2
    with pytest.raises(UnsupportedError, match=r"one of .*int32.*, got string; T must be one of .*float"):
        run("Halve", [np.array(b"", object)], registry, T="string")
    with pytest.raises(UnsupportedError, match="attribute 'T' is missing"):
        run("Halve", [ONES], registry)


def test_unknown_names() -> None:
    with pytest.raises(UnsupportedError, match="no such op in TensorFlow"):
        run("Halves", [ONES])
    with pytest.raises(UnsupportedError, match=r"no fallback kernel; register_kernel\('Abs'"):
        run("Abs", [ONES], KernelRegistry(), T="f32")


def test_the_later_registration_wins(registry: KernelRegistry) -> None:
    registry.register(kernel("Halve", lambda x: x, T=FLOATS))
    assert run("Halve", [ONES], registry, T="f32")[0].tolist() == [1] * 3


def test_three_functions(registry: KernelRegistry) -> None:
    deleted = []

    def create(construction: KernelConstruction) -> int:
        return construction.get_attr("T", DataType)

    def compute(state: int, context: KernelContext) -> None:
        context.set_output(0, context.input(0) * np.float32(state))

    registry.register(built_kernel("Halve", create, compute, deleted.append, T=FLOATS))
    assert run("Halve", [ONES * 3], registry, T="f32")[0].tolist() == [3] * 3
    assert deleted == [1]


def test_a_dataclass_of_attributes(registry: KernelRegistry) -> None:
    registry.register(kernel("Halve", scaled, T=FLOATS))
    assert run("Halve", [ONES], registry, T="f32", factor="i32$3")[0].tolist() == [3] * 3
    assert run("Halve", [ONES], registry, T="f32", factor="i32$3", offset="i32$1")[0].tolist() == [4] * 3
    with pytest.raises(ModelError, match="attribute 'factor' is missing"):
        run("Halve", [ONES], registry, T="f32")


@pytest.mark.parametrize("wrong", [lambda x: x.astype(np.int8), lambda x: None, lambda x: (x, x)])
def test_kernels_that_break_their_promise(registry: KernelRegistry, wrong: object) -> None:
    registry.register(kernel("Halve", wrong, T=FLOATS))  # type: ignore[arg-type]
    with pytest.raises((InternalError, InvalidArgumentError)):
        run("Halve", [ONES], registry, T="f32")


def test_wrong_inputs(registry: KernelRegistry) -> None:
    with pytest.raises(ModelError, match="must have 1 inputs, got 2"):
        run("Halve", [ONES, ONES], registry, T="f32")
    with pytest.raises(InvalidArgumentError, match=r"input 0 must be float, got float64 \[3\]"):
        run("Halve", [ONES.astype(np.float64)], registry, T="f32")


def test_attributes_are_read_by_kind() -> None:
    metadata = OpMetadata.parse("Odd", outputs=["out: int32"])
    construction = KernelConstruction(metadata, {"T": NODE_TYPE})
    assert construction.get_attr("T", DataType) == 1
    with pytest.raises(ModelError, match="attribute 'T' must be an int, got a type"):
        construction.get_attr("T", int)
    with pytest.raises(ModelError, match="attribute 'U' is missing"):
        construction.get_attr("U", int)


def test_lists_and_defaults() -> None:
    pack = fallback_kernels().metadata("Pack")
    attributes = pack.with_defaults({"T": NODE_TYPE, "N": NODE_COUNT})
    assert attributes["axis"].i == 0
    (values,) = pack.inputs(attributes)
    assert values.is_list and values.types == (1, 1, 1)


def test_add_n_keeps_the_inputs_that_are_not_its_to_take() -> None:
    inputs = [ONES, ONES * 2, ONES * 3]
    assert run("AddN", inputs, N="i32$3", T="f32")[0].tolist() == [6] * 3
    assert [value[0] for value in inputs] == [1, 2, 3]
    with pytest.raises(InvalidArgumentError, match=r"one shape, got \[3\] and, at 1, \[2\]"):
        run("AddN", [ONES, ONES[:2]], N="i32$2", T="f32")
