"""Graph optimizers: what TensorFlow's Grappler does, on the graph IR."""

from importlib import import_module

# Name: module that has it. Nothing is imported before it is asked for.
_HOMES = {
    "GrapplerItem": ".item",
    "ItemOptions": ".item",
    "GraphProperties": ".properties",
    "TensorProperties": ".properties",
    "OptimizerConfig": ".config",
    "Toggle": ".toggle",
    "MetaOptimizer": ".meta_optimizer",
    "ExternalOptimizer": ".external",
    "OptimizationResult": ".result",
    "PassRecord": ".result",
    "optimize": ".optimize",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
