"""XlaCallModule nodes of TensorFlow's graphs: calls of functions that do what their StableHLO programs do."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32, GraphDef, NodeDef
from ...schema.shown import shown
from ..building.body import Body, Names
from ..building.module_builder import FailedError, refusal_error
from ..building.tensor import Tensor
from ..ir.export_graph import export_graph_def
from ..ir.module import Function
from ..ir.node import RETURN, Node
from ..ir.types import TensorType, element_type
from .element_types import inner_type, outside_type
from .graph_import import Importer, Shared
from .held import Held
from .model_file import program_of
from .program import ArrayType, FunctionOperation, global_constant


def expand(graph: GraphDef, calls: Sequence[NodeDef]) -> None:
    """Have the calls, nodes of the graph and of its functions, call functions that the graph then has."""
    names = Names()
    for function in graph.library.function:
        names.new(function.signature.name)
    for node in calls:
        try:
            library = _functions(node, names)
        except (ModelError, UnsupportedError) as error:
            raise type(error)(f"node {shown(node.name)} ({shown(node.op)}): {error}") from error
        graph.library.function.extend(library.library.function)


def _functions(node: NodeDef, names: Names) -> GraphDef:
    """The program's functions, and the node as a call of the first one."""
    program = program_of(bytes(node.attr["module"].s))
    shared = Shared(program, names=names)
    function = Function(names.new(f"{node.name}/main"))
    shared.module.ops.append(function)
    importer = Importer(shared, Body(function.body, shared.names))
    main = program.function("main")
    types = list(node.attr["Tin"].list.type)
    arguments = _arguments(
        importer, function, main, types, [s.decode() for s in node.attr["dim_args_spec"].list.s]
    )
    try:
        results = importer.run(main.body, arguments)
    except FailedError:
        results = []
    if shared.refusals:
        raise refusal_error("StableHLO operations", shared.refusals)
    _finish(function, main, results, list(node.attr["Tout"].list.type))
    node.op = "PartitionedCall"
    for name in [name for name in node.attr if name not in ("Tin", "Tout")]:
        del node.attr[name]
    node.attr["f"].func.name = function.name
    return export_graph_def(shared.module)


def _arguments(
    importer: Importer,
    function: Function,
    main: FunctionOperation,
    types: Sequence[int],
    sizes: Sequence[str],
) -> list[Held]:
    """The program's: which machine, open sizes ("1.0" is axis 0 of the second input), the inputs."""
    body, values = importer.body, main.body.arguments
    given = values[len(values) - len(types) :]
    leading = values[: len(values) - len(types)]
    if len(given) != len(types):
        raise ModelError(
            f"the program must have an argument for each of {len(types)} inputs, got {len(values)}"
        )
    inputs = []
    for place, (value, number) in enumerate(zip(given, types, strict=True)):
        type = value.type
        if outside_type(type) != number:
            raise ModelError(f"input {place} must be of the program's type {type}, got type {number}")
        assert isinstance(type, ArrayType)
        argument = function.add_argument(
            TensorType(element_type(number), type.shape), {"tfg.name": f"argument{place}".encode()}
        )
        inputs.append(
            Held(body.cast(Tensor(body, number, type.shape, argument), inner_type(type)), type.shape)
        )
    first: list[Held] = []
    specs = list(sizes)
    for place, value in enumerate(leading):
        is_machine = global_constant(main, place) == "_platform_index" or len(leading) - place > len(specs)
        size = body.scalar(0, DT_INT32) if is_machine else _size(inputs, specs.pop(0))
        first.append(Held(body.cast(size, inner_type(value.type)), ()))
    return [*first, *inputs]


def _size(inputs: Sequence[Held], spec: str) -> Tensor:
    """The size of an axis of an input."""
    place, _, axis = spec.partition(".")
    if not place.isdigit() or not axis.isdigit() or int(place) >= len(inputs):
        raise ModelError(f"dim_args_spec must name an input's axis, got {spec!r}")
    tensor = inputs[int(place)].whole
    return tensor.body.size(tensor, int(axis))


def _finish(
    function: Function, main: FunctionOperation, results: Sequence[Held], types: Sequence[int]
) -> None:
    """End the function with its results."""
    if len(results) != len(types):
        raise ModelError(f"the program must give {len(types)} results, got {len(results)}")
    operands = []
    for place, (held, value, number) in enumerate(zip(results, main.body.returned, types, strict=True)):
        if outside_type(value.type) != number:
            raise ModelError(f"result {place} must be of the program's type {value.type}, got type {number}")
        tensor = held.whole.body.cast(held.whole, number)
        operands.append(tensor.value)
        type = TensorType(element_type(number), held.shape)
        function.add_result(type, {"tfg.name": f"result{place}".encode()})
    end = Node(RETURN, attributes={"control_ret_attrs": ()})
    function.body.append(end)
    end.operands = operands
