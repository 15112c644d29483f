"""What a page shows, as plain data: models, their graphs, what was measured, and where two of them differ.

All text that comes from files is already as people may see it (`schema/shown.py`); numbers of boxes, nodes
and tensors are places in their lists.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...model_comparison import ModelComparison


@dataclass(frozen=True)
class Histogram:
    """How often values lie in equal parts of low to high, of all that are finite."""

    low: float
    high: float
    counts: list[int]
    mean: float
    deviation: float
    zeros: float  # the share that is 0
    others: int = 0  # infinities and NaNs


@dataclass(frozen=True)
class Scales:
    """A quantized tensor: how many scales along which axis, and the reals that its type can stand for."""

    count: int
    axis: int
    scale: list[float]  # the smallest and the largest
    zero_point: list[int]
    range: list[float]


@dataclass
class Tensor:
    name: str
    type: str
    shape: str
    bytes: int | None = None
    constant: bool = False
    value: str = ""  # of few elements
    scales: Scales | None = None
    histogram: Histogram | None = None


@dataclass
class Node:
    """An operator; inputs and outputs are tensors (-1: none), calls the graphs that it runs, by role."""

    op: str
    name: str
    inputs: list[int]
    outputs: list[int]
    details: list[tuple[str, str]] = field(default_factory=list)
    calls: list[tuple[str, int]] = field(default_factory=list)
    is_input: bool = False
    # Of TensorFlow's nodes: numbers of the nodes that it waits for.
    waits: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Box:
    """What is drawn: a node, or a tensor that goes in or comes out. lines stand under the title."""

    title: str
    lines: list[str]
    node: int = -1
    tensor: int = -1


@dataclass(frozen=True)
class Line:
    """A tensor on its way between boxes (-1: only order). One that is far is named at its end, not drawn."""

    start: int
    end: int
    tensor: int
    far: bool


@dataclass
class Level:
    """What is drawn of a name scope, or of a graph whose scopes are folded.

    boxes are the graph's, or -1 - n for level n, which is folded here; lines and blocks have places in boxes.
    entering are values from outside: the place that takes one, the tensor (-1: only order), and its box.
    """

    name: str  # the whole path
    title: str  # its end
    parent: int
    operators: int  # also in the levels inside
    boxes: list[int] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    blocks: list[list[int]] = field(default_factory=list)
    entering: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass
class Graph:
    """levels: the graph with its name scopes folded, then these; none where names have no scopes.

    blocks are boxes that are laid out for themselves, each with the last of the one before."""

    name: str
    nodes: list[Node]
    tensors: list[Tensor]
    inputs: list[int]
    outputs: list[int]
    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    blocks: list[list[int]] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)


def shortened(text: str, most: int = 34) -> str:
    """The text; of a long one the start and the end."""
    return text if len(text) <= most else f"{text[: most // 2 - 1]}…{text[-most // 2 + 1 :]}"


@dataclass
class OperatorTime:
    """graph, node: whose time it is; median of several runs. Rates are None where the work is not known."""

    node: int
    op: str
    median_ns: float
    macs: int | None
    bytes: int
    gflops: float | None


@dataclass
class Place:
    """Bytes of a tensor in the arena, between two steps (both included)."""

    tensor: int
    offset: int
    bytes: int
    first: int
    last: int


@dataclass
class Arena:
    """steps are the operators in the order in which they run: a node, or -1 for one of a delegate's."""

    bytes: int
    lower_bound: int
    places: list[Place]
    steps: list[int]
    used: list[int]  # bytes in use at each step


@dataclass
class Measured:
    """What runs of a model's main graph told. partitions are nodes that a delegate took, seen by tensor."""

    graph: int
    times: list[OperatorTime]
    latency_ns: float
    arena: Arena | None
    summary: list[tuple[str, str]]
    delegate: str = ""
    partitions: list[list[int]] = field(default_factory=list)
    left_out: list[tuple[int, str]] = field(default_factory=list)
    seen: list[tuple[int, float, float]] = field(default_factory=list)


@dataclass
class Side:
    """A file. notes say what could not be shown, and why."""

    label: str
    kind: str
    facts: list[tuple[str, str]]
    graphs: list[Graph]
    measured: Measured | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Difference:
    """How a result of a node of the first model differs from its counterpart's. db is None for equal ones."""

    node: int
    tensor: int
    other_node: int
    other_tensor: int
    db: float | None
    largest: float
    of: float


@dataclass
class Comparison:
    first: str
    second: str
    limit_db: float
    differences: list[Difference]
    unmatched: int


def comparison_of(found: ModelComparison, first: str, second: str, limit_db: float) -> Comparison:
    """The results of operators in the first model's order."""
    differences = [
        Difference(
            pair.node,
            pair.tensor,
            pair.other_node,
            pair.other_tensor,
            None if pair.equal else pair.sqnr_db,
            pair.largest_difference,
            pair.largest_value,
        )
        for pair in found.tensors
    ]
    return Comparison(first, second, limit_db, differences, len(found.unmatched))


@dataclass
class Document:
    title: str
    made_by: str
    sides: list[Side]
    comparison: Comparison | None = None
