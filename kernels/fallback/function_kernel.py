"""Kernels made of plain functions: one function for a stateless op, or create, compute and delete."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, get_type_hints

import numpy as np

from .attributes import KINDS
from .dtypes import numpy_dtype
from .kernel import KernelConstruction, KernelContext, OpKernel, check_output
from .op_metadata import ArgumentTypes
from .status import InternalError

# Takes the op's inputs in order (a list for an input that is a list) and, by keyword, the attributes
# that it names, each annotated with its kind, or with a dataclass of keywords that names several.
# Returns the output, or a tuple of them, a list for an output that is a list. A keyword named context
# receives the KernelContext, for kernels that need the environment.
PureFunction = Callable[..., Any]


@dataclass(frozen=True)
class _Keywords:
    """Attributes that a function or a dataclass names, with their kinds, and whether it wants the context."""

    kinds: dict[str, type]
    optional: frozenset[str]
    wants_context: bool


@lru_cache(None)
def _keywords(function: PureFunction) -> _Keywords:
    if isinstance(function, np.ufunc):
        return _Keywords({}, frozenset(), False)
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    hints = get_type_hints(function)
    kinds = {p.name: hints[p.name] for p in parameters if p.name != "context"}
    wrong = [name for name, kind in kinds.items() if kind not in KINDS and not is_dataclass(kind)]
    if wrong:
        raise TypeError(f"{function.__qualname__}: attribute {wrong[0]!r} has no kind of attributes.KINDS")
    optional = frozenset(p.name for p in parameters if p.default is not p.empty)
    return _Keywords(kinds, optional, len(kinds) < len(parameters))


def _attributes(construction: KernelConstruction, keywords: _Keywords) -> dict[str, object]:
    """The node's attributes by keyword."""
    found: dict[str, object] = {}
    for name, kind in keywords.kinds.items():
        if kind not in KINDS:
            found[name] = kind(**_attributes(construction, _keywords(kind)))
        elif name not in keywords.optional or construction.has_attr(name):
            found[name] = construction.get_attr(name, kind)
    return found


class FunctionKernel(OpKernel):
    """A stateless kernel that calls one function with the node's attributes."""

    def __init__(self, construction: KernelConstruction, function: PureFunction) -> None:
        super().__init__(construction)
        keywords = _keywords(function)
        attributes = _attributes(construction, keywords)
        self._function = partial(function, **attributes) if attributes else function
        self._wants_context = keywords.wants_context
        # A list is one argument: the flat inputs are cut by these sizes, None for a single tensor.
        self._sizes = [len(i.types) if i.is_list else None for i in construction.inputs]
        self._has_lists = any(size is not None for size in self._sizes)
        self._is_single = len(construction.outputs) == 1 and not construction.outputs[0].is_list
        # Whether it reads nothing but its inputs, so that outputs_of runs it.
        self.is_pure = not keywords.wants_context

    @cached_property
    def _dtypes(self) -> list[np.dtype]:
        return [numpy_dtype(type) for type in self.construction.output_types]

    def compute(self, context: KernelContext) -> None:
        for index, value in enumerate(self._results(context.inputs, context)):
            context.set_output(index, value)

    def outputs_of(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs of a pure kernel, without a context; InternalError for one of a wrong type."""
        found = self._results(inputs, None)
        if [value.dtype for value in found] == self._dtypes:
            return found
        for index, (value, dtype) in enumerate(zip(found, self._dtypes, strict=True)):
            check_output(self.construction.op, index, value, dtype)
        return found

    def _results(self, inputs: Sequence[np.ndarray], context: KernelContext | None) -> list[np.ndarray]:
        arguments = _grouped(inputs, self._sizes) if self._has_lists else inputs
        if self._wants_context:
            result = self._function(*arguments, context=context)
        else:
            result = self._function(*arguments)
        if self._is_single and isinstance(result, np.ndarray):
            return [result]
        values = _flat(self.construction, result)
        return [_array(value, dtype) for value, dtype in zip(values, self._dtypes, strict=True)]


def _array(value: object, dtype: np.dtype) -> np.ndarray:
    """A NumPy scalar, or one string, resource or variant, as an array."""
    if isinstance(value, np.ndarray):
        return value
    if dtype.kind == "O":
        made = np.empty((), object)
        made[()] = value
        return made
    if not isinstance(value, np.generic):
        raise InternalError(f"a kernel's output must be an array, got {type(value).__name__}")
    return np.asarray(value)


def _grouped(inputs: Sequence[np.ndarray], sizes: Sequence[int | None]) -> list[object]:
    grouped: list[object] = []
    at = 0
    for size in sizes:
        grouped.append(inputs[at] if size is None else list(inputs[at : at + size]))
        at += 1 if size is None else size
    return grouped


def _flat(construction: KernelConstruction, result: object) -> list[object]:
    """The function's results, one for each output tensor."""
    outputs = construction.outputs
    if not outputs:
        return []
    values = (result,) if len(outputs) == 1 else result
    if not isinstance(values, tuple) or len(values) != len(outputs):
        raise InternalError(f"{construction.op}: must give {len(outputs)} outputs")
    flat: list[object] = []
    for output, value in zip(outputs, values, strict=True):
        flat += _listed(construction.op, output, value) if output.is_list else [value]
    return flat


def _listed(op: str, output: ArgumentTypes, value: object) -> list[object]:
    if not isinstance(value, list) or len(value) != len(output.types):
        raise InternalError(f"{op}: output {output.name!r} must be {len(output.types)} tensors")
    return value


class BuiltKernel(OpKernel):
    """A kernel of three functions, as the C API has them.

    create(construction) gives the kernel's state, compute(state, context) runs it, delete(state)
    gives it back.
    """

    def __init__(
        self,
        construction: KernelConstruction,
        create: Callable[[KernelConstruction], object],
        compute: Callable[[Any, KernelContext], None],
        delete: Callable[[Any], None] | None,
    ) -> None:
        super().__init__(construction)
        self._state = create(construction)
        self._compute = compute
        self._delete = delete

    def compute(self, context: KernelContext) -> None:
        self._compute(self._state, context)

    def delete(self) -> None:
        if self._delete is not None:
            self._delete(self._state)
