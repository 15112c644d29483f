"""reader_functions: what becomes of tensors that nothing but one saturating function of each value reads.

Given    x -> TANH -> y                          x -> LOGISTIC -> g, MUL(x, g) -> y
Result   x: tanh                                 x: swish

Far values of x all give nearly the same y, so that a range of x may end before them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .float_graph import FloatGraph, Site, Step

Function = Callable[[np.ndarray], np.ndarray]
_AS_THEY_ARE = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE")


def logistic(values: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * values))


def _swish(values: np.ndarray) -> np.ndarray:
    return np.asarray(values * logistic(values))


def _gelu(values: np.ndarray) -> np.ndarray:
    """Nearly: a range asks for no more."""
    return np.asarray(values * logistic(1.702 * values))


def _hard_swish(values: np.ndarray) -> np.ndarray:
    return np.asarray(values * np.clip(values + 3, 0, 6) / 6)


_FUNCTIONS: dict[str, Function] = {
    **{"TANH": np.tanh, "LOGISTIC": logistic, "GELU": _gelu, "HARD_SWISH": _hard_swish},
}


def reader_functions(graph: FloatGraph) -> dict[Site, Function]:
    """Of each tensor the one function that all its readers stand for, where there is one."""
    found = {site: _function(graph, site) for site in list(graph.users) if graph.is_float(site)}
    return {site: function for site, function in found.items() if function is not None}


def _function(graph: FloatGraph, site: Site) -> Function | None:
    readers = graph.users.get(site, [])
    if site in graph.outputs or graph.is_constant(site) or not readers:
        return None
    if _is_swish(graph, site, readers):
        return _swish
    made = {_of_reader(graph, site, reader) for reader in readers}
    return made.pop() if len(made) == 1 else None


def _of_reader(graph: FloatGraph, site: Site, reader: Step) -> Function | None:
    if reader.inputs[0] != site.tensor:
        return None
    if reader.name in _AS_THEY_ARE:
        return _function(graph, Site(reader.graph, reader.outputs[0]))
    return _FUNCTIONS.get(reader.name)


def _is_swish(graph: FloatGraph, site: Site, readers: list[Step]) -> bool:
    """Whether the tensor is multiplied by its own LOGISTIC, which nothing else reads."""
    gates = [reader for reader in readers if reader.name == "LOGISTIC"]
    products = [reader for reader in readers if reader.name == "MUL"]
    if len(readers) != 2 or len(gates) != 1 or len(products) != 1:
        return False
    gate = Site(gates[0].graph, gates[0].outputs[0])
    users = graph.users.get(gate, [])
    is_sole = len(users) == 1 and users[0].place == products[0].place and gate not in graph.outputs
    return is_sole and sorted(products[0].inputs) == sorted((site.tensor, gate.tensor))
