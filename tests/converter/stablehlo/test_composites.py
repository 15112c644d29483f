"""Composites that stay: operators with their decomposition, for delegates that know their names."""

from __future__ import annotations

import pytest
from flatbuffers import flexbuffers
from numlite.converter import Converter
from numlite.interpreter import Interpreter
from numlite.schema import tflite

from ..graphs import checked, operators
from .recorded import recorded
from .test_recorded import by, check


def kept(*names: str) -> tuple[bytes, Converter]:
    converter = Converter.from_stablehlo(recorded()["composites"].program, keep_composites=names)
    return checked(converter.convert()), converter


def test_a_kept_composite_is_one_operator_with_what_it_was_given() -> None:
    model, _ = kept("odml.scaled")
    assert operators(model) == ["STABLEHLO_COMPOSITE", "ADD"]
    read = tflite.read(model)
    options = read.subgraphs[0].operators[0].builtin_options_2
    assert (options.name, options.version) == ("odml.scaled", 3)
    given = flexbuffers.Loads(bytes(options.composite_attributes))
    assert given == {"scale": 1.5}
    assert len(read.subgraphs[options.decomposition_subgraph_index].operators) == 3


def test_a_composite_of_another_name_is_its_decomposition() -> None:
    model, _ = kept("odml.other")
    assert operators(model) == ["BATCH_MATMUL", "TANH", "MUL", "ADD"]


@pytest.mark.parametrize("runtime", ["numlite", "litert"])
def test_it_computes_what_its_decomposition_does(runtime: str) -> None:
    model, converter = kept("odml.scaled")
    case = recorded()["composites"]
    if runtime == "numlite":
        check(case, by(Interpreter(model_content=model), converter, case))
    else:
        litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
        check(case, by(litert.Interpreter(model_content=model), converter, case))
