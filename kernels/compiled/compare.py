"""Comparisons of two elements, shared by the families of comparisons; results are bytes of 0 or 1."""

import numpy as np
from numba import njit


@njit(error_model="numpy")
def equal(x, y, p):
    return np.uint8(x == y)


@njit(error_model="numpy")
def not_equal(x, y, p):
    return np.uint8(x != y)


@njit(error_model="numpy")
def less(x, y, p):
    return np.uint8(x < y)


@njit(error_model="numpy")
def less_equal(x, y, p):
    return np.uint8(x <= y)


COMPARISONS = {"equal": equal, "not_equal": not_equal, "less": less, "less_equal": less_equal}
