"""What a compiled model carries is not trusted: whom it names, machine code, damaged programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.delegates import loading as loading_module
from numlite.delegates.compile import compile_model
from numlite.interpreter import Interpreter
from numlite.lite import partition_program
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.lite.model import Model
from numlite.lite.partition_program import pack_program, unpack_program
from numlite.schema import tflite

from ..conftest import SHARED_MODELS
from .compiling import changed, compiled, entry_points
from .graphs import sine, sine_model
from .numpy_delegate import NumpyDelegate
from .test_application import X, run


def test_what_a_file_names_is_found_only_where_the_caller_trusts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def make(operators: str = "") -> NumpyDelegate:
        seen.append(operators)
        return NumpyDelegate(*operators.split())

    delegate = NumpyDelegate("SIN")
    source = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    result = compile_model(source.core, delegate, "numpy", {"operators": "SIN"})
    with pytest.raises(
        UnsupportedError, match=r"compiled for delegate 'numpy', version 1 .*install a package"
    ):
        run(Interpreter(model_content=result.content, trust_compiled_code=True), X)
    monkeypatch.setattr(loading_module, "entry_points", entry_points("numpy", make))
    with pytest.raises(UnsupportedError, match=r"load_delegate\('numpy'\)\], or .*trust_compiled_code=True"):
        run(Interpreter(model_content=result.content), X)
    assert not seen
    trusting = Interpreter(model_content=result.content, trust_compiled_code=True)
    assert np.array_equal(run(trusting, X), sine(X))
    assert seen == ["SIN"]  # one delegate for both partitions


def test_a_model_has_no_module_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "hostile_delegate.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    result = compiled(sine_model(), NumpyDelegate("SIN"), "hostile_delegate")
    for trusts in (False, True):
        with pytest.raises(
            UnsupportedError, match=r"experimental_delegates=\[load_delegate\('hostile_delegate'\)\]"
        ):
            run(Interpreter(model_content=result.content, trust_compiled_code=trusts), X)
    assert "hostile_delegate" not in sys.modules


class Newer(NumpyDelegate):
    version = "2"


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    result = compiled(sine_model(), NumpyDelegate("SIN"))
    monkeypatch.setattr(loading_module, "entry_points", entry_points("numpy", Newer))
    with pytest.raises(UnsupportedError, match=r"compiled by version 1 of delegate 'numpy', got version 2"):
        run(Interpreter(model_content=result.content, trust_compiled_code=True), X)


@pytest.mark.parametrize("name", ["evil_cubin", "simulated"])
def test_machine_code_of_a_file_is_not_loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = SHARED_MODELS.parent / "hostile" / "other" / f"{name}.tflite"
    if not path.exists():
        pytest.skip("no ../shared/hostile beside the repository")
    monkeypatch.setattr(loading_module, "load_delegate", lambda *given: pytest.fail("a delegate was made"))
    interpreter = Interpreter(path)
    with pytest.raises(UnsupportedError, match=r"load_delegate\('cuda'\)\], or .*trust_compiled_code=True"):
        interpreter.allocate_tensors()


def first_options(tables: tflite.ModelT) -> Any:
    return next(op for op in tables.subgraphs[0].operators if op.custom_options is not None)


def damage(at: int) -> Callable[[tflite.ModelT], None]:
    def change(tables: tflite.ModelT) -> None:
        operator = first_options(tables)
        data = bytearray(operator.custom_options)
        data[at] ^= 1
        operator.custom_options = bytes(data)

    return change


def cut(tables: tflite.ModelT) -> None:
    operator = first_options(tables)
    operator.custom_options = bytes(operator.custom_options)[:-1]


def emptied(tables: tflite.ModelT) -> None:
    first_options(tables).custom_options = None


def renamed(tables: tflite.ModelT) -> None:
    for code in tables.operator_codes:
        code.custom_code = code.custom_code and "numlite-delegate:other"


def without_metadata(tables: tflite.ModelT) -> None:
    tables.metadata = None


def of_another_model(tables: tflite.ModelT) -> None:
    operator = first_options(tables)
    other = compiled(sine_model((1, 1)), NumpyDelegate("SIN"))
    operator.custom_options = Model(other.content).custom_options(
        Model(other.content).root.subgraphs[0].operators[0]
    )


def bad_header(tables: tflite.ModelT) -> None:
    operator = first_options(tables)
    packed = pack_program(unpack_program(bytes(operator.custom_options)))
    body = packed[:-16].replace(b'"side_effects"', b'"side_infects"')
    operator.custom_options = body + partition_program._checksum(body)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damage(0), "must be a program"),
        (damage(12), "damaged"),
        (damage(40), "damaged"),
        (damage(-20), "damaged"),
        (cut, "damaged"),
        (emptied, "must be a program, got 0 other bytes"),
        (renamed, "must be of the delegate that its operator names"),
        (without_metadata, r"must be of a compilation in metadata .*\(there is none\)"),
        (of_another_model, "must be of a compilation in metadata"),
        (bad_header, "header must be numlite's"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_damaged_program_is_refused(change: Callable[[tflite.ModelT], None], message: str) -> None:
    content = changed(compiled(sine_model(), NumpyDelegate("SIN")).content, change)
    with pytest.raises(ModelError, match=rf"node 0 \(numlite-delegate:.*{message}"):
        Interpreter(model_content=content)
