"""The ops whose results' shapes are known, and the family module that each comes from."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from .context import ShapeFunction

FAMILIES = (
    *("binary", "concatenation", "constant", "conv", "elementwise", "gather", "image"),
    *("linalg", "matmul", "matrix_diag", "normalization", "pad", "pool", "quantize", "random", "recurrent"),
    *("reduce", "reshape", "resource", "segment", "signal", "slice", "sparse", "string"),
    *("tensor_list", "transpose", "unique"),
)


@lru_cache(1)
def shape_functions() -> dict[str, ShapeFunction]:
    """Shape functions by op."""
    found: dict[str, ShapeFunction] = {}
    for family in FAMILIES:
        functions: dict[str, ShapeFunction] = import_module(f".{family}", __package__).REGISTRATIONS
        assert not found.keys() & functions.keys(), (family, found.keys() & functions.keys())
        found |= functions
    return found
