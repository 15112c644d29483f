"""Graphs that tests of plugins optimize."""

from __future__ import annotations

from google.protobuf import text_format
from numlite.schema.graph_def import GraphDef

GRAPH: GraphDef = text_format.Parse(
    """
    node { name: "x" op: "Placeholder" device: "/device:CPU:0"
           attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: -1 } dim { size: 4 } } } } }
    node { name: "w" op: "Const" device: "/device:CPU:0"
           attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor {
             dtype: DT_FLOAT tensor_shape { dim { size: 4 } dim { size: 3 } } float_val: 1 } } } }
    node { name: "mm" op: "MatMul" input: "x" input: "w" device: "/device:CPU:0"
           attr { key: "T" value { type: DT_FLOAT } }
           attr { key: "transpose_a" value { b: false } }
           attr { key: "transpose_b" value { b: false } } }
    node { name: "relu" op: "Relu" input: "mm" device: "/device:CPU:0"
           attr { key: "T" value { type: DT_FLOAT } } }
    """,
    GraphDef(),
)
