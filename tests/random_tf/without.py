"""Trials without what a known difference hangs on, so that nothing of them may differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numlite.kernels.fallback.tensor_proto import array_of, proto_of
from numlite.schema.graph_def import GraphDef

from tests.random_tf.trial import Trial


def with_changed(trial: Trial, node: str, change: Callable[[np.ndarray], np.ndarray]) -> Trial:
    """The trial with other values of a node: an input in each run, or a constant of the graph."""
    if f"{node}:0" in trial.inputs:
        place = trial.inputs.index(f"{node}:0")
        runs = [(*run[:place], change(run[place]), *run[place + 1 :]) for run in trial.runs]
        return replace(trial, runs=tuple(runs))
    graph = GraphDef.FromString(trial.graph)
    [constant] = [found for found in graph.node if found.name == node]
    value = constant.attr["value"].tensor
    value.CopyFrom(proto_of(change(array_of(value))))
    return replace(trial, graph=graph.SerializeToString())


def _with_floats(trial: Trial, change: Callable[[np.ndarray], np.ndarray], kinds: str = "f") -> Trial:
    """The trial with other floats in each run; kinds are those of NumPy's types, V that of bfloat16."""
    runs = (tuple(change(x) if x.dtype.kind in kinds else x for x in arrays) for arrays in trial.runs)
    return replace(trial, runs=tuple(runs))


def within_few_bits(trial: Trial) -> Trial:
    """The trial with floats that every integer type holds."""
    return _with_floats(trial, _within, "fV")


def _within(x: np.ndarray) -> np.ndarray:
    return np.clip(np.nan_to_num(x.astype(np.float32)), 0, 100).astype(x.dtype)


def finite(trial: Trial) -> Trial:
    """The trial with no infinity and no NaN."""
    return _with_floats(trial, lambda x: np.nan_to_num(x, posinf=1, neginf=1))


def of_modest_size(trial: Trial) -> Trial:
    """The trial with floats of which powers are finite."""
    return _with_floats(trial, lambda x: np.clip(np.nan_to_num(x), -80, 80))


def aside(trial: Trial) -> Trial:
    """The trial with floats that are up to a hundredth larger, each by another part."""
    return _with_floats(
        trial, lambda x: (x * np.linspace(1.001, 1.01, x.size).reshape(x.shape)).astype(x.dtype)
    )


def zeros(trial: Trial) -> Trial:
    """The trial with ones for zeros."""
    return with_changed(trial, "in0", lambda x: np.where(x == 0, x.dtype.type(1), x))


def other_images(trial: Trial) -> Trial:
    """The trial with a batch of which all images are the first one."""
    return with_changed(trial, "in0", lambda x: np.repeat(x[:1], len(x), axis=0))


def invertible(trial: Trial) -> Trial:
    """The trial with matrices that have an inverse: their diagonals outweigh the rest."""
    return with_changed(trial, "in0", lambda x: x + (100 * np.eye(*x.shape[-2:])).astype(x.dtype))


def without_ties(trial: Trial) -> Trial:
    """The trial with scores of boxes of which no two are alike."""
    return with_changed(trial, "in1", _distinct)


def without_equal_classes(trial: Trial) -> Trial:
    """The trial with scores of classes that are numbers of which no two are alike."""
    return with_changed(trial, "in0", lambda x: _distinct(np.nan_to_num(x, posinf=1, neginf=1)))


def _distinct(x: np.ndarray) -> np.ndarray:
    return (x + np.arange(x.size).reshape(x.shape) * 1e-5).astype(x.dtype)


def without_repeats(trial: Trial) -> Trial:
    """The trial with indices of which no two are alike: runs that have such ones are left out."""
    runs = [run for run in trial.runs if _are_different(_rows(_value_of(trial, run, "in1")))]
    return replace(trial, runs=tuple(runs))


def _value_of(trial: Trial, run: tuple[np.ndarray, ...], node: str) -> np.ndarray:
    """What a node has in a run: an input's, or a constant's value."""
    if f"{node}:0" in trial.inputs:
        return run[trial.inputs.index(f"{node}:0")]
    [constant] = [found for found in GraphDef.FromString(trial.graph).node if found.name == node]
    return array_of(constant.attr["value"].tensor)


def _are_different(rows: np.ndarray) -> bool:
    return len(np.unique(rows, axis=0)) == len(rows)


def _rows(indices: np.ndarray) -> np.ndarray:
    return indices.reshape(-1, indices.shape[-1])


def of_classes(trial: Trial) -> Trial:
    """The trial with labels none of which is the blank, the last class; runs of one class are left out."""
    scores = [_value_of(trial, run, "in0") for run in trial.runs]
    runs = [run for run, x in zip(trial.runs, scores, strict=True) if x.ndim == 3 and x.shape[2] > 1]
    least = min((x.shape[2] for x in scores if x.ndim == 3 and x.shape[2] > 1), default=2)
    return with_changed(replace(trial, runs=tuple(runs)), "in2", lambda labels: labels % (least - 1))


def without_columns(trial: Trial) -> Trial:
    """The trial of those runs of which no operand is one wide."""
    runs = [run for run in trial.runs if not any(x.ndim > 1 and x.shape[-1] == 1 for x in run)]
    return replace(trial, runs=tuple(runs))


def of_different_boxes(trial: Trial) -> Trial:
    """The trial with scores of which no two are alike, of boxes that are numbers, each with an area.

    The overlap is not limited to just none.
    """
    changed = with_changed(without_ties(finite(trial)), "in0", _wide)
    return with_changed(changed, "in3", lambda x: np.where(x == 0, x.dtype.type(0.01), x))


def _wide(boxes: np.ndarray) -> np.ndarray:
    if boxes.shape[-1:] != (4,):
        return boxes
    low, high = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([low, np.where(low == high, high + boxes.dtype.type(0.5), high)], axis=-1)
