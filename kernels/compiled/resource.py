"""Variables to tensors and back, and a plan that runs once."""

from numba import carray

from ...lite.resources import ASSIGNED, DATA, NBYTES
from ..resource import NOT_ASSIGNED, ONCE, ONCE_FAILED, OTHER_SIZE, VARIABLE_COPY
from .driver.kernel_source import KernelSources
from .language.memory import int64_pointer
from .language.primitives import call3
from .run_copy import copy_run

kernels = KernelSources()


@kernels.add(VARIABLE_COPY)
def read_variable(a, chunk, chunks):
    words = carray(int64_pointer(a.variable), 3)
    if words[ASSIGNED] == 0:
        return NOT_ASSIGNED
    if words[NBYTES] != a.nbytes:
        return OTHER_SIZE
    if a.tensor != words[DATA]:
        copy_run(a.tensor, words[DATA], a.nbytes)
    return 0


@kernels.add(VARIABLE_COPY)
def assign_variable(a, chunk, chunks):
    words = carray(int64_pointer(a.variable), 3)
    if words[NBYTES] != a.nbytes:
        return OTHER_SIZE
    if a.tensor != words[DATA]:
        copy_run(words[DATA], a.tensor, a.nbytes)
    words[ASSIGNED] = 1
    return 0


@kernels.add(ONCE)
def run_once(a, chunk, chunks):
    done = carray(int64_pointer(a.done), 1)
    if done[0] == 0:
        if call3(a.runner, a.plan, 0, 1) != 0:
            return ONCE_FAILED
        done[0] = 1
    return 0
