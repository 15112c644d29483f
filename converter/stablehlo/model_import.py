"""StableHLO programs as modules of the graph IR, with the entry that convert and run_graph take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_COMPLEX64, DT_DOUBLE, DT_FLOAT, DT_INT32
from ...schema.shown import shown
from ..building.body import Body
from ..building.module_builder import FailedError, named_output, placeholder, refusal_error
from ..building.tensor import Tensor
from ..conversion import Entry
from ..ir.module import Graph
from ..ir.types import element_type
from ..named_values import Shapes
from .complex_numbers import as_one, is_complex
from .element_types import inner_type, outside_type
from .graph_import import Importer, Shared
from .held import Complex, Held
from .model_file import program_of
from .program import ArrayType, FunctionOperation, Program, Type, Value, global_constant
from .quantized import given, is_quantized, returned

_MAIN = "main"


def stablehlo_entry(
    source: Program | bytes | str | PathLike[str],
    input_shapes: Shapes | None = None,
    input_values: Mapping[str, object] | None = None,
    keep_composites: Sequence[str] = (),
    keep_nan: bool = False,
) -> Entry:
    """A program's main function as a module, with inputs and outputs by the program's names for them.

    source is a file or its content: a portable artifact, or what jax.export serializes. input_shapes replace
    those of inputs by name; None or -1 in a shape is a size known only when the model runs. input_values are
    inputs that become constants, keep_composites names of composites that stay calls of their functions.
    With keep_nan extremes of numbers and NaN are NaN, as StableHLO has it, for some operators more.

    Raises ModelError for a program that is wrong, UnsupportedError that lists the operations for which there
    are no operators, each with the reason.
    """
    program = source if isinstance(source, Program) else program_of(source)
    shared = Shared(program, keep_composites=keep_composites, keep_nan=keep_nan)
    graph = Graph()
    shared.module.ops.append(graph)
    importer = Importer(shared, Body(graph.body, shared.names))
    main = program.function(_MAIN)
    inputs, arguments = _inputs(importer, main, dict(input_shapes or {}), dict(input_values or {}))
    outputs: dict[str, str] = {}
    try:
        results = importer.run(main.body, arguments)
        outputs = _outputs(importer, main, results)
    except FailedError:
        assert shared.refusals
    if shared.refusals:
        raise refusal_error("StableHLO operations", shared.refusals)
    return Entry(shared.module, inputs, outputs, has_foreign_forms=True)


def _inputs(
    importer: Importer,
    main: FunctionOperation,
    shapes: dict[str, Sequence[int | None] | None],
    values: dict[str, object],
) -> tuple[dict[str, str], list[Held]]:
    """A placeholder for each argument, and the arguments as they are computed with."""
    found: dict[str, str] = {}
    arguments = []
    names = argument_names(importer.shared.program, main)
    for place, (value, name) in enumerate(zip(main.body.arguments, names, strict=True)):
        type = value.type
        outside = outside_type(type)
        assert isinstance(type, ArrayType)
        if global_constant(main, place) == "_platform_index":
            # Which of several machines the program runs on: the first is as good as any.
            arguments.append(Held(importer.body.scalar(0, DT_INT32), ()))
            continue
        if name in values:
            arguments.append(_constant(importer, values.pop(name), type, name))
            continue
        shape = list(type.shape)
        if name in shapes:
            given = shapes.pop(name)
            shape = shape if given is None else [-1 if size is None else int(size) for size in given]
            _check_shape(name, shape, type)
        tensor = placeholder(importer.body, name, outside, tuple(shape))
        found[name] = tensor.name
        arguments.append(_as_computed(tensor, type, shape))
    unknown = [*shapes, *values]
    if unknown:
        known = ", ".join(found) or "none"
        raise ModelError(f"inputs: {', '.join(map(shown, unknown))} is no input, the inputs are {known}")
    return found, arguments


def _as_computed(x: Tensor, type: ArrayType, shape: Sequence[int]) -> Held:
    """An input in the type that is computed with: of complex numbers both parts."""
    if type.grid is not None:
        return Held(given(x, type.grid), shape)
    if not is_complex(type):
        return Held(x.body.cast(x, inner_type(type)), shape)
    float_type = element_type(DT_FLOAT if x.type == DT_COMPLEX64 else DT_DOUBLE)
    parts = (x.body.op(op, x, Tout=float_type) for op in ("Real", "Imag"))
    return Complex(*(Held(x.body.cast(part, DT_FLOAT), shape) for part in parts))


def argument_names(program: Program, main: FunctionOperation) -> list[str]:
    """A name for each argument: the program's own, or that in the function that it is passed to."""
    passed: dict[Value, str] = {}
    for operation in main.body.operations:
        callee = program.functions.get(str(operation.attributes.get("callee")))
        if operation.name == "call" and callee is not None:
            passed.update(zip(operation.operands, (x.name for x in callee.body.arguments), strict=False))
    own = [value.name or passed.get(value, "") for value in main.body.arguments]
    return [name if name and own.count(name) == 1 else f"input_{place}" for place, name in enumerate(own)]


def _check_shape(name: str, shape: Sequence[int], type: ArrayType) -> None:
    fits = len(shape) == len(type.shape) and all(
        own in (-1, size) for size, own in zip(shape, type.shape, strict=True)
    )
    if not fits:
        raise ModelError(f"input_shapes: {shown(name)} must be a shape of {type}, got {list(shape)}")


def _constant(importer: Importer, value: object, type: ArrayType, name: str) -> Held:
    import numpy as np

    from ...kernels.fallback.dtypes import numpy_dtype

    if type.grid is not None:
        raise UnsupportedError(f"input_values: {shown(name)} must be of plain numbers, got {type}")
    array = np.asarray(value, np.complex64 if is_complex(type) else numpy_dtype(inner_type(type)))
    _check_shape(name, array.shape, type)
    if is_complex(type):
        return Complex(
            *(Held(importer.body.constant(np.array(x), name), x.shape) for x in (array.real, array.imag))
        )
    return Held(importer.body.constant(array, name), array.shape)


def _outputs(importer: Importer, main: FunctionOperation, results: Sequence[Held]) -> dict[str, str]:
    """Each result's node by its name."""
    if not results:
        raise ModelError("main: it must have results, this has none")
    body, found = importer.body, {}
    for held, value, name in zip(results, main.body.returned, result_names(main), strict=True):
        body.prefix = name
        found[name] = named_output(_returned(held, value.type), name)
    return found


def _returned(held: Held, type: Type) -> Tensor:
    """A result in the type that the program has for it."""
    if is_quantized(type):
        return returned(held.whole, type)
    outside = outside_type(type)
    return as_one(held, outside) if isinstance(held, Complex) else held.whole.body.cast(held.whole, outside)


def result_names(main: FunctionOperation) -> list[str]:
    """A name for each result: what the program says of it, else one by its place."""
    count = len(main.body.returned)
    told = [each.get("jax.result_info") for each in main.result_attributes]
    told += [None] * (count - len(told))
    return [
        name if isinstance(name, str) and name and told.count(name) == 1 else f"output_{place}"
        for place, name in enumerate(told[:count])
    ]
