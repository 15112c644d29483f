"""The native executor: the loop over a plan's rows, its entry from Python, the pool's worker.

The thread pool cuts the chunks of one row into shares, one for each thread that may help. A thread takes its
own first, run after run, so that what it wrote for the next row is in its own cache, and then what others
have not begun. A share is one atomic word, epoch << 32 | chunks not yet claimed. The publisher writes the
row's call into the pool, the shares, and then the ticket, epoch << 32 | shares. Whoever swaps a share for one
with a chunk less has claimed that chunk; the swap fails when the epoch has moved on, so that what was read of
the call is that epoch's. The publisher claims chunks like everyone else and at the end waits for claimed
chunks only: a worker that never wakes costs nothing. A publisher that finds the pool taken runs its chunks
alone. A run that is to stop leaves out the chunks that nobody has begun.

Whether threads help is measured: two processors may be one core, or busy with other work. The first runs of a
row that is cut are trials, in turns with the pool and alone, and from then on it runs the faster way. Runs
with the pool are timed on, so that a row whose helpers have been taken away runs alone a few runs later.
"""

from numba import carray, njit

from ....lite.native_blocks import (
    CHOICE,
    LINE_BYTES,
    MOST_THREADS,
    PLAN,
    PLAN_HOLDER,
    POOL,
    RAISED,
    ROW,
    STOPPED,
    field_offset,
)
from ..language.memory import record_pointer
from ..language.primitives import (
    atomic_add,
    atomic_load,
    atomic_store,
    call0,
    call1,
    call3,
    call7,
    compare_and_swap,
    pause,
)
from .cancellation import STOP as STOP_RUN
from .cancellation import cancellation_at, credit_of, is_stopped, look, now_ns, spend
from .kernel_source import KernelSources

kernels = KernelSources()

plan_at = record_pointer(PLAN)
row_at = record_pointer(ROW)
choice_at = record_pointer(CHOICE)

TICKET, DONE, ASLEEP, WAKEUPS, TAKEN, STOP = (
    field_offset(POOL, name) for name in ("ticket", "done", "asleep", "wakeups", "taken", "stop")
)
CALL_KERNEL, CALL_ARGS, CALL_CHUNKS, CALL_STATUS, CALL_CANCELLATION = (
    field_offset(POOL, name) for name in ("kernel", "args", "chunks", "status", "cancellation")
)
SYSCALL, FUTEX, SCHED_YIELD, SLEEP, SLEEP_TIME = (
    field_offset(POOL, name) for name in ("syscall", "futex", "sched_yield", "sleep", "sleep_time")
)
ROW_BYTES, CHOICE_BYTES = ROW.itemsize, CHOICE.itemsize

SHARES, SHARE_BYTES = field_offset(POOL, "shares"), LINE_BYTES
COUNT = (1 << 32) - 1  # what a ticket and a share have below the epoch
EPOCHS = (1 << 31) - 1
FUTEX_WAIT_BITSET_PRIVATE = 137
FUTEX_WAKE_BITSET_PRIVATE = 138
BITS = 31  # of a word that says which threads are meant, by their numbers modulo this
PUBLISHER_SPINS = 2000
TRIALS = 6  # half of them alone
RUNS = 512  # from trials to trials
# Runs to the next trials of a row that runs alone; then twice as many, again and again. All rows are tried in
# the same runs, so that the threads are awake.
FIRST_AGAIN = 16
LEAST_GAIN = 16  # the pool must save one part in so many of the time alone
SMOOTHING = 8  # of the time with the pool, to which a run adds one part in so many


@njit(error_model="numpy")
def claim_chunks(pool, epoch, shares, share, is_worker):
    """Claim and run the chunks of a share that nobody has begun; how many, -1 when the epoch has moved on."""
    kernel = atomic_load(pool + CALL_KERNEL)
    args = atomic_load(pool + CALL_ARGS)
    chunks = atomic_load(pool + CALL_CHUNKS)
    cancellation = atomic_load(pool + CALL_CANCELLATION)
    end = chunks * (share + 1) // shares
    word = pool + SHARES + SHARE_BYTES * share
    claimed = 0
    while True:
        left = atomic_load(word)
        if left >> 32 != epoch:
            return -1
        if left & COUNT == 0:
            return claimed
        if compare_and_swap(word, left, left - 1) != 0:
            claimed += 1
            stops = is_stopped(cancellation) if is_worker else look(cancellation)
            status = STOPPED if stops else call3(kernel, args, end - (left & COUNT), chunks)
            if status != 0:
                compare_and_swap(pool + CALL_STATUS, 0, status)


@njit(error_model="numpy")
def help_out(pool, ticket, share, is_worker):
    """Run the chunks of one's own share, and then those of others."""
    epoch, shares = ticket >> 32, ticket & COUNT
    for step in range(shares):
        claimed = claim_chunks(pool, epoch, shares, (share + step) % shares, is_worker)
        if claimed < 0:
            return
        if claimed > 0:
            atomic_add(pool + DONE, claimed)


@njit(error_model="numpy")
def wake_workers(pool, shares):
    futex = atomic_load(pool + FUTEX)
    if futex != 0 and atomic_load(pool + ASLEEP) > 0:
        atomic_add(pool + WAKEUPS, 1)
        threads = (1 << min(shares, BITS)) - 1  # those that share a bit with one that is meant wake up, too
        syscall = atomic_load(pool + SYSCALL)
        call7(syscall, futex, pool + WAKEUPS, FUTEX_WAKE_BITSET_PRIVATE, MOST_THREADS, 0, 0, threads)


@njit(error_model="numpy")
def run_shared(pool, helpers, row, cancellation):
    """Run a row's chunks with the pool, which the caller has taken."""
    atomic_store(pool + CALL_KERNEL, row.kernel)
    atomic_store(pool + CALL_ARGS, row.args)
    atomic_store(pool + CALL_CHUNKS, row.chunks)
    atomic_store(pool + CALL_CANCELLATION, cancellation)
    atomic_store(pool + CALL_STATUS, 0)
    atomic_store(pool + DONE, 0)
    epoch = ((atomic_load(pool + TICKET) >> 32) + 1) & EPOCHS
    shares = min(helpers + 1, row.chunks)
    for share in range(shares):
        count = row.chunks * (share + 1) // shares - row.chunks * share // shares
        atomic_store(pool + SHARES + SHARE_BYTES * share, (epoch << 32) | count)
    ticket = (epoch << 32) | shares
    atomic_store(pool + TICKET, ticket)
    wake_workers(pool, shares)
    help_out(pool, ticket, 0, False)
    spins = 0
    while atomic_load(pool + DONE) < row.chunks:
        spins += 1
        if spins < PUBLISHER_SPINS:
            pause()
        else:
            call0(atomic_load(pool + SCHED_YIELD))
            look(cancellation)
    return atomic_load(pool + CALL_STATUS)


@njit(error_model="numpy")
def run_alone(row, cancellation):
    for chunk in range(row.chunks):
        if look(cancellation):
            return STOPPED
        status = call3(row.kernel, row.args, chunk, row.chunks)
        if status != 0:
            return status
    return 0


@njit(error_model="numpy")
def run_with_pool(plan, row, cancellation):
    """Run a row's chunks with the pool, alone where another plan has it; returns the status."""
    if compare_and_swap(plan.pool + TAKEN, 0, 1) == 0:
        return run_alone(row, cancellation)
    status = run_shared(plan.pool, plan.helpers, row, cancellation)
    atomic_store(plan.pool + TAKEN, 0)
    return status


@njit(error_model="numpy")
def has_gain(choice):
    return choice.shared <= choice.alone - choice.alone // LEAST_GAIN


@njit(error_model="numpy")
def run_cut(plan, index, row, cancellation):
    """Run a row of several chunks the way that was faster, or try one; returns the status."""
    choice = carray(choice_at(plan.choices + CHOICE_BYTES * index), 1)[0]
    turn = choice.runs
    choice.runs = (turn + 1) % RUNS
    if turn == 0:
        choice.wait = FIRST_AGAIN // 2
    gains = turn > 1 and has_gain(choice)
    trial = turn if gains else turn % choice.wait
    if trial >= TRIALS and not gains:
        return run_alone(row, cancellation)
    is_alone = trial < TRIALS and trial & 1 == 1  # first with the threads, which wake up then
    clock = carray(cancellation_at(cancellation), 1)[0]
    begin = now_ns(clock, cancellation)
    status = run_alone(row, cancellation) if is_alone else run_with_pool(plan, row, cancellation)
    taken = now_ns(clock, cancellation) - begin
    if trial >= TRIALS:
        # No run counts for more than twice the time alone: a single one that was held up is no reason.
        choice.shared += (min(taken, 2 * choice.alone) - choice.shared) // SMOOTHING
        choice.wait = FIRST_AGAIN
    elif is_alone:
        choice.alone = taken if trial < 2 else min(taken, choice.alone)
    else:
        choice.shared = taken if trial < 2 else min(taken, choice.shared)
    if trial == TRIALS - 1 and not has_gain(choice):
        choice.wait = min(2 * choice.wait, RUNS)
    return status


@njit(error_model="numpy")
def run_rows(plan):
    """Run the rows in order up to the first that fails; its number and status go into the plan."""
    at = plan.rows
    cancellation = plan.cancellation
    spent = 0
    credit = credit_of(cancellation)
    for index in range(plan.count):
        row = carray(row_at(at), 1)[0]
        spent += row.cost
        stops = is_stopped(cancellation)
        if spent > credit and not stops:
            stops = look(cancellation)
            spent = 0
            credit = credit_of(cancellation)
        if stops:
            status = STOPPED
        elif row.chunks == 1:
            status = call3(row.kernel, row.args, 0, 1)
        elif plan.helpers == 0:
            status = run_alone(row, cancellation)
        else:
            status = run_cut(plan, index, row, cancellation)
        if status != 0:
            plan.status = status
            plan.failed_row = index
            return status
        at += ROW_BYTES
    spend(cancellation, spent)
    return 0


@kernels.add(PLAN)
def run_plan(a, chunk, chunks):
    """A plan as a kernel: rows may hold plans, as IF, WHILE and CALL_ONCE need them."""
    return run_rows(a)


@njit(error_model="numpy")
def run_without_gil(plan):
    """Run the rows with the GIL released, signals in the main thread looked at; returns the status."""
    c = carray(cancellation_at(plan.cancellation), 1)[0]
    c.owner = call0(c.PyThread_get_thread_ident)
    c.thread_state = call0(c.PyEval_SaveThread)
    status = run_rows(plan)
    thread_state = c.thread_state
    c.thread_state = 0
    call1(c.PyEval_RestoreThread, thread_state)
    return status


@njit(error_model="numpy")
def has_raised(plan):
    """Whether a signal handler has raised an exception, which is set; the run is over then."""
    c = carray(cancellation_at(plan.cancellation), 1)[0]
    if c.raised == 0:
        return False
    c.raised = 0
    compare_and_swap(plan.cancellation + STOP_RUN, RAISED, 0)
    return True


@kernels.add(PLAN_HOLDER)
def invoke(a, chunk, chunks):
    """A METH_NOARGS function bound to a PLAN_HOLDER: releases the GIL, returns the status as an int."""
    plan = carray(plan_at(a.plan), 1)[0]
    status = run_without_gil(plan)
    if status != 0 and has_raised(plan):
        return 0
    return call1(plan.PyLong_FromLongLong, status)


@kernels.add(PLAN)
def invoke_plan(a, chunk, chunks):
    """The same for ctypes, which sees by itself that an exception is set."""
    status = run_without_gil(a)
    if status != 0:
        has_raised(a)
    return status


@njit(error_model="numpy")
def rest(pool, seen, number):
    """Sleep until the pool has work with an epoch other than `seen`, or stops; number is the thread's."""
    futex = atomic_load(pool + FUTEX)
    if futex == 0:
        call1(atomic_load(pool + SLEEP), atomic_load(pool + SLEEP_TIME))
        return
    # The publisher stores the ticket before it reads `asleep`, so one of the two sees the other.
    wakeups = atomic_load(pool + WAKEUPS)
    atomic_add(pool + ASLEEP, 1)
    ticket = atomic_load(pool + TICKET)
    if ticket >> 32 == seen and atomic_load(pool + STOP) == 0:
        low_word, thread = wakeups & 0xFFFFFFFF, 1 << number % BITS
        syscall = atomic_load(pool + SYSCALL)
        call7(syscall, futex, pool + WAKEUPS, FUTEX_WAIT_BITSET_PRIVATE, low_word, 0, 0, thread)
    atomic_add(pool + ASLEEP, -1)


@kernels.add(POOL)
def work(a, number, chunks):
    """A thread of the pool, until that stops; number is its own, from 1 on, chunks the pool's address."""
    pool = chunks
    seen = 0
    spins = 0
    while atomic_load(pool + STOP) == 0:
        ticket = atomic_load(pool + TICKET)
        if ticket >> 32 != seen:
            seen = ticket >> 32
            if number < ticket & COUNT:
                help_out(pool, ticket, number, True)
                spins = 0
        elif spins < a.spins:
            spins += 1
            pause()
        else:
            rest(pool, seen, number)
            spins = 0
    return 0
