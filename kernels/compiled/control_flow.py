"""Running the plans of other subgraphs: one of several, or one over and over."""

import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.extending import intrinsic

from ...lite.native_blocks import FOLLOWER_WORDS, KNOWN_RUN, KNOWN_STAGE, RESIZE, STOPPED
from ..control_flow import BODY_FAILED, BRANCH_FAILED, CONDITION_FAILED
from ..kept_turns import BODY_UNKNOWN, LOOP_ENDED, TURN_FAILED
from ..native_call import BRANCH_WORDS, BRANCHES, COPY_WORDS, LOOP, TURN
from .driver.cancellation import is_to_stop
from .driver.kernel_source import KernelSources
from .language.elements import read_back_i64, write_i64
from .language.memory import int32_pointer, int64_pointer, record_pointer, uint8_pointer
from .language.primitives import call3
from .run_copy import copy_run

kernels = KernelSources()

BRANCHES_BYTES = BRANCHES.itemsize
LOOP_BYTES = LOOP.itemsize
known_stage_at = record_pointer(KNOWN_STAGE)
TURN_BYTES = TURN.itemsize


@intrinsic
def address_of(typing_context, record):
    """Where a block lies: words that are no fields of its record follow it."""

    def codegen(context, builder, signature, args):
        return builder.ptrtoint(args[0], ir.IntType(64))

    return types.int64(record), codegen


@njit(error_model="numpy")
def copy_all(at, count):
    for _ in range(count):
        words = carray(int64_pointer(at), COPY_WORDS)
        if words[0] != words[1]:
            copy_run(words[1], words[0], words[2])
        at += 8 * COPY_WORDS
    return at


@njit(error_model="numpy")
def run_plan_at(runner, plan):
    return 0 if plan == 0 else call3(runner, plan, 0, 1)


@njit(error_model="numpy")
def selected(a):
    if a.selector_bytes == 0:
        return 0
    if a.selector_bytes == 1:
        return 0 if uint8_pointer(a.selector)[0] != 0 else 1
    number = np.int64(int32_pointer(a.selector)[0])
    return number if 0 <= number < a.branches else a.branches - 1


@kernels.add(BRANCHES)
def run_branch(a, chunk, chunks):
    at = address_of(a) + BRANCHES_BYTES
    branch = selected(a)
    for _ in range(branch):
        words = carray(int64_pointer(at), BRANCH_WORDS)
        at += 8 * (BRANCH_WORDS + COPY_WORDS * (words[1] + words[2]))
    words = carray(int64_pointer(at), BRANCH_WORDS)
    at = copy_all(at + 8 * BRANCH_WORDS, words[1])
    if run_plan_at(a.runner, words[0]) != 0:
        return BRANCH_FAILED + branch
    copy_all(at, words[2])
    return 0


@kernels.add(LOOP)
def run_loop(a, chunk, chunks):
    turn = copy_all(address_of(a) + LOOP_BYTES, a.begin_copies)
    while True:
        if is_to_stop(a.cancellation, a.cost):
            return STOPPED
        if run_plan_at(a.runner, a.condition_plan) != 0:
            return CONDITION_FAILED
        if uint8_pointer(a.condition)[0] == 0:
            break
        if run_plan_at(a.runner, a.body_plan) != 0:
            return BODY_FAILED
        copy_all(turn, a.turn_copies)
    copy_all(turn + 8 * COPY_WORDS * a.turn_copies, a.end_copies)
    return 0


@kernels.add(TURN)
def run_turn(a, chunk, chunks):
    at = copy_all(address_of(a) + TURN_BYTES, a.condition_copies)
    if run_plan_at(a.runner, a.condition_plan) != 0:
        return TURN_FAILED
    if uint8_pointer(a.condition)[0] == 0:
        return LOOP_ENDED
    if a.body_plan == 0:
        return BODY_UNKNOWN
    copy_all(at, a.body_copies)
    return TURN_FAILED if run_plan_at(a.runner, a.body_plan) != 0 else 0


@njit(error_model="numpy")
def follower_at(stage, count):
    """Where the words are of what follows when the stage's result has so many elements; 0 where unknown."""
    for k in range(stage.follower_count):
        at = stage.followers + 8 * FOLLOWER_WORDS * k
        if read_back_i64(at, 0) == count:
            return at
    return 0


@kernels.add(KNOWN_RUN)
def run_known(a, chunk, chunks):
    at = a.first  # 0 while nothing is known
    while at != 0:
        stage = carray(known_stage_at(at), 1)[0]
        a.last = at
        if stage.kernel != 0:
            # Where its result lay may be somebody else's memory now.
            write_i64(stage.size, 0, -1)
        a.status = run_plan_at(a.runner, stage.plan)
        if stage.kernel == 0 or a.status != RESIZE:
            return a.status
        follower = follower_at(stage, read_back_i64(stage.found, 0))
        if follower == 0:
            return RESIZE
        write_i64(stage.size, 0, read_back_i64(follower, 0))
        write_i64(stage.y, 0, read_back_i64(follower, 1))
        a.status = call3(stage.kernel, stage.args, 0, 1)
        if a.status != 0:
            return a.status
        at = read_back_i64(follower, 2)
    return RESIZE
