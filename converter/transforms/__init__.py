"""Changes of TensorFlow graphs that keep what they compute. Lowered operators have `operator_rules`."""

from importlib import import_module

# Name: module that has it. Nothing is imported before it is asked for.
_HOMES = dict.fromkeys(("TRANSFORMS", "Transform", "transform"), "..tfg.register")
__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
