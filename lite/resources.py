"""Resources: what the subgraphs of one interpreter share by name, and keep across invokes."""

from __future__ import annotations

import numpy as np

from .available_memory import allocate
from .errors import InvokeError
from .tensor import Shape, Tensor

# The words of a variable that kernels read: address of the bytes, how many, whether they are a value.
DATA, NBYTES, ASSIGNED = range(3)


class Variable:
    """A resource variable.

    words is what kernels see of it. type and shape are those of its value, or of the value that it
    will get, None while unknown. It is loose when it may get values of several types or shapes, or
    of a type without a fixed size: then only Python reads and writes it.
    """

    __slots__ = ("loose", "memory", "shape", "type", "words")

    def __init__(self) -> None:
        self.type: int | None = None
        self.shape: Shape | None = None
        self.loose = False
        self.memory: np.ndarray | None = None
        self.words = np.zeros(3, np.int64)

    @property
    def address(self) -> int:
        return int(self.words.ctypes.data)

    @property
    def is_assigned(self) -> bool:
        return bool(self.words[ASSIGNED])

    def reserve(self, nbytes: int) -> None:
        """Have memory for a value of that size, which it does not have yet."""
        self.memory = allocate(nbytes)
        self.words[:] = self.memory.ctypes.data, nbytes, 0

    def assign(self, x: Tensor) -> None:
        """Take a copy of the tensor's value."""
        data = x.data
        if data is None and (x.nbytes or not x.has_fixed_size):
            raise InvokeError(f"tensor {x!r}: it is read, but nothing gives it a value")
        data = np.zeros(0, np.uint8) if data is None else data
        if x.has_fixed_size:
            data = x.dense_bytes()
        if data.dtype == object:
            # A variant's object, which kernels cannot see.
            self.memory = data.copy()
        else:
            if self.memory is None or self.memory.dtype == object or len(self.memory) != len(data):
                self.reserve(len(data))
            assert self.memory is not None
            self.memory[:] = data
        self.words[ASSIGNED] = 1
        self.type, self.shape = x.type, x.shape


class Resources:
    """Resources by number, and the numbers by (container, shared name).

    generation counts how often a variable has become loose: nodes that were prepared before must
    be prepared anew.
    """

    __slots__ = ("_numbers", "_once", "generation", "tables", "variables")

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._once: dict[int, np.ndarray] = {}
        self.variables: dict[int, Variable] = {}
        self.tables: dict[int, object] = {}
        self.generation = 0

    def number(self, kind: str, container: str, name: str) -> int:
        """The number of a resource; names are the same one wherever they appear, within a kind."""
        return self._numbers.setdefault((kind, container, name), len(self._numbers))

    def loosen(self, variable: Variable) -> None:
        if not variable.loose:
            variable.loose = True
            self.generation += 1

    def settle(self, variable: Variable, type: int, shape: Shape) -> None:
        """Say what type and shape the variable will have; it becomes loose when it has other ones."""
        if variable.type is None:
            variable.type, variable.shape = type, shape
        elif (variable.type, variable.shape) != (type, shape):
            self.loosen(variable)

    def once(self, subgraph: int) -> np.ndarray:
        """One word (int64): 1 when CALL_ONCE has run the subgraph."""
        return self._once.setdefault(subgraph, np.zeros(1, np.int64))


def handle_of(tensor: Tensor) -> int:
    """The number that a resource tensor holds; InvokeError when it holds none."""
    if tensor.data is None or len(tensor.data) != 4:
        raise InvokeError(f"tensor {tensor!r}: it must hold a resource, and nothing gave it one")
    return int(tensor.data.view(np.int32)[0])


def handle_bytes(number: int) -> np.ndarray:
    """The bytes of a resource tensor."""
    return np.array([number], np.int32).view(np.uint8)
