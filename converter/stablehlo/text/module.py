"""Programs from MLIR's text, as JAX prints them: in StableHLO's own forms or in the generic one."""

from __future__ import annotations

import re

from ....lite.errors import ModelError
from ..program import Operation, Program, program_of_functions
from .attributes import parse_attribute
from .forms import parse_form
from .operations import parse_operation
from .program_reader import ProgramReader
from .scope import Scope
from .types import parse_type

# How a text begins that may be a program's, and what only programs have in it.
_START = re.compile(r'(?:\s|//[^\n]*)*+(?:module\b|"builtin\.module"|"?func\.func\b|[#!]\w+ = )')
_OWN = re.compile(r'\b(?:stablehlo|chlo|mhlo)[.<]|"?func\.func\b')
_FOREIGN = re.compile(r'"?\btfg?\.')
# What stands between operations and says nothing of what is computed.
_MESH = re.compile(r"sdy\.mesh\b")


def is_program_text(start: str) -> bool:
    """Whether a text, or the beginning of one, is that of a program rather than of another module."""
    if not _START.match(start):
        return False
    own, foreign = _OWN.search(start), _FOREIGN.search(start)
    if own is None:
        # Places alone fill the beginning of some.
        return foreign is None and start.lstrip().startswith("#loc")
    return foreign is None or own.start() < foreign.start()


def read_text(text: str) -> Program:
    """The program of a text.

    Raises ModelError for what is wrong and UnsupportedError for what is not read, with the line.
    """
    reader = ProgramReader(text, parse_form)
    scope, found = Scope(reader), []
    while not reader.is_done:
        if reader.sees("#"):
            _alias(reader)
        elif reader.sees("!"):
            name = reader.alias()
            reader.expect("=")
            reader.types[name] = parse_type(reader)
        elif reader.sees("{-#"):
            # What constants that stand elsewhere are; none was read that has such.
            break
        else:
            found.append(parse_operation(scope))
    modules = [each for each in found if each.name == "module"]
    if len(modules) > 1 or (modules and len(found) > 1):
        raise ModelError(f"text: one module must be there, got {len(found)} operations")
    return program_of_functions(_functions(modules[0]) if modules else found, "text")


def _functions(module: Operation) -> list[Operation]:
    if len(module.regions) != 1:
        raise ModelError("text: a module must have one region")
    return module.regions[0].operations


def _alias(reader: ProgramReader) -> None:
    """#name = attribute"""
    name = reader.alias()
    reader.expect("=")
    reader.attributes[name] = parse_attribute(reader)
