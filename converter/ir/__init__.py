"""TensorFlow graphs as they are: the graph IR, and GraphDef in and out. Its text form is in `tfg`."""

from importlib import import_module

# Name: module that has it. Nothing is imported before it is asked for.
_HOMES = {
    "Module": ".module",
    "Graph": ".module",
    "Function": ".module",
    "Node": ".node",
    "Value": ".node",
    "Block": ".node",
    "ImportOptions": ".import_graph",
    "import_graph_def": ".import_graph",
    "export_graph_def": ".export_graph",
    "read_graph": ".graph_def_file",
    "print_module": "..tfg.text_printer",
    "parse_module": "..tfg.text_parser",
    "verify": ".verifier",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
