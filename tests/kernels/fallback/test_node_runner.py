"""Kernels run by several threads, in several environments, and in memory that is theirs to take."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numlite.kernels import fallback
from numlite.kernels.fallback.environment import Environment
from numlite.kernels.fallback.forwarding import forwardable
from numlite.kernels.fallback.node_runner import NodeRunner
from numlite.kernels.fallback.op_metadata import OpMetadata
from numlite.kernels.fallback.register import FAMILIES
from numlite.kernels.fallback.registry import KernelRegistration, KernelRegistry, kernel
from numlite.kernels.fallback.status import InternalError, InvalidArgumentError, ResourceExhaustedError

from .nodes import node, run, strings

# Node, and a way to make its inputs from a number.
STATELESS = {
    "Cumsum": (node("Cumsum", T="f32"), lambda n: [np.arange(n + 5, dtype=np.float32), np.int32(0)]),
    "Einsum": (
        node("Einsum", T="f64", N="i64$2", equation="string$ij,jk->ik"),
        lambda n: [np.full((3, n + 2), n, np.float64), np.ones((n + 2, 4))],
    ),
    "StaticRegexReplace": (
        node("StaticRegexReplace", pattern="string$a+", rewrite="string$b"),
        lambda n: [strings([b"a" * n + b"c"] * 20)],
    ),
    "StatelessRandomUniform": (
        node("StatelessRandomUniform", T="i32", Tseed="i64", dtype="f32"),
        lambda n: [np.array([50], np.int32), np.array([n, 7])],
    ),
    "TopKV2": (node("TopKV2", T="i32"), lambda n: [np.arange(100, dtype=np.int32) * n % 13, np.int32(5)]),
}


def modules() -> set[str]:
    folder = Path(fallback.__path__[0])
    return {path.stem for path in folder.glob("*.py") if "\nREGISTRATIONS" in path.read_text()}


def test_every_module_with_kernels_is_in_the_table() -> None:
    assert modules() == set(FAMILIES)


def test_families_share_an_op_only_for_different_types() -> None:
    made: dict[str, list[tuple[str, KernelRegistration]]] = {}
    for family in FAMILIES:
        for registration in FAMILIES.registrations(family):
            made.setdefault(registration.op, []).append((family, registration))
    for found in made.values():
        for (family, one), (other_family, other) in combinations(found, 2):
            apart = [name for name in one.constraints if not one.constraints[name] & other.constraints[name]]
            assert family == other_family or apart, one.op


@pytest.mark.parametrize("op", STATELESS)
def test_one_kernel_serves_several_threads(op: str) -> None:
    made, inputs_of = STATELESS[op]
    runner = NodeRunner(made)
    assert not runner.stateful
    wanted = [NodeRunner(made)([np.asarray(x) for x in inputs_of(n)], Environment()) for n in range(32)]
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            pool.submit(runner, [np.asarray(x) for x in inputs_of(n)], Environment())
            for n in range(32)
            for _ in range(4)
        ]
        found = [job.result() for job in jobs]
    for number, outputs in enumerate(found):
        for value, expected in zip(outputs, wanted[number // 4], strict=True):
            np.testing.assert_array_equal(value, expected)


def test_a_seeded_sequence_goes_on_in_its_own_kernel() -> None:
    made = node("RandomUniform", T="i32", dtype="f32", seed="i64$1", seed2="i64$2")
    one, other = NodeRunner(made), NodeRunner(made)
    assert one.stateful
    shape = [np.array([4], np.int32)]
    first, second = one(shape, Environment())[0], one(shape, Environment())[0]
    assert first.tolist() != second.tolist()
    assert other(shape, Environment())[0].tolist() == first.tolist()


def add_n(inputs: list[np.ndarray]) -> np.ndarray:
    made = node("AddN", N=f"i64${len(inputs)}", T="f32")
    return NodeRunner(made)(inputs, Environment(), forwardable(inputs))[0]


def test_memory_that_only_the_run_holds_is_taken() -> None:
    inputs = [np.ones(3, np.float32), np.ones(3, np.float32)]
    address = inputs[0].ctypes.data
    total = add_n(inputs)
    assert total.tolist() == [2] * 3 and total.ctypes.data == address


def shared_twice() -> list[np.ndarray]:
    value = np.ones(3, np.float32)
    return [value, value, value]


def read_only() -> list[np.ndarray]:
    value = np.ones(3, np.float32)
    value.flags.writeable = False
    return [value, np.ones(3, np.float32)[:], np.ones(3, np.float32)[::1]]


def views() -> list[np.ndarray]:
    whole = np.ones(6, np.float32)
    return [whole[:3], whole[3:], whole[1:4]]


@pytest.mark.parametrize("make", [shared_twice, read_only, views])
def test_memory_that_others_read_is_left(make: object) -> None:
    inputs = make()  # type: ignore[operator]
    kept = list(inputs)
    assert add_n(inputs).tolist() == [3] * 3
    assert all(value.tolist() == [1] * 3 for value in kept)


def test_a_kernels_own_fault_is_an_internal_error() -> None:
    registry = KernelRegistry()
    registry.register_op(OpMetadata.parse("Odd", inputs=["x: float"], outputs=["y: float"]))
    registry.register(kernel("Odd", lambda x: x.nothing))
    with pytest.raises(InternalError, match=r"Odd: AttributeError: .*nothing"):
        run("Odd", [np.float32(1)], registry)


@pytest.mark.parametrize(
    ("op", "attributes", "message"),
    [
        ("SpaceToDepth", {"T": "f32", "block_size": "i64$1"}, r"'block_size' must be at least 2, got 1"),
        (
            "MirrorPad",
            {"T": "f32", "Tpaddings": "i32", "mode": "string$ODD"},
            r"'mode' must be one of REFLECT, SYMMETRIC, got 'ODD'",
        ),
        ("AddN", {"T": "f32", "N": "i64$0"}, r"'N' must be at least 1, got 0"),
        (
            "MaxPool",
            {"T": "f32", "ksize": "list(i64)$1,1", "strides": "list(i64)$1,1,1,1"},
            "'ksize' .* 4 long",
        ),
    ],
)
def test_attributes_outside_of_the_ops_definition(op: str, attributes: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        NodeRunner(node(op, **{"padding": "string$SAME", **attributes}))


def test_what_does_not_fit_in_memory_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="must not be negative"):
        run("Fill", [np.array([-1], np.int32), np.float32(1)], T="f32")
    for sizes in ([2**40], [2**31, 2**31], [2**62, 4]):
        with pytest.raises(ResourceExhaustedError, match="does not fit in memory"):
            run("Fill", [np.array(sizes), np.float32(1)], T="f32", index_type="i64")
