"""Ensembles of decision trees: all trees go down a level at a time, as many levels as the deepest has."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ...lite.errors import ModelError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building.tensor import Tensor
from .call import Call, Rule
from .labels import classified, transformed

_COMPARISONS = {
    "BRANCH_LEQ": "LessEqual",
    "BRANCH_LT": "Less",
    "BRANCH_GTE": "GreaterEqual",
    "BRANCH_GT": "Greater",
    "BRANCH_EQ": "Equal",
    "BRANCH_NEQ": "NotEqual",
}
_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
_MEMBER = "BRANCH_MEMBER"


@dataclass(frozen=True)
class Forest:
    """Nodes of all trees one after another; a leaf leads to itself. weights are [nodes, targets].

    modes are how each node compares; members are the numbers of those that ask for one of several,
    [nodes, most], filled up with NaN.
    """

    features: np.ndarray
    values: np.ndarray
    yes: np.ndarray
    no: np.ndarray
    missing: np.ndarray
    modes: np.ndarray
    roots: np.ndarray
    weights: np.ndarray
    members: np.ndarray

    def depth(self) -> int:
        """How many steps lead from a root to the farthest leaf; ModelError for nodes in a circle."""
        here, steps, seen = self.roots, 0, set(self.roots.tolist())
        while np.any((self.yes[here] != here) | (self.no[here] != here)):
            here, steps = np.unique(np.concatenate([self.yes[here], self.no[here]])), steps + 1
            seen.update(here.tolist())
            if steps > len(self.yes):
                break
        if steps > len(self.yes) or len(seen) < len(self.yes):
            raise ModelError("trees must have one root each and no circles")
        return steps


def _forest(c: Call, kind: str, targets: int) -> Forest:
    """Of the attributes of opsets 1 and 3: kind is "target" or "class"."""
    trees, ids = c.integers("nodes_treeids"), c.integers("nodes_nodeids")
    places = {pair: place for place, pair in enumerate(zip(trees, ids, strict=True))}
    count = len(places)
    modes = [mode.decode(errors="replace") for mode in c.texts("nodes_modes")]
    features, values = c.integers("nodes_featureids"), _numbers(c, "nodes_values")
    ends = [c.integers(f"nodes_{side}nodeids") for side in ("true", "false")]
    missing = c.integers("nodes_missing_value_tracks_true", []) or [0] * count
    lists: list[Sized] = [trees, features, modes, values, *ends, missing]
    if any(len(each) != count for each in lists) or count == 0:
        raise ModelError(f"nodes must be named once and have one of each attribute, got {count}")
    leaf = np.array([mode == "LEAF" for mode in modes])
    yes, no = (_led_to(places, trees, side, leaf) for side in ends)
    weights = np.zeros((count, targets), np.float32)
    columns = [c.integers(f"{kind}_{name}") for name in ("treeids", "nodeids", "ids")]
    for tree, at, target, weight in zip(*columns, _numbers(c, f"{kind}_weights"), strict=True):
        if not 0 <= target < targets or (tree, at) not in places:
            raise ModelError(f"{kind}_ids must be of nodes and in [0, {targets}), got {target} of {at}")
        weights[places[tree, at], target] += weight
    # A tree's root is the node that none leads to.
    led = set(np.concatenate([yes[~leaf], no[~leaf]]).tolist())
    roots = [place for place in range(count) if place not in led]
    if sorted(trees[place] for place in roots) != sorted(set(trees)):
        raise ModelError("trees must have one root each and no circles")
    return Forest(
        np.where(leaf, 0, features),
        np.asarray(values, np.float32),
        yes,
        no,
        np.array(missing, bool),
        _known_modes(modes, leaf),
        np.array(roots),
        weights,
        np.zeros((count, 0), np.float32),
    )


def _numbers(c: Call, name: str) -> np.ndarray:
    """Reals of an attribute, which may be a tensor of doubles."""
    return c.array(f"{name}_as_tensor") if c.has(f"{name}_as_tensor") else np.array(c.reals(name), np.float32)


def _led_to(
    places: dict[tuple[int, int], int], trees: list[int], ids: list[int], leaf: np.ndarray
) -> np.ndarray:
    """Where each node leads; a leaf to itself."""
    try:
        rows = enumerate(zip(trees, ids, strict=True))
        return np.array([place if leaf[place] else places[pair] for place, pair in rows])
    except KeyError as error:
        raise ModelError(f"nodes must lead to nodes of their tree, got {error}") from error


def _known_modes(modes: list[str], leaf: np.ndarray) -> np.ndarray:
    """The modes, of a leaf "": it leads to itself whatever it compares."""
    found = np.where(leaf, "", modes)
    unknown = sorted(set(found.tolist()) - {"", _MEMBER, *_COMPARISONS})
    if unknown:
        raise ModelError(
            f"nodes must be of modes {', '.join((*_COMPARISONS, _MEMBER))}, got {', '.join(unknown)}"
        )
    return found


def _members(numbers: np.ndarray, modes: Sequence[str]) -> np.ndarray:
    """The sets of the nodes that have one: one after another, each ended by NaN."""
    ends = np.flatnonzero(np.isnan(numbers))
    sets = np.split(numbers, ends + 1)[: len(ends)]
    at = [place for place, mode in enumerate(modes) if mode == _MEMBER]
    if len(sets) != len(at):
        raise ModelError(f"membership_values must have a set for each of {len(at)} nodes, got {len(sets)}")
    found = np.full((len(modes), max(map(len, sets), default=1) - 1), np.nan, np.float32)
    for place, numbers in zip(at, sets, strict=True):
        found[place, : len(numbers) - 1] = numbers[:-1]
    return found


def _leaves(c: Call, x: Tensor, forest: Forest) -> Tensor:
    """The leaf [n, trees] that each row comes to in each tree."""
    body, rows = c.body, c.body.sizes_of(x)[0]
    trees = len(forest.roots)
    roots = body.constant(forest.roots.astype(np.int32)[None])
    at = c.make("BroadcastTo", roots, body.vector([rows, trees]))
    zero, one = body.scalar(0, DT_INT32), body.scalar(1, DT_INT32)

    def of_node(values: np.ndarray) -> Tensor:
        return c.make("GatherV2", body.constant(values), at, zero)

    for _ in range(forest.depth()):
        value = c.make("GatherV2", x, of_node(forest.features.astype(np.int32)), one, batch_dims=1)
        goes = _compared(c, forest, value, of_node)
        if forest.missing.any():
            lost = c.make("LogicalAnd", value.apply("IsNan"), of_node(forest.missing))
            goes = c.make("LogicalOr", goes, lost)
        at = goes.choose(of_node(forest.yes.astype(np.int32)), of_node(forest.no.astype(np.int32)))
    return at


def _compared(c: Call, forest: Forest, value: Tensor, of_node: Callable[[np.ndarray], Tensor]) -> Tensor:
    """Whether each value leads to yes, by the comparison of its node."""
    modes = sorted(set(forest.modes.tolist()) - {""}) or ["BRANCH_LEQ"]
    found = []
    for mode in modes:
        if mode == _MEMBER:
            each = c.make("ExpandDims", value, c.body.scalar(-1, DT_INT32))
            same = c.make("Equal", each, of_node(forest.members))
            goes = c.make("Any", same, c.body.integers([2]), keep_dims=False)
        else:
            goes = c.make(_COMPARISONS[mode], value, of_node(forest.values))
        if len(modes) > 1:
            goes = c.make("LogicalAnd", goes, of_node(forest.modes == mode))
        found.append(goes)
    return reduce(lambda one, other: c.make("LogicalOr", one, other), found)


def _scores(c: Call, forest: Forest, how: str) -> Tensor:
    """What the leaves give, [n, targets], over all trees."""
    x = c.body.cast(c.input(0), DT_FLOAT)
    if x.rank == 1:
        x = c.make("ExpandDims", x, c.body.scalar(0, DT_INT32))
    given = c.make(
        "GatherV2", c.body.constant(forest.weights), _leaves(c, x, forest), c.body.scalar(0, DT_INT32)
    )
    op = {"SUM": "Sum", "AVERAGE": "Mean", "MIN": "Min", "MAX": "Max"}.get(how)
    if op is None:
        raise ModelError(f"aggregate_function must be SUM, AVERAGE, MIN or MAX, got {how!r}")
    return c.make(op, given, c.body.integers([1]), keep_dims=False)


def tree_regressor(c: Call) -> Tensor:
    """Sums, means or extremes of the leaves' weights, and the base values."""
    targets = c.integer("n_targets", 1)
    y = _scores(c, _forest(c, "target", targets), c.text("aggregate_function", "SUM"))
    return transformed(c, _with_base(c, y), c.text("post_transform", "NONE"))


def _with_base(c: Call, y: Tensor) -> Tensor:
    base = (
        c.array("base_values_as_tensor")
        if c.has("base_values_as_tensor")
        else np.array(c.reals("base_values", []))
    )
    return y + c.body.constant(base.astype(np.float32)) if base.size else y


def tree_classifier(c: Call) -> list[Tensor]:
    """Labels and scores."""
    labels = len(c.integers("classlabels_int64s", [])) or len(c.texts("classlabels_strings", []))
    used = sorted(set(c.integers("class_ids")))
    one_sided = labels == 2 and len(used) == 1
    forest = _forest(c, "class", max(labels, 1))
    if one_sided:
        forest = Forest(**{**forest.__dict__, "weights": forest.weights[:, used]})
    scores = _scores(c, forest, "SUM")
    if one_sided and c.has("base_values") and len(c.reals("base_values")) == 2:
        scores = scores + c.body.constant(np.array(c.reals("base_values")[1:], np.float32))
    else:
        scores = _with_base(c, scores)
    positive = bool((forest.weights >= 0).all())
    return classified(c, scores, one_sided, positive)


def tree_ensemble(c: Call) -> Tensor:
    """The form of opset 5: inner nodes and leaves apart."""
    features, modes = c.integers("nodes_featureids"), c.array("nodes_modes").reshape(-1)
    splits, count = c.array("nodes_splits").reshape(-1), len(features)
    leaf_targets, leaf_weights = c.integers("leaf_targetids"), c.array("leaf_weights").reshape(-1)
    leaves, targets = len(leaf_targets), c.integer("n_targets", 1)
    ends = []
    for side in ("true", "false"):
        to, is_leaf = c.integers(f"nodes_{side}nodeids"), c.integers(f"nodes_{side}leafs")
        ends.append([count + place if at else place for place, at in zip(to, is_leaf, strict=True)])
    whole = count + leaves
    own = list(range(count, whole))
    yes, no = (np.array([*side, *own]) for side in ends)
    roots = np.array(c.integers("tree_roots"))
    lists = (splits, modes, ends[0], ends[1])
    if any(len(each) != count for each in lists) or np.any(
        (yes >= whole) | (no >= whole) | (yes < 0) | (no < 0)
    ):
        raise ModelError("nodes must have one of each attribute and lead to nodes or leaves that there are")
    if not all(0 <= target < targets for target in leaf_targets):
        raise ModelError(f"targets must be in [0, {targets})")
    weights = np.zeros((whole, targets), np.float32)
    weights[own, leaf_targets] = leaf_weights
    names = [_MODES[mode] if mode < len(_MODES) else "?" for mode in modes.tolist()]
    missing = np.array([*c.integers("nodes_missing_value_tracks_true", [0] * count), *[0] * leaves], bool)
    sets = c.array("membership_values").reshape(-1) if c.has("membership_values") else np.zeros(0)
    members = _members(sets.astype(np.float32), names)
    forest = Forest(
        np.array([*features, *[0] * leaves]),
        np.array([*splits, *[0] * leaves], np.float32),
        yes,
        no,
        missing,
        np.array([*_known_modes(names, np.zeros(count, bool)), *[""] * leaves]),
        roots,
        weights,
        np.concatenate([members, np.full((leaves, members.shape[1]), np.nan, np.float32)]),
    )
    how = ("AVERAGE", "SUM", "MIN", "MAX")[c.integer("aggregate_function", 1)]
    post = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")[c.integer("post_transform", 0)]
    return transformed(c, _scores(c, forest, how), post)


REGISTRATIONS: dict[str, Rule] = {
    "ai.onnx.ml.TreeEnsemble": tree_ensemble,
    "ai.onnx.ml.TreeEnsembleClassifier": tree_classifier,
    "ai.onnx.ml.TreeEnsembleRegressor": tree_regressor,
}
