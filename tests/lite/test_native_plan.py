"""Plans: order, failure, single rows, nesting, lifetime."""

import gc

import numpy as np
import pytest
from numlite.lite import native_plan
from numlite.lite.native_plan import INTERNAL_ERROR, NativePlan

from .native_kernels import LIBRARY, Work, address, broken


@pytest.fixture(params=["method", "ctypes"])
def entry(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "ctypes":
        monkeypatch.setattr(native_plan, "_payload_offset", lambda: -1)


@pytest.mark.usefixtures("entry")
@pytest.mark.parametrize("rows", [0, 1, 3, 100])
def test_invoke_runs_every_row_once(rows: int) -> None:
    work = Work([1] * rows)
    plan = NativePlan(work.rows, LIBRARY)
    assert [plan.invoke() for _ in range(3)] == [0, 0, 0]
    assert work.done(3)


@pytest.mark.usefixtures("entry")
def test_invoke_stops_at_the_first_failure() -> None:
    work = Work([1, 1, 1])
    work.blocks["fail"][1] = 0
    plan = NativePlan(work.rows, LIBRARY)
    assert plan.invoke() == 7
    assert plan.failed_row == 1
    assert work.counters[:, 0, 0].tolist() == [1, 1, 0]


def test_chunks_run_in_turn_without_a_pool() -> None:
    work = Work([5, 1, 3])
    assert NativePlan(work.rows, LIBRARY).invoke() == 0
    assert work.done(1)


def test_a_failing_chunk_fails_its_row() -> None:
    work = Work([4], fail=2)
    plan = NativePlan(work.rows, LIBRARY)
    assert (plan.invoke(), plan.failed_row) == (7, 0)


def test_run_row_runs_one_row() -> None:
    work = Work([1, 2, 1])
    plan = NativePlan(work.rows, LIBRARY)
    assert plan.run_row(1) == 0
    assert work.counters[:, 0, 0].tolist() == [0, 1, 0]


def test_a_row_may_be_a_plan() -> None:
    inner = Work([1, 3])
    plan = NativePlan(inner.rows, LIBRARY)
    run = LIBRARY.address("executor", "run_plan")
    outer = NativePlan(np.array([[run, plan.address, 1, 1]] * 4, np.int64), LIBRARY)
    assert outer.invoke() == 0
    assert inner.done(4)
    inner.blocks["fail"][1] = 1
    assert (outer.invoke(), outer.failed_row, plan.failed_row) == (7, 0, 1)


@pytest.mark.usefixtures("entry")
def test_a_raise_is_an_internal_error() -> None:
    work = Work([1])
    work.rows[0, 0] = address(broken)
    assert NativePlan(work.rows, LIBRARY).invoke() == INTERNAL_ERROR


@pytest.mark.usefixtures("entry")
def test_invoke_outlives_the_plan() -> None:
    work = Work([1, 1])
    invoke = NativePlan(work.rows.copy(), LIBRARY).invoke
    gc.collect()
    filler = [np.full(16, -1, np.int64) for _ in range(1000)]
    assert invoke() == 0
    assert work.done(1)
    assert len(filler) == 1000


@pytest.mark.parametrize(
    "rows", [np.zeros((2, 3), np.int64), np.zeros((2, 4), np.int32), np.zeros(8, np.int64)]
)
def test_rows_of_another_form_are_refused(rows: np.ndarray) -> None:
    with pytest.raises(ValueError, match="n x 4"):
        NativePlan(rows, LIBRARY)
