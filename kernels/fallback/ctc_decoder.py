"""CTCGreedyDecoder and CTCBeamSearchDecoder: labels of sequences of class scores."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from ...schema import graph_def
from .registry import kernel
from .status import InvalidArgumentError

_TYPES = frozenset((graph_def.DT_FLOAT, graph_def.DT_DOUBLE))
_NEVER = -np.inf
Sparse = tuple[np.ndarray, np.ndarray, np.ndarray]


def check_sequences(op: str, inputs: np.ndarray, lengths: np.ndarray) -> None:
    """InvalidArgumentError unless inputs are [time, batch, classes] with a length for each sequence."""
    if inputs.ndim != 3 or lengths.shape != inputs.shape[1:2] or not inputs.shape[2]:
        message = "inputs must be [time, batch, classes] and sequence_length [batch]"
        raise InvalidArgumentError(f"{op}: {message}, got {list(inputs.shape)} and {list(lengths.shape)}")
    if np.any((lengths < 0) | (lengths > len(inputs))):
        message = f"sequence_length must be from 0 to {len(inputs)}"
        raise InvalidArgumentError(f"{op}: {message}, got {lengths.tolist()}")


def _sparse(sequences: Sequence[Sequence[int]]) -> Sparse:
    """Rows of labels as a sparse matrix: indices, values and shape, int64."""
    indices = [(row, column) for row, labels in enumerate(sequences) for column in range(len(labels))]
    values = [label for labels in sequences for label in labels]
    longest = max(map(len, sequences), default=0)
    shape = np.array([len(sequences), longest], np.int64)
    return np.array(indices, np.int64).reshape(-1, 2), np.array(values, np.int64), shape


def _merged(labels: Sequence[int]) -> list[int]:
    """Labels without those that repeat the one before."""
    return [label for place, label in enumerate(labels) if place == 0 or labels[place - 1] != label]


def ctc_greedy_decoder(
    inputs: np.ndarray, lengths: np.ndarray, *, merge_repeated: bool, blank_index: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The best class of each step, without blanks, as a sparse matrix [batch, longest].

    And the negative sum of the best scores [batch, 1]. A blank_index below 0 counts from the end.
    Source: TensorFlow tensorflow/core/kernels/ctc_decoder_ops.cc.
    """
    op = "CTCGreedyDecoder"
    check_sequences(op, inputs, lengths)
    classes = inputs.shape[2]
    blank = blank_index + classes if blank_index < 0 else blank_index
    if not 0 <= blank < classes:
        raise InvalidArgumentError(f"{op}: blank_index must be one of {classes}, got {blank_index}")
    # The first class stays where nothing is greater, what is no number is greater than nothing.
    best = np.where(np.isnan(inputs), -np.inf, inputs).argmax(axis=2)
    best[np.isnan(inputs[..., 0])] = 0
    scores = np.take_along_axis(inputs, best[..., np.newaxis], axis=2)[..., 0]
    sequences, sums = [], np.zeros((inputs.shape[1], 1), inputs.dtype)
    for row, length in enumerate(lengths):
        labels = best[:length, row].tolist()
        kept = _merged(labels) if merge_repeated else labels
        sequences.append([label for label in kept if label != blank])
        sums[row] = -scores[:length, row].sum(dtype=inputs.dtype)
    return (*_sparse(sequences), sums)


class _Beam:
    """A sequence of labels, with the logarithms of how likely it is to end in a blank and in a label.

    Entries of the tree of all sequences that were ever in the beam.
    """

    def __init__(self, parent: _Beam | None, label: int) -> None:
        self.parent = parent
        self.label = label
        self.children: dict[int, _Beam] = {}
        self.old = (_NEVER, _NEVER, _NEVER)
        # Total, blank and label.
        self.new = (_NEVER, _NEVER, _NEVER)

    def labels(self) -> list[int]:
        entry: _Beam = self
        found: list[int] = []
        while entry.parent is not None:
            found.append(entry.label)
            entry = entry.parent
        return found[::-1]


def _either(a: float, b: float) -> float:
    """log(exp(a) + exp(b))."""
    return float(np.logaddexp(a, b))


def _advance(beams: list[_Beam], scores: np.ndarray, width: int) -> list[_Beam]:
    """The beam after one more step with these log probabilities, the last class being blank.

    Source: TensorFlow tensorflow/core/util/ctc/ctc_beam_search.h, Step.
    """
    blank = len(scores) - 1
    for beam in beams:
        beam.old = beam.new
    for beam in beams:
        label, parent = beam.new[2], beam.parent
        if parent is not None:
            if parent.new[0] != _NEVER:
                label = _either(label, parent.old[1 if beam.label == parent.label else 0])
            label += scores[beam.label]
        ends = beam.old[0] + scores[blank]
        beam.new = (_either(ends, label), ends, label)
    # Of equals the one that came first stays.
    queue = [(beam.new[0], -place, beam) for place, beam in enumerate(beams)]
    order = -len(beams)
    heapq.heapify(queue)
    for beam in beams:
        if not _enters(beam.old[0], queue, width):
            continue
        for label in range(blank):
            child = beam.children.get(label)
            if child is not None and child.new[0] != _NEVER:
                continue
            chance = scores[label] + beam.old[1 if label == beam.label else 0]
            if not _enters(chance, queue, width):
                if child is not None:
                    # One that has left the beam at this step is not prolonged any more.
                    child.old = (_NEVER, _NEVER, _NEVER)
                continue
            if child is None:
                child = beam.children[label] = _Beam(beam, label)
            child.new = (chance, _NEVER, chance)
            heapq.heappush(queue, (chance, order, child))
            order -= 1
            if len(queue) > width:
                lost = heapq.heappop(queue)[2]
                lost.new = (_NEVER, _NEVER, _NEVER)
    return [beam for _, _, beam in sorted(queue, key=lambda held: (-held[0], -held[1]))]


def _enters(chance: float, queue: list[tuple[float, int, _Beam]], width: int) -> bool:
    return chance > _NEVER and (len(queue) < width or chance > queue[0][0])


def ctc_beam_search_decoder(
    inputs: np.ndarray, lengths: np.ndarray, *, beam_width: int, top_paths: int, merge_repeated: bool
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray], np.ndarray]:
    """The likeliest sequences, each path as a sparse matrix [batch, longest], and their log
    probabilities [batch, top_paths]. The last class is blank."""
    op = "CTCBeamSearchDecoder"
    check_sequences(op, inputs, lengths)
    if not 1 <= top_paths <= beam_width:
        message = f"top_paths must be from 1 to beam_width ({beam_width})"
        raise InvalidArgumentError(f"{op}: {message}, got {top_paths}")
    wide = inputs.astype(np.float64)
    highest = wide.max(axis=2, keepdims=True)
    logs = wide - (highest + np.log(np.exp(wide - highest).sum(axis=2, keepdims=True)))
    paths: list[list[list[int]]] = [[] for _ in range(top_paths)]
    chances = np.zeros((inputs.shape[1], top_paths), inputs.dtype)
    for row, length in enumerate(lengths):
        root = _Beam(None, -1)
        root.new = (0.0, 0.0, _NEVER)
        beams = [root]
        for step in range(int(length)):
            beams = _advance(beams, logs[step, row], beam_width)
        if len(beams) < top_paths:
            message = f"there must be {top_paths} paths, got {len(beams)} in sequence {row}"
            raise InvalidArgumentError(f"{op}: {message}")
        for path, beam in enumerate(beams[:top_paths]):
            labels = beam.labels()
            paths[path].append(_merged(labels) if merge_repeated else labels)
            chances[row, path] = beam.new[0]
    found = [_sparse(sequences) for sequences in paths]
    indices, values, shapes = ([sparse[part] for sparse in found] for part in range(3))
    return indices, values, shapes, chances


REGISTRATIONS = (
    kernel("CTCGreedyDecoder", ctc_greedy_decoder, T=_TYPES),
    kernel("CTCBeamSearchDecoder", ctc_beam_search_decoder, T=_TYPES),
)
