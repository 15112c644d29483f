"""V1 control flow becomes functional: While and If nodes with functions."""

from __future__ import annotations

from ..ir.module import Module
from ..ir.node import Block
from .bodies import typed_bodies
from .raise_conditionals import raise_conditionals
from .raise_loops import raise_loops


def raise_control_flow(module: Module) -> None:
    """Loops first, then the conditionals, of every body and of the functions that are made of them.

    Given:  a graph with Enter, Exit, NextIteration, LoopCond, Switch and Merge
    Result: the same with While and If, and Identities under the names of the Exits and Merges
    """
    blocks: list[Block] = [body.body for body in typed_bodies(module)]
    while blocks:
        block = blocks.pop()
        made = [*raise_loops(module, block), *raise_conditionals(module, block)]
        blocks += [function.body for function in made]
