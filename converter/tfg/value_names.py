"""Names of values in the text: what each is called, made unique within its graph or function."""

from __future__ import annotations

import re
from functools import lru_cache

from ..ir.module import Function
from ..ir.node import Block, Node, Value

_OUTSIDE = re.compile(r"[^A-Za-z0-9$._-]")


@lru_cache(4096)
def sanitized(name: str) -> str:
    """The name in letters that a value's name may have."""
    if not name:
        return "_"
    if name.isidentifier() and name.isascii():
        return name
    data = name.encode(errors="surrogateescape").decode("latin-1").replace(" ", "_")
    text = _OUTSIDE.sub(lambda found: f"{ord(found.group()):02X}", data)
    return f"_{text}" if text[0].isdigit() else text


class ValueNames:
    """Names of all values of a graph or function, and of the regions inside."""

    def __init__(self) -> None:
        # Of a node's first result (and all that share its name), of tokens and of arguments.
        self.names: dict[Value, str] = {}
        self._used: list[set[str]] = [set()]
        self._clashes = 0
        self._arguments = 0

    def name_function(self, function: Function) -> None:
        for value in function.arguments:
            name = function.argument_name(value)
            token = function.control_of(value)
            self.names[value] = self._unique_pair(sanitized(name) if name else f"arg{self._arguments}")
            self.names[token] = f"{self.names[value]}.ctl"
            if not name:
                # The token takes a number, too.
                self._arguments += 2
        self._name_nodes(function.body)

    def name_block(self, block: Block) -> None:
        for value in block.arguments:
            self.names[value] = self._unique(f"arg{self._arguments}")
            self._arguments += 1
        self._name_nodes(block)

    def _name_nodes(self, block: Block) -> None:
        with_regions: list[Node] = []
        for node in block:
            if node.results:
                self.names[node.results[0]] = self._unique(sanitized(node.op))
            if node.has_control:
                self.names[node.control] = self._unique("ctl")
            if node.regions:
                with_regions.append(node)
        for node in with_regions:
            for region in node.regions:
                state = self._clashes, self._arguments
                self._used.append(set())
                self.name_block(region)
                self._used.pop()
                self._clashes, self._arguments = state

    def _unique(self, name: str) -> str:
        found = name
        while any(found in used for used in self._used):
            found = f"{name}_{self._clashes}"
            self._clashes += 1
        self._used[-1].add(found)
        return found

    def _unique_pair(self, name: str) -> str:
        """A name for an argument: with its ending, it names the token."""
        used = self._used[-1]
        found = name
        while found in used or f"{found}.ctl" in used:
            found = f"{name}_{self._clashes}"
            self._clashes += 1
        used |= {found, f"{found}.ctl"}
        return found

    def text(self, value: Value) -> str:
        """How a use of the value is written."""
        owner = value.owner
        if isinstance(owner, Node) and not value.is_control and len(owner.results) > 1:
            return f"%{self.names[owner.results[0]]}#{value.index}"
        return f"%{self.names[value]}"
