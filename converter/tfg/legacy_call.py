"""Legacy calls: nodes whose op is a function of the library."""

from __future__ import annotations

from ..ir.attributes import SymbolAttr
from ..ir.module import Module
from ..ir.signature import registered
from ..transforms.bodies import bodies

LEGACY_CALL = "tfg.legacy_call"


def lift_legacy_calls(module: Module) -> None:
    """Write the function that a node calls into an attribute, so that it is seen to be used.

    Given:  Foo(x), and a function @Foo
    Result: Foo(x) {tfg.legacy_call = @Foo}

    TensorFlow's own ops go before functions of their name.
    """
    functions = module.functions
    for body in bodies(module):
        for node in body.body.walk():
            if node.op in functions and registered(node.op) is None:
                node.attributes[LEGACY_CALL] = SymbolAttr(node.op)
