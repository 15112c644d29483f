"""GrapplerItem: what it is made of, and what it preserves."""

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.optimizers import GrapplerItem
from numlite.converter.optimizers.item import device_type
from numlite.lite.errors import ModelError
from numlite.schema.graph_def import GraphDef
from numlite.schema.saved_model import MetaGraphDef


def graph() -> GraphDef:
    builder = GraphBuilder()
    x = builder.placeholder("x", [2, 3])
    y = builder.node("Neg", "y", x)
    builder.node("Exp", "z", y)
    builder.constant("c", np.zeros(2, np.float32))
    return builder.graph_def


def test_preserved_nodes_are_those_that_anything_names() -> None:
    item = GrapplerItem.from_graph_def(graph(), ["x:0"], ["z:0"], ["c"])
    assert item.nodes_to_preserve() == {"x", "z", "c"}
    assert item.fetch_nodes() == {"z"}
    assert item.fetches == ("z:0",)


def test_a_name_of_no_node_is_refused() -> None:
    with pytest.raises(ModelError, match=r"preserved nodes must be in the graph, got \['w'\]"):
        GrapplerItem.from_graph_def(graph(), ["x"], ["w:0"])


def test_collections_of_a_meta_graph_say_what_is_fetched() -> None:
    meta = MetaGraphDef(graph_def=graph())
    entry = meta.collection_def.add(key="train_op")
    entry.value.node_list.value.append("y")
    item = GrapplerItem.from_meta_graph(meta)
    assert item.feeds == ("x",) and item.fetches == ("y",)


def test_a_meta_graph_without_fetches_is_refused() -> None:
    with pytest.raises(ModelError, match="must have a collection train_op or signatures"):
        GrapplerItem.from_meta_graph(MetaGraphDef(graph_def=graph()))


def test_a_clone_shares_nothing() -> None:
    item = GrapplerItem.from_graph_def(graph(), ["x"], ["z"])
    copy = item.clone()
    next(copy.nodes()).name = "other"
    assert [node.name for node in item.nodes()] == ["x", "y", "z", "c"]


@pytest.mark.parametrize(
    ("device", "kind"),
    [
        ("/job:localhost/replica:0/task:0/device:CPU:0", "CPU"),
        ("/gpu:1", "GPU"),
        ("/device:XPU:0", "XPU"),
        ("/job:a/task:1", ""),
        ("", ""),
    ],
)
def test_types_of_devices(device: str, kind: str) -> None:
    assert device_type(device) == kind


def test_a_node_without_device_is_on_the_cpu() -> None:
    made = graph()
    made.node[1].device = "/device:MY_NPU:0"
    assert GrapplerItem.from_graph_def(made, ["x"], ["z"]).device_types() == {"CPU", "MY_NPU"}
