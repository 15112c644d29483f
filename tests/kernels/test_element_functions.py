"""The descriptions of functions of single elements, and the kernels that are made from them."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.compiled.families import FAMILIES
from numlite.kernels.element_functions import (
    BINARY,
    BROADCAST_RANK,
    TERNARY,
    TYPES,
    UNARY,
    block_of,
    form_of,
    kernels,
    types_of,
    units,
)
from numlite.kernels.operator_facts import SUFFIXES


def test_every_kernel_has_one_description() -> None:
    names = [f"{function}_{suffix}" for function, suffix, _ in kernels()]
    assert len(names) == len(set(names))
    assert len({*BINARY, *TERNARY, *UNARY}) == len(BINARY) + len(TERNARY) + len(UNARY)


def test_a_model_with_one_float_sum_compiles_what_it_did() -> None:
    assert units()["binary_f32"] == [
        f"{name}_f32" for name in ("add", "sub", "mul", "div", "squared_difference", "maximum", "minimum")
    ]


def test_every_description_becomes_a_kernel_with_its_block() -> None:
    for unit, names in units().items():
        sources = FAMILIES[unit].sources()
        assert set(sources) == set(names)
    for function, suffix, _ in kernels():
        unit = form_of(function, suffix).unit.format(suffix)
        assert FAMILIES[unit].sources()[f"{function}_{suffix}"].block == block_of(function, suffix)


def test_types_have_names_that_kernels_read() -> None:
    assert set(SUFFIXES.values()) == set(TYPES)
    for function, suffix, form in kernels():
        assert set(types_of(form, suffix)) <= set(TYPES), (function, suffix)


def test_a_block_holds_operands_loops_and_parameters() -> None:
    block = block_of("add", "i16")
    assert block.names == ("a", "b", "out", "shape", "a_strides", "b_strides", "low", "high")
    assert block["shape"].shape == (BROADCAST_RANK,) and block["low"] == np.int16
    assert block_of("select", "i8").names == (
        *("condition", "a", "b", "out", "shape"),
        *("condition_strides", "a_strides", "b_strides"),
    )
    assert block_of("leaky_relu", "f32").names == ("x", "y", "size", "alpha")


def test_a_function_that_is_not_described_has_no_kernel() -> None:
    with pytest.raises(KeyError, match="squared_difference_i8"):
        form_of("squared_difference", "i8")
