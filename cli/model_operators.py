"""Which operators and compiled kernels a model needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..interpreter import Interpreter
from ..kernels.compiled.driver.library import Library
from ..lite.errors import ModelError, StateError
from ..lite.model import Model
from ..lite.unresolved import FLEX_PREFIX
from ..schema.operator_code import CUSTOM, builtin_code, operator_name

if TYPE_CHECKING:
    from ..kernels.selection import Selection
    from ..lite.interpreter import Interpreter as CoreInterpreter


class _Recorder(Library):
    """The process's kernels, and which families were asked for here."""

    def __init__(self) -> None:
        self.wanted: set[str] = set()

    def load(self, wanted: Mapping[str, set[str]]) -> None:
        self.wanted.update(wanted)
        super().load(wanted)

    def address(self, family: str, kernel: str) -> int:
        self.wanted.add(family)
        return super().address(family, kernel)


def add_model(selection: Selection, path: str | Path) -> None:
    """Add what a model file needs; ModelError when it cannot be read.

    The model is prepared, which compiles the kernels that the cache lacks. Where only running
    tells which kernels follow, it is run on zeros and on ones; incomplete says so then.
    """
    _add_operators(selection, Model.from_path(path))
    recorder = _Recorder()
    try:
        _prepare(path, recorder)
    except (ValueError, RuntimeError) as error:
        selection.incomplete[Path(path).name] = str(error)
    selection.families |= recorder.wanted


def _add_operators(selection: Selection, model: Model) -> None:
    root = model.root
    for subgraph in root.subgraphs:
        for number, operator in enumerate(subgraph.operators):
            if operator.opcode_index >= len(root.operator_codes):
                raise ModelError(f"node {number}: operator code must be under {len(root.operator_codes)}")
            code = root.operator_codes[operator.opcode_index]
            builtin, custom = builtin_code(code), code.custom_code or ""
            if builtin != CUSTOM:
                selection.add_builtin(operator_name(builtin), code.version)
            elif custom.startswith(FLEX_PREFIX):
                from ..delegates.flex.options import node_def_of

                try:
                    selection.fallback.add(node_def_of(model.custom_options(operator)).op)
                except ModelError as error:
                    raise ModelError(f"node {number} ({custom}): {error}") from error
            else:
                selection.custom.add(custom)


def _prepare(path: str | Path, recorder: _Recorder) -> None:
    class Recorded(Interpreter):
        _library = recorder

    core = Recorded(path).core
    for subgraph in core.subgraphs:
        if not subgraph.is_invokable:
            subgraph.allocate_tensors()
    if not all(subgraph.is_planned for subgraph in core.subgraphs):
        for value in (0, 1):
            _run(core, value)
        raise StateError(
            "shapes depend on values; kernels behind such tensors are known from runs on zeros and on ones"
        )


def _run(core: CoreInterpreter, value: int) -> None:
    for index in core.subgraph().inputs:
        tensor = core.tensor(index)
        core.set_tensor(index, np.full(tensor.shape, value, tensor.dtype))
    core.invoke()
