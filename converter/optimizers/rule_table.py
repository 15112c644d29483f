"""The rules of each optimizer, and the table of them in docs/optimizers.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.rule import Rule
from .arithmetic.composition import unary_ops_composition
from .arithmetic.register import STAGES
from .auto_parallel import add_gradients
from .constant_controls import drop_needless_controls, drop_unused_constant
from .constant_folding import FOLDING
from .debug_stripper import strip_check, strip_effect, strip_v2
from .dependency import DEPENDENCY
from .implementation_selector import index_of_device, preferred_function
from .loop import LOOP
from .memory.register import MEMORY
from .pruning import drop_idle, skip_pass_on, split_identity_n
from .register import OPTIMIZERS, Optimizer
from .remapper.register import PRIVATE, PUBLIC
from .scoped_allocator import join
from .shape import prod_of_shape, quotient_of_sizes

_RULES: dict[str, Sequence[Rule[Any]]] = {
    "pruning": (skip_pass_on, split_identity_n, drop_idle),
    "implementation_selector": (index_of_device, preferred_function),
    "debug_stripper": (strip_effect, strip_check, strip_v2),
    "constfold": (*FOLDING, drop_needless_controls, drop_unused_constant),
    "shape": (prod_of_shape, quotient_of_sizes),
    "arithmetic": (*STAGES, unary_ops_composition),
    "remap": (*PRIVATE, *PUBLIC),
    "loop": LOOP,
    "memory": MEMORY,
    "autoparallel": (add_gradients,),
    "scoped_allocator": (join,),
    "dependency": DEPENDENCY,
}


def rules_of(optimizer: Optimizer) -> Sequence[Rule[Any]]:
    """The optimizer's rules, in order; of those that are no rules of a rewriter, none."""
    return _RULES.get(optimizer.name, ())


def all_rules() -> list[Rule[Any]]:
    """The rules of all optimizers."""
    return [rule for optimizer in OPTIMIZERS for rule in rules_of(optimizer)]


def table() -> str:
    """Optimizers and rules as Markdown: names, what they look for and make, what they need, whether bits
    stay.
    """
    lines = ["| optimizer | field of the config | runs |", "|---|---|---|"]
    for each in OPTIMIZERS:
        runs = "by default" if each.is_on_by_default else "when it is on"
        lines.append(f"| {each.name} ({each.class_name}) | {each.field} | {runs} |")
    lines += ["", "| rule | what it does | needs | keeps bits |", "|---|---|---|---|"]
    for each in OPTIMIZERS:
        for rule in rules_of(each):
            first = rule.given_and_result.strip().splitlines()[0]
            needs = ", ".join(sorted(rule.needs))
            lines.append(
                f"| {each.name}.{rule.name} | {first} | {needs} | {'yes' if rule.keeps_bits else 'no'} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
