"""fewest_floats: the recipe that leaves so many operators float, and no more, that a goal is reached.

Given    a recipe with integer activations that comes to 27 dB, and the goal sqnr>=35
Result   the recipe, and rules that leave the 3 operators float which err most
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...lite.errors import ModelError
from ...lite.model import Model
from ...lite.operator_work import multiply_adds
from .calibrate import Sample, run_sample
from .float_runner import float_interpreter
from .recipe import Recipe, Rule
from .validation import Validation, validate
from .weight_rewrite import Outcome

# The model that a recipe makes, improved or not, and what became of its operators.
Maker = Callable[[Recipe, bool], tuple[Model, list[Outcome]]]
# So many are tried one by one, whether they could be integers after all.
_MOST_PRUNED = 16


class Step(NamedTuple):
    """A recipe that was tried: how many operators it leaves float, its model's bytes, and what it reaches."""

    floats: int
    nbytes: int
    validation: Validation
    reaches: bool


class Chosen(NamedTuple):
    """The recipe, the scopes that it leaves float, and all that was tried on the way.

    work is the share of the model's multiply-adds that these operators do.
    """

    recipe: Recipe
    floats: list[str]
    steps: list[Step]
    work: float


def fewest_floats(source: Model, recipe: Recipe, make: Maker, samples: Sequence[Sample], goal: str) -> Chosen:
    """A recipe whose model reaches the goal (see Validation.reaches) on samples of the float model.

    Operators are ranked by the error that each one makes alone; the fewest of the worst ones stay float. Of
    these, those that turn out not to be needed become integers again: the ones with most multiply-adds are
    tried first. Raises ModelError where even the float model does not reach the goal, or there is no sample.
    """
    search = _Search(source, recipe, make, samples, goal)
    if search.reaches([]):
        return search.chosen([])
    worst = search.ranked()
    if not search.reaches(worst):
        raise ModelError(f"auto: {goal} must be within reach, got less with all {len(worst)} operators float")
    few, many = 0, len(worst)
    while many - few > 1:
        middle = (few + many) // 2
        if search.reaches(worst[:middle]):
            many = middle
        else:
            few = middle
    return search.chosen(search.pruned(worst[:many]))


class _Search:
    """Recipes that leave some operators float, each tried once."""

    def __init__(
        self, source: Model, recipe: Recipe, make: Maker, samples: Sequence[Sample], goal: str
    ) -> None:
        self._source, self._recipe, self._make = source, recipe, make
        self._samples, self._goal = samples, goal
        self._tried: dict[frozenset[str], Step] = {}
        _, outcomes = make(recipe, False)
        self._scopes = [o.scope for o in outcomes if o.scheme is not None and o.scheme.activation_bits]
        self._work = _work(source, samples[0])

    def reaches(self, floats: Sequence[str]) -> bool:
        key = frozenset(floats)
        if key not in self._tried:
            made, _ = self._make(self._with(floats), True)
            found = validate(self._source, made, self._samples)
            self._tried[key] = Step(len(key), made.nbytes, found, found.reaches(self._goal))
        return self._tried[key].reaches

    def ranked(self) -> list[str]:
        """The operators by the error that the outputs have when one alone is of integers, the worst first."""
        errors = {}
        for scope in self._scopes:
            others = [other for other in self._scopes if other != scope]
            made, _ = self._make(self._with(others), False)
            found = validate(self._source, made, self._samples)
            errors[scope] = found.worst_db
        return sorted(self._scopes, key=lambda scope: errors[scope])

    def pruned(self, floats: list[str]) -> list[str]:
        """Without those that are not needed; the last of them is."""
        kept = list(floats)
        by_work = sorted(reversed(floats[:-1]), key=lambda scope: -self._work.get(scope, 0))
        for scope in by_work[:_MOST_PRUNED]:
            fewer = [other for other in kept if other != scope]
            if self.reaches(fewer):
                kept = fewer
        return kept

    def chosen(self, floats: list[str]) -> Chosen:
        steps = sorted(self._tried.values(), key=lambda step: step.floats)
        total = sum(self._work.values())
        share = sum(self._work.get(scope, 0) for scope in floats) / total if total else 0.0
        return Chosen(self._with(floats), floats, steps, share)

    def _with(self, floats: Sequence[str]) -> Recipe:
        """The recipe, with rules behind it."""
        rules = [Rule(f"^{re.escape(scope)}$", scheme=None) for scope in floats]
        return Recipe([*self._recipe.rules, *rules])


def _work(model: Model, sample: Sample) -> dict[str, int]:
    """The multiply-adds of operators at the shapes of a sample, by their results' names."""
    interpreter = float_interpreter(model)
    run_sample(interpreter, sample, "sample 0")
    found = defaultdict[str, int](int)
    for graph in interpreter.subgraphs:
        for node in graph.nodes:
            scope = ";".join(graph.tensors[t].name for t in node.outputs if t >= 0)
            found[scope] += multiply_adds(node, graph.tensor) or 0
    return dict(found)
