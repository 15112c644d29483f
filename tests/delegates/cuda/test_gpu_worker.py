"""The process that checks a GPU: what breaks there is named, and does not stop what comes after."""

from __future__ import annotations

import pytest

from .driver_stand_in import why_not
from .gpu_worker import Worker
from .replays import cases_of

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")
CHECK = ("case_equals_the_cpu", "gather", cases_of("gather")[3].id, "default")


def test_a_broken_gpu_is_another_process_s(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker()
    try:
        monkeypatch.setenv("NUMLITE_STAND_IN", "0")
        broken = worker.call(*CHECK)
        assert broken.is_lost and "ILLEGAL_ADDRESS" in broken.failure, broken
        named = worker.call("launches_of", *CHECK)
        assert named.is_lost and " over (" in named.failure and worker.starts == 2, named
        monkeypatch.setenv("NUMLITE_STAND_IN", "yes")
        found = worker.call("gpu")
        assert isinstance(found.value, tuple) and found.value[0].startswith("stand-in sm_90")
        assert found.value[1] == 90 and worker.starts == 3
        unknown = worker.call("case_equals_the_cpu", "gather", "no such case", "default")
        assert "StopIteration" in unknown.failure and not unknown.is_lost
    finally:
        worker.stop()


def test_a_check_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMLITE_STAND_IN", "yes")
    worker = Worker()
    late = worker.call("gpu", seconds=0)
    assert late.is_lost and "nothing for 0 seconds" in late.failure
    assert worker.call("gpu").value and worker.starts == 2
    worker.stop()
