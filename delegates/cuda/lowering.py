"""Lowering: from operators to launches, for one set of shapes. What the op families are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.tensor import NUMPY_DTYPES, Tensor, TensorType
from .halves import calls_of
from .launch import (
    ELEMENT_BYTES,
    MOST_ELEMENTS,
    Argument,
    Constant,
    Launch,
    Place,
    Pointer,
    element_type,
    make_launch,
)
from .tiles import Choice, Product, choose

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from ...lite.node import Node
    from .fusion import Step
    from .shadow import ShadowGraph

PRECISIONS = ("tf32x3", "ieee", "tf32", "float16", "bfloat16")
_FLOAT_TYPES = {"float16": "fp16", "bfloat16": "bf16"}
_MOST_REPORTS = 1 << 30
# Along the axes of a grid. Source: the CUDA C++ guide, compute capabilities.
_MOST_PROGRAMS = ((1 << 31) - 1, 65535, 65535)
BLOCK = 1024  # elements of an elementwise program


@dataclass(frozen=True)
class Weights:
    """Constants in the form that a kernel reads; made when they are first needed."""

    make: Callable[[], np.ndarray]
    type: str


class Question(NamedTuple):
    """A product whose configuration was chosen: the key is the node's number, and which of its products."""

    key: tuple[int, int]
    product: Product
    step: Step


@dataclass
class Lowering:
    """Collects the launches of a partition.

    precision is how float32 operators compute: the matrix products of float32 tensors by "tf32x3",
    "ieee" or "tf32", or everything in "float16" or "bfloat16" storage. simulated is for kernels that
    the interpreter must run another way. choices answer questions otherwise than by estimate.
    """

    graph: ShadowGraph
    inputs: Sequence[int]
    outputs: Sequence[int]
    precision: str = "tf32x3"
    arch: int = 90
    simulated: bool = False
    batch: tuple[int, int] = (0, 0)
    launches: list[Launch] = field(default_factory=list)
    weights_of: dict[tuple[int, str], Weights] = field(default_factory=dict)
    tables: list[Weights] = field(default_factory=list)
    scratch_bytes: list[int] = field(default_factory=list)
    owners: dict[int, int] = field(default_factory=dict)
    reports: list[str] = field(default_factory=list)
    status: Pointer | None = None
    choices: Mapping[tuple[int, int], Choice] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    step: Step | None = None
    takes_halves: bool = False
    label: str = ""
    node: int = -1

    @property
    def float_type(self) -> str:
        """What float32 tensors are held in inside the partition."""
        return _FLOAT_TYPES.get(self.precision, "fp32")

    @property
    def is_half(self) -> bool:
        return self.float_type != "fp32"

    def type_of(self, tensor: Tensor) -> str:
        """The elements of a tensor on the device. UnsupportedError for types that it does not have."""
        if tensor.type == TensorType.FLOAT32:
            return self.float_type
        if tensor.type == TensorType.BFLOAT16:
            return "bf16"
        dtype = NUMPY_DTYPES.get(tensor.type)
        if dtype is None or dtype.kind == "c" or dtype.name in ("uint32", "uint64"):
            raise UnsupportedError(f"tensors of {tensor.type_name} are not built")
        return element_type(dtype)

    def nbytes_of(self, t: int) -> int:
        """Bytes of a tensor on the device."""
        tensor = self.graph.tensor(t)
        return tensor.size * ELEMENT_BYTES[self.type_of(tensor)]

    # --- operands

    def pointer(self, tensor: Tensor) -> Pointer:
        """Where a tensor lies, a constant one among the weights; a widened one is where the stored one is."""
        if tensor.index >= 0:
            tensor = self.graph.tensor(tensor.index)
        if tensor.size >= MOST_ELEMENTS:
            raise UnsupportedError(
                f"tensor {tensor!r}: it must have less than 2**31 elements; a smaller batch would run"
            )
        type_ = self.type_of(tensor)
        if not tensor.is_constant:
            return Pointer(Place("tensor", self.owner(tensor.index)), type_)
        key = (tensor.index, "")
        self.weights_of.setdefault(key, Weights(lambda: self.held(tensor), type_))
        return Pointer(Place("weights", key), type_)

    def held(self, tensor: Tensor) -> np.ndarray:
        """A constant as it is held on the device."""
        if tensor.type != TensorType.BFLOAT16:
            return self.stored(tensor.array())
        assert tensor.data is not None
        return tensor.data[: tensor.nbytes].view(np.uint16)

    def stored(self, array: np.ndarray, type_: str = "") -> np.ndarray:
        """A constant's values: float32 in a type, or in float_type (bfloat16 as its bits)."""
        type_ = type_ or self.float_type
        if array.dtype != np.float32 or type_ == "fp32":
            return array
        if type_ == "fp16":
            with np.errstate(over="ignore"):
                return array.astype(np.float16)
        return bfloat16_bits(array)

    def weights(self, node: Node, name: str, make: Callable[[], np.ndarray], type_: str) -> Pointer:
        """What make gives, packed once for all shapes; the name must tell a node's apart."""
        key = (node.index, name)
        self.weights_of.setdefault(key, Weights(make, type_))
        return Pointer(Place("weights", key), type_)

    def table(self, make: Callable[[], np.ndarray], type_: str) -> Pointer:
        """A constant that depends on the shapes; made when the launches are going to run."""
        self.tables.append(Weights(make, type_))
        return Pointer(Place("table", len(self.tables) - 1), type_)

    def scratch(self, type_: str, count: int) -> Pointer:
        """Memory for launches of this operator."""
        self.scratch_bytes.append(count * ELEMENT_BYTES[type_])
        return Pointer(Place("scratch", len(self.scratch_bytes) - 1), type_)

    def alias(self, y: Tensor, x: Tensor) -> None:
        """Have y be x's bytes, where the border of the partition allows it, or else a copy of them."""
        if y.size == 0:
            return
        kept = {*self.inputs, *self.outputs}
        if x.is_constant or y.index in kept:
            self.convert(self.pointer(x), self.pointer(y), x.size)
        else:
            self.owners[y.index] = self.owner(x.index)

    def owner(self, t: int) -> int:
        """The tensor whose memory a tensor is in."""
        return self.owners.get(t, t)

    # --- what fails while running

    def report(self, node: Node, fault: str) -> dict[str, Argument]:
        """Arguments for a launch that may meet a fault (given in words): where it says so, and its number.

        The word starts at 0 and takes the largest number; those of earlier launches are larger.
        """
        if self.status is None:
            self.status = self.table(lambda: np.zeros(1, np.int32), "i32")
        name = node.registration.name
        text = fault if fault.startswith(name) else f"{name}: {fault}"
        self.reports.append(f"{text} (node {node.index}, output {self.graph.output(node, 0).name!r})")
        return {"status_ptr": self.status, "report": _MOST_REPORTS - len(self.reports)}

    def reported(self, number: int) -> str:
        """The words of a report."""
        return self.reports[_MOST_REPORTS - 1 - number]

    # --- the border

    def border_place(self, t: int) -> Place:
        """Where a tensor lies as others see it: inside the partition floats may have 16 bits."""
        tensor = self.graph.tensor(t)
        halved = self.is_half and tensor.type == TensorType.FLOAT32
        return Place("border", t) if halved else Place("tensor", self.owner(t))

    def place_bytes(self, place: Place) -> int:
        """Bytes that a place takes."""
        assert isinstance(place.key, int)
        if place.kind == "scratch":
            return self.scratch_bytes[place.key]
        return self.graph.tensor(place.key).nbytes if place.kind == "border" else self.nbytes_of(place.key)

    def enter(self) -> None:
        """Convert the inputs that are held in another type inside."""
        self._convert_border(self.inputs, inwards=True)

    def leave(self) -> None:
        """Convert the outputs back."""
        self._convert_border(self.outputs, inwards=False)

    def _convert_border(self, tensors: Sequence[int], inwards: bool) -> None:
        self.label, self.node = "CAST", -1
        for t in tensors:
            place, tensor = self.border_place(t), self.graph.tensor(t)
            if place.kind == "border" and tensor.size:
                outer, inner = Pointer(place, "fp32"), self.pointer(tensor)
                self.convert(*((outer, inner) if inwards else (inner, outer)), tensor.size)

    # --- launches

    def calls(self, node: Node) -> Sequence[KernelCall]:
        """What the CPU's prepare makes of the node: kernels by name, with their argument blocks.

        Outputs get their shapes. UnsupportedError for what the CPU runs in Python.
        """
        return calls_of(self.graph, node, self.takes_halves)

    def launch(
        self,
        source: str,
        function: str,
        grid: tuple[int, ...],
        args: Mapping[str, Argument],
        constants: Mapping[str, Constant],
        *,
        divisible: tuple[str, ...] = (),
        warps: int = 4,
        stages: int = 3,
    ) -> None:
        """Add a launch (see make_launch); nothing for an empty grid, UnsupportedError for too large a one."""
        if 0 in grid:
            return
        if any(size > most for size, most in zip(grid, _MOST_PROGRAMS, strict=False)):
            raise UnsupportedError(
                f"{self.label}: a launch must have up to {_MOST_PROGRAMS} programs, got {grid}; "
                "a smaller batch may run"
            )
        self.launches.append(
            make_launch(
                source,
                function,
                grid,
                args,
                constants,
                divisible=divisible,
                warps=warps,
                stages=stages,
                label=self.label,
                node=self.node,
            )
        )

    def product_type(self, x: Tensor, w: Tensor) -> str:
        """What elements of float tensors are multiplied as: both as they are held, or else in float32."""
        types = {self.type_of(self.graph.tensor(tensor.index)) for tensor in (x, w)}
        return types.pop() if len(types) == 1 else "fp32"

    def dot_precision(self, element: str) -> str:
        """How tensor cores multiply such floats; 16 bits lose nothing in tf32."""
        return self.precision if element == "fp32" and not self.is_half else "tf32"

    def choose(self, product: Product) -> Choice:
        """The configuration for a product of the operator that is lowered."""
        assert self.step is not None
        number = sum(question.key[0] == self.node for question in self.questions)
        question = Question((self.node, number), product, self.step)
        self.questions.append(question)
        found = self.choices.get(question.key)
        return found or choose(product._replace(rows=self.chosen_by(product.rows)))

    def chosen_by(self, rows: int) -> int:
        """What a kernel is chosen by in the place of rows: as many as in the batch that stands for this."""
        batch, other = self.batch
        return rows // batch * other if batch and rows % batch == 0 else rows

    def convert(self, x: Pointer, y: Pointer, size: int) -> None:
        """Copy elements, from one float type to another where they differ."""
        args: dict[str, Argument] = {"x_ptr": x, "y_ptr": y, "size": size}
        self.launch(
            "activations", "convert", (-(-size // BLOCK),), args, {"BLOCK": BLOCK}, divisible=("size",)
        )

    def begin(self, step: Step, takes_halves: bool) -> None:
        """What is added next is of this step, whose family may take stored float16 and bfloat16 tensors."""
        self.label, self.node, self.step = step.node.registration.name, step.node.index, step
        self.takes_halves = takes_halves


def bfloat16_bits(array: np.ndarray) -> np.ndarray:
    """float32 as bfloat16, nearest even: its bits, uint16."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(array), quiet, rounded).astype(np.uint16)
