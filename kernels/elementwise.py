"""Elementwise unary operators: the shape rule and the argument blocks."""

import numpy as np

UNARY = np.dtype([("x", np.int64), ("y", np.int64), ("size", np.int64)], align=True)
