"""fewest_floats: the fewest operators of 16 bits, or float, with which a recipe reaches a goal.

Given    a recipe with activations of 8 bits that comes to 27 dB, and the goal sqnr>=35
Result   the recipe, and rules for the 3 operators which err most: 2 have 16 bits, 1 stays float
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ...lite.errors import ModelError
from ...lite.model import Model
from ...lite.operator_work import multiply_adds
from ..model_runner import model_interpreter
from .calibrate import Sample, run_sample
from .recipe import Recipe, Rule
from .scheme import Scheme
from .validation import Validation, validate
from .weight_rewrite import Outcome

# The model that a recipe makes, and what became of its operators: improved for itself, or by what has
# improved the model that the first recipe makes.
Maker = Callable[[Recipe, bool], tuple[Model, list[Outcome]]]
# So many are tried one by one, whether they could be of 8 bits after all, or of 16 instead of float.
_MOST_PRUNED = 16


class Step(NamedTuple):
    """A recipe that was tried: how many operators it leaves float and gives 16 bits, its model's bytes, and
    what it reaches."""

    floats: int
    wide: int
    nbytes: int
    validation: Validation
    reaches: bool


class Chosen(NamedTuple):
    """The recipe, the scopes that it leaves float, those that it gives 16 bits, and all that was tried.

    work is the share of the model's multiply-adds that both do, taken the place among the steps of the one
    that was chosen.
    """

    recipe: Recipe
    floats: list[str]
    wide: list[str]
    steps: list[Step]
    work: float
    taken: int


# What operators become, by their scopes: another scheme, or None for floats.
_Lifted = Mapping[str, Scheme | None]


def fewest_floats(source: Model, recipe: Recipe, make: Maker, samples: Sequence[Sample], goal: str) -> Chosen:
    """A recipe whose model reaches the goal (see Validation.reaches) on samples of the float model.

    Operators are ranked by the error that each one makes alone, improved as the first recipe's model is; the
    fewest of the worst ones get activations of 16 bits, or stay float, whichever takes fewer multiply-adds.
    Of these, those that turn out not to be needed have 8 bits again, the ones with most multiply-adds first,
    and of the floats those have 16 bits where that suffices. Raises ModelError where even the float model
    does not reach the goal, or there is no sample.
    """
    search = _Search(source, recipe, make, samples, goal)
    if search.reaches({}):
        return search.chosen({})
    worst = search.ranked()
    found = [lifted for wide in (True, False) if (lifted := search.fewest(worst, wide)) is not None]
    if not found:
        raise ModelError(f"auto: {goal} must be within reach, got less with all {len(worst)} operators float")
    best = min(found, key=lambda lifted: (search.share(lifted), len(lifted)))
    return search.chosen(search.narrowed(search.pruned(best)))


class _Search:
    """Recipes that lift some operators out of 8 bits, each tried once."""

    def __init__(
        self, source: Model, recipe: Recipe, make: Maker, samples: Sequence[Sample], goal: str
    ) -> None:
        self._source, self._recipe, self._make = source, recipe, make
        self._samples, self._goal = samples, goal
        self._tried: dict[frozenset[tuple[str, Scheme | None]], Step] = {}
        _, outcomes = make(recipe, False)
        schemes = {o.scope: o.scheme for o in outcomes if o.scheme is not None and o.scheme.activation_bits}
        self._scopes = list(schemes)
        self._wide = self._wider(schemes)
        self._work = _work(source, samples[0])

    def _wider(self, schemes: Mapping[str, Scheme]) -> dict[str, Scheme]:
        """The schemes of 16 bits that operators can have instead of their own."""
        asked: dict[str, Scheme | None] = {
            scope: Scheme(activation_bits=16, per_channel=scheme.per_channel)
            for scope, scheme in schemes.items()
            if scheme.activation_bits == 8
        }
        if not asked:
            return {}
        _, outcomes = self._make(self._with(asked), False)
        return {
            o.scope: o.scheme for o in outcomes if o.scheme is not None and o.scheme.activation_bits == 16
        }

    def reaches(self, lifted: _Lifted) -> bool:
        key = frozenset(lifted.items())
        if key not in self._tried:
            made, _ = self._make(self._with(lifted), True)
            found = validate(self._source, made, self._samples)
            floats = sum(scheme is None for scheme in lifted.values())
            self._tried[key] = Step(floats, len(key) - floats, made.nbytes, found, found.reaches(self._goal))
        return self._tried[key].reaches

    def ranked(self) -> list[str]:
        """The operators by the error that the outputs have when one alone is of integers, the worst first."""
        errors = {}
        for scope in self._scopes:
            made, _ = self._make(self._with({other: None for other in self._scopes if other != scope}), False)
            found = validate(self._source, made, self._samples)
            errors[scope] = found.worst_db
        return sorted(self._scopes, key=lambda scope: errors[scope])

    def fewest(self, worst: Sequence[str], wide: bool) -> dict[str, Scheme | None] | None:
        """The fewest of the worst that reach the goal with 16 bits (without a kernel: as floats), or all as
        floats; None where none do."""
        if wide and not self._wide:
            return None
        lifted = {scope: self._wide.get(scope) if wide else None for scope in worst}
        if not self.reaches(lifted):
            return None
        few, many = 0, len(worst)
        while many - few > 1:
            middle = (few + many) // 2
            if self.reaches({scope: lifted[scope] for scope in worst[:middle]}):
                many = middle
            else:
                few = middle
        return {scope: lifted[scope] for scope in worst[:many]}

    def pruned(self, lifted: _Lifted) -> _Lifted:
        """Without those that are not needed; the last of them is."""
        kept = dict(lifted)
        for scope in self._by_work(list(lifted)[:-1]):
            fewer = {other: scheme for other, scheme in kept.items() if other != scope}
            if self.reaches(fewer):
                kept = fewer
        return kept

    def narrowed(self, lifted: _Lifted) -> _Lifted:
        """With 16 bits for the floats that need no more."""
        kept = dict(lifted)
        for scope in self._by_work([s for s, scheme in lifted.items() if scheme is None and s in self._wide]):
            other = {**kept, scope: self._wide[scope]}
            if self.reaches(other):
                kept = other
        return kept

    def _by_work(self, scopes: Sequence[str]) -> list[str]:
        """The ones with most multiply-adds."""
        return sorted(reversed(scopes), key=lambda scope: -self._work.get(scope, 0))[:_MOST_PRUNED]

    def share(self, lifted: _Lifted) -> float:
        """That of the multiply-adds that are lifted."""
        total = sum(self._work.values())
        return sum(self._work.get(scope, 0) for scope in lifted) / total if total else 0.0

    def chosen(self, lifted: _Lifted) -> Chosen:
        steps = sorted(self._tried.values(), key=lambda step: (step.floats + step.wide, step.floats))
        floats = [scope for scope, scheme in lifted.items() if scheme is None]
        wide = [scope for scope, scheme in lifted.items() if scheme is not None]
        found = self._tried[frozenset(lifted.items())]
        taken = next(place for place, step in enumerate(steps) if step is found)
        return Chosen(self._with(lifted), floats, wide, steps, self.share(lifted), taken)

    def _with(self, lifted: _Lifted) -> Recipe:
        """The recipe, with rules behind it."""
        rules = [Rule(f"^{re.escape(scope)}$", scheme=scheme) for scope, scheme in lifted.items()]
        return Recipe([*self._recipe.rules, *rules])


def _work(model: Model, sample: Sample) -> dict[str, int]:
    """The multiply-adds of operators at the shapes of a sample, by their results' names."""
    interpreter = model_interpreter(model)
    run_sample(interpreter, sample, "sample 0")
    found = defaultdict[str, int](int)
    for graph in interpreter.subgraphs:
        for node in graph.nodes:
            scope = ";".join(graph.tensors[t].name for t in node.outputs if t >= 0)
            found[scope] += multiply_adds(node, graph.tensor) or 0
    return dict(found)
