"""Operators: one stem per family; prepare here, Numba code in compiled/, TensorFlow ops in fallback/."""
