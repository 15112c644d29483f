"""Recipe: which operators of a model are quantized how, by their results' names and by what they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...lite.errors import ModelError, UnsupportedError
from ...schema.operator_code import CODES
from .recipe_file import rule_entries, rule_of
from .rotation import ROTATIONS
from .scheme import SCHEMES, Scheme
from .weights import ALGORITHMS, GPTQ

# All that rounds weights.
ALGORITHM_NAMES = (*ALGORITHMS, GPTQ, *ROTATIONS)

_ENDS = ("*", "INPUT", "OUTPUT")
# As TensorFlow: smaller weights are not worth the time that quantizing the inputs takes.
DYNAMIC_LEAST_ELEMENTS = 1024


@dataclass(frozen=True)
class Rule:
    """What happens to operators whose results' names hold the regex; scheme None leaves them as they are.

    operation is the schema's name of an operator, "*" for all. algorithm is one of ALGORITHM_NAMES, ""
    the usual one. Weights of fewer elements stay as they are.
    """

    regex: str = ".*"
    operation: str = "*"
    scheme: Scheme | None = field(default_factory=Scheme)
    algorithm: str = ""
    min_weight_elements: int = 0

    def __post_init__(self) -> None:
        if self.operation not in CODES and self.operation not in _ENDS:
            raise ModelError(f"recipe: operation must be a builtin operator or *, got {self.operation!r}")
        if self.algorithm and self.algorithm not in ALGORITHM_NAMES:
            known = ", ".join(ALGORITHM_NAMES)
            raise UnsupportedError(f"recipe: algorithm must be of {known}, got {self.algorithm!r}")
        if self.scheme is not None and self.scheme.is_float16 and self.algorithm in (GPTQ, *ROTATIONS):
            raise UnsupportedError(f"recipe: {self.algorithm} must be for integer weights, got float16")
        if self.min_weight_elements < 0:
            raise ModelError(
                f"recipe: min_weight_elements must not be negative, got {self.min_weight_elements}"
            )
        try:
            re.compile(self.regex)
        except re.error as error:
            raise ModelError(f"recipe: {self.regex!r} must be a regular expression: {error}") from error

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.regex)

    def names(self, scope: str) -> bool:
        """Whether it speaks of operators with that scope: their results' names."""
        return self._pattern.search(scope) is not None

    def is_for(self, operation: str, scope: str) -> bool:
        return self.operation in ("*", operation) and self.names(scope)


class Recipe:
    """Rules in order: of those that are for an operator, and possible there, the last one counts."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules: list[Rule] = []
        for rule in rules:
            self.add(rule)

    def add(self, rule: Rule) -> None:
        """Another rule. One of the same regex for the same operation takes its place, one for all theirs."""
        known = [(old.regex, old.operation) for old in self.rules]
        if rule.operation == "*":
            self.rules = [old for old in self.rules if old.regex != rule.regex] + [rule]
        elif (rule.regex, rule.operation) in known:
            self.rules[known.index((rule.regex, rule.operation))] = rule
        else:
            self.rules.append(rule)

    def of(self, operation: str, scope: str) -> Iterator[Rule]:
        """The rules for an operator, the last one first."""
        return (rule for rule in reversed(self.rules) if rule.is_for(operation, scope))

    @property
    def calibrates(self) -> bool:
        """Whether data are needed."""
        return self.uses_hessians or any(
            rule.scheme is not None and rule.scheme.calibrates for rule in self.rules
        )

    @property
    def uses_hessians(self) -> bool:
        """Whether weights are rounded by what data say of their inputs."""
        return any(rule.scheme is not None and rule.algorithm == GPTQ for rule in self.rules)

    def check_names(self, scopes: Iterable[str]) -> None:
        """ModelError for a rule whose regex is in no operator's scope: it would do nothing."""
        scopes = list(scopes)
        for rule in self.rules:
            # One for all names is for those of a model without operators, too.
            if rule.operation not in ("INPUT", "OUTPUT") and not any(map(rule.names, ["", *scopes])):
                known = ", ".join(map(repr, scopes[:3]))
                raise ModelError(
                    f"recipe: the regex {rule.regex!r} must be found in the name of an operator's result, "
                    f"got {len(scopes)} operators ({known} ...)"
                )

    def to_list(self) -> list[dict[str, Any]]:
        """As ai-edge-quantizer writes recipes in JSON."""
        return [entry for rule in self.rules for entry in rule_entries(rule)]


def load_recipe(source: str | Path | Iterable[Mapping[str, Any]] | Recipe) -> Recipe:
    """A recipe from a JSON file (its path), the list that such a file holds, or a recipe.

    Files of ai-edge-quantizer are read as they are. Raises ModelError for what is no recipe, OSError for a
    file that cannot be read, UnsupportedError for algorithms that are not built.
    """
    if isinstance(source, Recipe):
        return source
    entries = _read(Path(source)) if isinstance(source, str | Path) else source
    if (
        isinstance(source, str | Path)
        and isinstance(entries, dict)
        and isinstance(entries.get("default"), str)
    ):
        entries = _read(Path(source).parent / entries["default"])
    if not isinstance(entries, Iterable) or isinstance(entries, Mapping):
        raise ModelError(f"recipe: must be a list of rules, got {type(entries).__name__}")
    return Recipe(Rule(**rule_of(entry)) for entry in entries)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"recipe: {str(path)!r} must be JSON: {error}") from error


def scheme_recipe(name: str, *, least: int | None = None, algorithm: str = "", **changes: Any) -> Recipe:
    """One rule for all operators, of a named scheme (scheme.SCHEMES); changes are fields of Scheme.

    least is the fewest elements of weights that are quantized. Kernels that take blocks quantize inputs, too.
    """
    if name not in SCHEMES:
        raise UnsupportedError(f"scheme: must be of {', '.join(SCHEMES)}, got {name!r}")
    if least is None:
        least = DYNAMIC_LEAST_ELEMENTS if name == "dynamic" else 0
    if changes.get("block") and name == "weight-int4":
        changes["dequantize"] = False
    scheme = Scheme(**{**SCHEMES[name].__dict__, **changes})
    return Recipe([Rule(scheme=scheme, algorithm=algorithm, min_weight_elements=least)])
