"""Import of a GraphDef: its graph, then the functions of its library."""

from __future__ import annotations

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import FunctionDef, GraphDef
from ...schema.shown import shown
from .attributes import SymbolAttr, VersionAttr
from .check_nodes import check_body
from .import_body import BodyImporter
from .import_function import REST, import_function, rest_of
from .import_generic import has_placeholders, import_generic_function, is_generic
from .import_options import TENSORFLOW, ImportOptions, Signatures
from .module import Function, Graph, Module

__all__ = ["TENSORFLOW", "ImportOptions", "import_graph_def"]


def import_graph_def(graph_def: GraphDef, options: ImportOptions | None = None) -> Module:
    """The graph and its functions.

    ModelError when the GraphDef is damaged, naming the node; UnsupportedError for types that the
    IR has no form for.
    """
    options = options or ImportOptions()
    try:
        return _module(graph_def, options)
    except ModelError as error:
        raise ModelError(f"INVALID_ARGUMENT: {error}") from error
    except RecursionError as error:
        raise ModelError("INVALID_ARGUMENT: attributes or types are nested too deeply") from error


def _module(graph_def: GraphDef, options: ImportOptions) -> Module:
    versions = graph_def.versions
    version = VersionAttr(versions.producer, versions.min_consumer, tuple(versions.bad_consumers))
    graph = Graph(version)
    module = Module([graph])
    module.op_defs = options.op_defs
    signatures = Signatures(graph_def.library.function, options.op_defs)
    BodyImporter(graph.body, signatures, options).add(graph_def.node)
    if options.check_nodes:
        check_body(graph.body, signatures)
    for function_def in graph_def.library.function:
        function = _function(function_def, signatures, options)
        if options.check_nodes and not function.generic:
            _check_function(function, signatures)
        module.ops.append(function)
    _gradients(graph_def, module)
    return module


def _function(function_def: FunctionDef, signatures: Signatures, options: ImportOptions) -> Function:
    name = function_def.signature.name
    generic = is_generic(function_def, signatures) if options.allow_unknown_ops else None
    if generic if generic is not None else has_placeholders(function_def):
        try:
            return import_generic_function(function_def)
        except (ModelError, UnsupportedError) as error:
            raise type(error)(f"{error}\n\tWhile importing generic function: {shown(name)}") from error
    try:
        return import_function(function_def, signatures, options)
    except (ModelError, UnsupportedError) as error:
        raise type(error)(f"{error}\n\tWhile importing function: {shown(name)}") from error


def _check_function(function: Function, signatures: Signatures) -> None:
    try:
        check_body(function.body, signatures)
    except ModelError as error:
        raise ModelError(f"{error}\n\tWhile importing function: {shown(function.name)}") from error


def _gradients(graph_def: GraphDef, module: Module) -> None:
    """Gradients become their functions' attributes; what has no place becomes the module's."""
    functions = module.functions
    left = []
    for gradient in graph_def.library.gradient:
        function = functions.get(gradient.function_name)
        if function is None or function.generic or "gradient" in function.attributes:
            left.append(gradient)
        else:
            function.attributes["gradient"] = SymbolAttr(gradient.gradient_func)
    rest = GraphDef(version=graph_def.version)
    if graph_def.HasField("debug_info"):
        rest.debug_info.CopyFrom(graph_def.debug_info)
    registered = graph_def.library.registered_gradients
    if left or registered:
        rest.library.gradient.extend(left)
        rest.library.registered_gradients.extend(registered)
    text = rest_of(rest, ())
    if text:
        module.attributes[REST] = text
