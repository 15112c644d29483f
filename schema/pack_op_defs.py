"""Makes op_defs.bin: `python -m numlite.schema.pack_op_defs ops.pb` (a serialized OpList)."""

from __future__ import annotations

import sys
from pathlib import Path

from google.protobuf import text_format

from .graph_def import OpDef, OpList
from .op_defs import DATA_FILE, packed

# Ops of TensorFlow's own making, which it does not list.
INTERNAL = """
op {
  name: "_Arg"
  output_arg { name: "output" type_attr: "T" }
  attr { name: "T" type: "type" }
  attr { name: "index" type: "int" has_minimum: true }
  is_stateful: true
}
op {
  name: "_Retval"
  input_arg { name: "input" type_attr: "T" }
  attr { name: "T" type: "type" }
  attr { name: "index" type: "int" has_minimum: true }
  is_stateful: true
}
op {
  name: "_SwitchN"
  input_arg { name: "data" type_attr: "T" }
  input_arg { name: "output_index" type: DT_INT32 }
  output_arg { name: "outputs" type_attr: "T" number_attr: "num_outs" }
  attr { name: "num_outs" type: "int" has_minimum: true minimum: 1 }
  attr { name: "T" type: "type" }
}
op {
  name: "_CopyFromGpuToHost"
  input_arg { name: "input" type_attr: "T" }
  output_arg { name: "output" type_attr: "T" }
  attr { name: "T" type: "type" }
}
op {
  name: "_CopyFromHostToGpu"
  input_arg { name: "input" type_attr: "T" }
  output_arg { name: "output" type_attr: "T" }
  attr { name: "T" type: "type" }
}
"""


def without_prose(op: OpDef) -> OpDef:
    """The op without its documentation."""
    op.ClearField("summary")
    op.ClearField("description")
    for part in (*op.input_arg, *op.output_arg, *op.attr):
        part.ClearField("description")
    return op


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    ops = OpList.FromString(Path(sys.argv[1]).read_bytes())
    internal = text_format.Parse(INTERNAL, OpList())
    found = {op.name: without_prose(op) for op in (*internal.op, *ops.op)}
    DATA_FILE.write_bytes(packed(OpList(op=[found[name] for name in sorted(found)])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
