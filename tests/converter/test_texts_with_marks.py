"""Texts with the mark of UTF-8 in front, as some editors write them, are what they would be without it."""

from __future__ import annotations

import codecs
from pathlib import Path

import numpy as np
import pytest
from numlite.converter import load_graph, run_graph
from numlite.converter.quantization.calibration import Calibration
from numlite.converter.quantization.recipe import load_recipe
from numlite.converter.source_file import FileKind, file_kind
from numlite.converter.tfg.text_printer import print_module

PROGRAM = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\nreturn %x : tensor<2xf32>\n}"
GRAPH = (
    'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }\n'
    'node { name: "y" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }'
)


def marked(path: Path, text: str) -> Path:
    path.write_bytes(codecs.BOM_UTF8 + text.encode())
    return path


@pytest.mark.parametrize("name", ["model.any", "model.pbtxt"])
def test_a_graph_def(name: str, tmp_path: Path) -> None:
    path = marked(tmp_path / name, GRAPH)
    assert file_kind(path) == FileKind.GRAPH_DEF_TEXT
    (y,) = run_graph(path, {"x": np.float32([1, 2])}, ["y"])
    assert y.tolist() == [-1, -2]


def test_a_text_of_the_graph_ir(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text(GRAPH)
    text = print_module(load_graph(tmp_path / "plain"))
    path = marked(tmp_path / "model.any", text)
    assert file_kind(path) == FileKind.GRAPH_TEXT
    assert print_module(load_graph(path)) == text


def test_a_stablehlo_program(tmp_path: Path) -> None:
    path = marked(tmp_path / "model.any", PROGRAM)
    assert file_kind(path) == FileKind.STABLEHLO
    (y,) = run_graph(path, {"x": np.float32([1, 2])}, ["x"])
    assert y.tolist() == [1, 2]


def test_a_saved_model(tmp_path: Path) -> None:
    content = 'meta_graphs { meta_info_def { tags: "serve" } graph_def { ' + GRAPH + " } }"
    marked(tmp_path / "saved_model.pbtxt", content)
    assert "Neg" in print_module(load_graph(tmp_path))


def test_recipes_and_calibrations(tmp_path: Path) -> None:
    rule = '[{"regex": ".*", "operation": "CONV_2D", "algorithm_key": "no_quantize"}]'
    assert len(load_recipe(marked(tmp_path / "recipe.json", rule)).rules) == 1
    empty = Calibration("minmax", {}, {})
    empty.save(tmp_path / "plain.json")
    path = marked(tmp_path / "ranges.json", (tmp_path / "plain.json").read_text())
    assert Calibration.load(path).to_json() == empty.to_json()
