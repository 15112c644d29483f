"""Import of TensorFlow's own test files: the text that comes out, and the errors."""

from __future__ import annotations

import pytest
from numlite.converter.ir import import_graph_def, print_module, read_graph
from numlite.converter.ir.import_options import TENSORFLOW
from numlite.lite.errors import ModelError, UnsupportedError

from .file_check import file_check
from .shared_files import GRAPHIR, TFG, graphir_entries, needs_graphir, needs_tfg, tfg_entry, tfg_files


@needs_tfg
@pytest.mark.parametrize("file", tfg_files("import"))
def test_import(file: str) -> None:
    module = import_graph_def(read_graph(TFG / file), TENSORFLOW)
    file_check(print_module(module), (TFG / file).read_text(encoding="utf-8"))


@needs_tfg
@pytest.mark.parametrize("file", tfg_files("invalid", "graphdef_to_mlir"))
def test_invalid(file: str) -> None:
    with pytest.raises((ModelError, UnsupportedError)) as caught:
        import_graph_def(read_graph(TFG / file), TENSORFLOW)
    file_check(str(caught.value), (TFG / file).read_text(encoding="utf-8"))
    assert tfg_entry(file)["expected_errors"]


@needs_graphir
@pytest.mark.parametrize("entry", graphir_entries(valid=False), ids=lambda entry: entry["name"])
def test_invalid_graphs_name_the_node(entry: dict[str, str]) -> None:
    with pytest.raises((ModelError, UnsupportedError)) as caught:
        import_graph_def(read_graph(GRAPHIR / entry["file"]))
    assert entry["node"] is None or f"{entry['node']}" in str(caught.value)
