"""What native code looks at to know whether its run is to stop.

The word `stop` is read everywhere: between rows, turns and chunks, by every thread. Only the thread that
runs the plan, its owner, reads the clock, once its credit is used up: then the deadline counts, and in the
main thread Python's signal handlers run every LOOK_NS, for which the GIL is taken.
"""

from numba import carray, njit

from ....lite.native_blocks import CANCELLATION, RAISED, TIMED_OUT, field_offset
from ..language.memory import int64_pointer, record_pointer
from ..language.primitives import atomic_load, call0, call1, call2, compare_and_swap

CREDIT = 256  # KiB that rows touch between two looks at the clock
LOOK_NS = 80_000_000
TURNS, COST = 1 << 14, 64  # of loops over single elements, between two looks
STOP = field_offset(CANCELLATION, "stop")
SECONDS = field_offset(CANCELLATION, "seconds")
LOW_WORD = 0xFFFFFFFF  # a C int is the lower half of a register

cancellation_at = record_pointer(CANCELLATION)


@njit(error_model="numpy")
def is_stopped(at):
    """Whether the run of the CANCELLATION at this address is to stop."""
    return atomic_load(at + STOP) != 0


@njit(error_model="numpy")
def now_ns(a, at):
    if a.clock_gettime == 0:
        return call0(a.GetTickCount64) * 1_000_000
    call2(a.clock_gettime, a.clock_id, at + SECONDS)
    time = carray(int64_pointer(at + SECONDS), 2)
    return time[0] * 1_000_000_000 + time[1]


@njit(error_model="numpy")
def run_signal_handlers(a, at):
    """Let Python run the handlers of signals that have come; what one raises is kept for `invoke`."""
    main_thread = int64_pointer(a.main_thread)[0]
    if a.thread_state == 0 or (main_thread != 0 and main_thread != a.owner):
        return
    call1(a.PyEval_RestoreThread, a.thread_state)
    if call0(a.PyErr_CheckSignals) & LOW_WORD != 0:
        a.raised = 1
        compare_and_swap(at + STOP, 0, RAISED)
    a.thread_state = call0(a.PyEval_SaveThread)


@njit(error_model="numpy", inline="never")
def look(at):
    """Look at the clock, the deadline and the signals; whether the run is to stop."""
    a = carray(cancellation_at(at), 1)[0]
    a.credit = CREDIT
    now = now_ns(a, at)
    if now >= a.next_look and atomic_load(at + STOP) == 0:
        a.next_look = min(now + LOOK_NS, max(a.deadline, now + 1))
        if now >= a.deadline:
            compare_and_swap(at + STOP, 0, TIMED_OUT)
        else:
            run_signal_handlers(a, at)
    return atomic_load(at + STOP) != 0


@njit(error_model="numpy")
def credit_of(at):
    """How much work may be done before the clock is looked at."""
    return carray(cancellation_at(at), 1)[0].credit


@njit(error_model="numpy")
def spend(at, cost):
    """Take the cost of work that was done from the credit."""
    carray(cancellation_at(at), 1)[0].credit -= cost


@njit(error_model="numpy")
def is_to_stop(at, cost):
    """Whether to stop instead of doing work of that cost: for kernels, in whichever thread they run."""
    if is_stopped(at):
        return True
    a = carray(cancellation_at(at), 1)[0]
    if a.owner != call0(a.PyThread_get_thread_ident):
        return False
    spend(at, cost)
    return a.credit < 0 and look(at)
