"""docs/options.md says what the schema says, and nodes have what it says."""

from __future__ import annotations

import numlite
from numlite.delegates import DelegateContext, Node, Registration, SimpleDelegate
from numlite.schema import tflite

from .model_builder import ModelBuilder
from .operator_options import PATH, fields, text


def test_the_page_of_options_is_fresh() -> None:
    assert PATH.read_text() == text(), "stale: run python -m tests.operator_options"


def test_every_field_of_the_reader_is_there_and_no_other() -> None:
    known = fields()
    for table in (*tflite.UNIONS["BuiltinOptions"], *tflite.UNIONS["BuiltinOptions2"]):
        assert [name for name, _, _ in known[table]] == [field[0] for field in tflite.TABLES[table]], table


def test_a_delegate_reads_what_the_page_says() -> None:
    seen: list[dict[str, int]] = []

    class Reading(SimpleDelegate):
        def is_node_supported(
            self, context: DelegateContext, node: Node, registration: Registration
        ) -> bool | str:
            names = [name for name, _, _ in fields()["Pool2DOptions"]]
            seen.append({name: int(getattr(node.options, name)) for name in names})
            return "only read"

    model = ModelBuilder()
    x, y = model.tensor((1, 4, 4, 1)), model.tensor((1, 2, 2, 1))
    options = tflite.Pool2DOptionsT(padding=1, stride_w=2, stride_h=2, filter_width=2, filter_height=2)
    model.op(tflite.BuiltinOperator.MAX_POOL_2D, [x], [y], options)
    numlite.Interpreter(model_content=model.build([x], [y]), experimental_delegates=[Reading()])
    assert seen == [
        {
            **{"padding": 1, "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2},
            "fused_activation_function": 0,
        }
    ]
