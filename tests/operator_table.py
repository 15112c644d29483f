"""Makes docs/operators.md from the registry and the cases: python -m tests.operator_table.

What the table says of an operator was seen, not declared: each case's model is built and
prepared, and its nodes tell their types and whether they run compiled or in Python.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from numlite.interpreter import Interpreter
from numlite.kernels.register import FAMILIES, registrations
from numlite.lite.registration import Registration
from numlite.lite.subgraph import Subgraph
from numlite.lite.tensor import TensorType

from .cases.case import EXACT, Case, Close, Closeness, Dies, Differs, Exact, Quanta, Refuses, Relation, Skip
from .test_cases import CASES

PATH = Path(__file__).parent.parent / "docs" / "operators.md"

HEADER = """# Operators

Made by `python -m tests.operator_table` from the registry and the cases in `tests/cases`; a test says
when it is stale.

One line for each operator, its versions, and each combination of types that a case runs (`inputs ->
outputs`, repeated types once). *Runs*: `compiled` when the node is a native call, `Python` when an output's
shape depends on values or no kernel is compiled for the type, `known` when prepare computes the result from
constants. The last three columns give the loosest way in which outputs of these types are held against the
NumPy oracle (in both numerics), LiteRT's default path and LiteRT's reference kernels: `exact` (every bit),
`within n` (integers), `close` (floats, to the case's tolerance), `differs` (asserted: LiteRT gives something
else in one case at least), `refuses` or `dies` where LiteRT runs none of the cases, `-` where nothing is
compared.
`python -m tests.litert_relations` lists what LiteRT refuses, and what differs and why.

"""

DIFFERENCES = """
## Where the default is not the reference

LiteRT's default (XNNPACK) and its reference kernels round some quantized results differently; numlite's
default is the first, byte for byte (1617 integer outputs of the shared corpus, none differs), and its
BUILTIN_REF the second. So the default differs from the corpus's reference outputs in 42 of its 462 quantized
cases, by 1 but for two: CONV_2D 8, DEPTHWISE_CONV_2D 5, TRANSPOSE_CONV 2, int4 weights 3, networks 3 (one
by up to 6): XNNPACK requantizes in float32, half to even. Operators of uint8 11, QUANTIZE 4, LEAKY_RELU 2,
MEAN 1, LOGISTIC of int8 1 and RESIZE_BILINEAR 1: other fixed-point forms. LOGISTIC of int16 1, by up to 6: by
tables. BUILTIN_REF differs in 1 of 462: SUM, below.

## Where results are not LiteRT's

- SUM of int8 with BUILTIN_REF: LiteRT returns one constant for all outputs; numlite returns the sums.
- BATCH_MATMUL of int8 or int16 by int8 weights with a scale for each output channel (dimension 1 of a
  matrix, or of batches with adj_y): LiteRT's result is the zero point throughout; numlite's is the product.
  So it is with scales along the dimension that is summed over.
- A result that the file declares of another type than the operator gives: the operator's type counts in
  both. Where LiteRT leaves the declared type (MUL, REDUCE_MAX), it gives no result, and numlite refuses.
- LOCAL_RESPONSE_NORMALIZATION with BUILTIN_REF: LiteRT's reference leaves out the window's last element;
  numlite computes the default path's values in both numerics.
- RESIZE_BILINEAR of uint8 whose size is known only while running: reference arithmetic in both numerics;
  about 0.1 % of the elements differ by 1 from LiteRT's default.
- SQRT and RSQRT of int8 and int16: LiteRT fails for negative values; numlite gives the zero point and the
  highest value.
- SEGMENT_SUM whose ids leave numbers out, or begin above 0: LiteRT fails; numlite gives zeros for the
  segments that no id names, as TensorFlow does.
- MATRIX_DIAG and MATRIX_SET_DIAG of float16, float64, complex64, uint16 and uint64: LiteRT moves elements of
  the wrong size. GATHER of packed rows that are no whole bytes: LiteRT begins at a byte.
- PRELU of int16 with int16 slopes: LiteRT reads them as int8. ATAN2 of operands that broadcast: LiteRT reads
  behind the smaller one.
- Floats near the ends of their range: XNNPACK's EXP, LOG, SIN, COS, SQRT, and RSQRT of 0 give NaN or other
  values; numlite's are right. Sums that overflow may do so in another order. LiteRT's own kernels (DIV by 0
  with BUILTIN_REF) bound infinities to the largest float32; numlite leaves them.
- QUANTIZE of floats beyond int32 steps: undefined in C++; numlite saturates. UNIQUE of NaN: LiteRT's map
  puts it anywhere.
- RFFT2D to width 1: LiteRT transforms no columns. BATCH_MATMUL of float32 by int8 with adj_x: LiteRT's
  default gives zeros. DEPTHWISE_CONV_2D of int16 by int4: LiteRT reads packed weights as int8. int16 with
  int32 biases that the options do not name: LiteRT reads them as int64.
- BIDIRECTIONAL_SEQUENCE_RNN with an auxiliary input of another depth: LiteRT steps through it by the
  input's depth.
- DEPTHWISE_CONV_2D of int8 that XNNPACK does not take (packed weights, weights given while running):
  of LiteRT's default some channels differ by 1: it rounds those behind the last eight otherwise.
- STRIDED_SLICE with an ellipsis that stands for no axis: LiteRT gives it one, and drops the last entry.
- STABLEHLO_SHIFT_LEFT by the type's width or more: the processor's in LiteRT; numlite gives 0.
- float16, default: XNNPACK rounds to float16 within operators such as EXP, LOGISTIC and SOFTMAX; numlite
  computes in float32 and rounds once, so the last bits can differ.

LiteRT's default REDUCE_MAX and REDUCE_MIN of int8 and uint8 give the stored extremum even where input and
output have other scales, and its reference refuses these; numlite does the same in each numerics.
"""

FLOATS = {
    TensorType[name] for name in ("FLOAT16", "FLOAT32", "FLOAT64", "COMPLEX64", "COMPLEX128", "BFLOAT16")
}


_WORDS: dict[type, str] = {
    Exact: "exact",
    Close: "close",
    Differs: "differs",
    Refuses: "refuses",
    Dies: "dies",
    Skip: "-",
}
# From what says nothing of closeness to the loosest.
_ORDER = ("-", "refuses", "dies", "exact", "within", "close", "differs")


@dataclass
class Row:
    """What the cases of one operator with one combination of types show."""

    runs: set[str] = field(default_factory=set)
    oracle: set[str] = field(default_factory=set)
    litert_default: set[str] = field(default_factory=set)
    litert_reference: set[str] = field(default_factory=set)


def kinds(subgraph: Subgraph, indices: tuple[int, ...]) -> str:
    """The types of some tensors, each once, in order."""
    names = [TensorType(subgraph.tensors[t].type).name.lower() for t in indices if t >= 0]
    return " ".join(dict.fromkeys(names)) or "nothing"


def how_close(relation: Relation | Skip | None, floats: bool, otherwise: Closeness | Skip) -> str:
    if relation is None:
        relation = otherwise if floats else EXACT
    if isinstance(relation, Quanta):
        return f"within {relation.n}"
    return _WORDS[type(relation)]


def see(case: Case, rows: dict[str, dict[str, Row]]) -> None:
    """Add what the nodes of one case show."""
    interpreter = Interpreter(model_content=case.make(), num_threads=case.num_threads)
    for detail, value in zip(interpreter.get_input_details(), case.inputs, strict=True):
        if tuple(detail["shape"]) != value.shape:
            interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    subgraph = interpreter._core.subgraph(0)
    floats = any(
        d["dtype"]().dtype.kind in "fc" for d in interpreter.get_output_details() if d["dtype"] is not object
    )
    for node in subgraph.nodes:
        row = rows[node.registration.name][
            f"{kinds(subgraph, node.inputs)} -> {kinds(subgraph, node.outputs)}"
        ]
        row.runs.add("Python" if node.calls is None else "compiled" if node.calls else "known")
        if case.oracle is not None:
            row.oracle.add(how_close(case.closeness, floats, case.closeness))
        row.litert_default.add(how_close(case.litert_default, floats, case.closeness))
        row.litert_reference.add(how_close(case.litert_reference, floats, case.closeness))


def loosest(seen: set[str]) -> str:
    """What holds of all cases that are compared; else what hinders it."""
    return max(seen, key=_looseness, default="-")


def _looseness(text: str) -> tuple[int, int]:
    word, _, n = text.partition(" ")
    return _ORDER.index(word), int(n or 0)


def lines() -> list[str]:
    rows: dict[str, dict[str, Row]] = defaultdict(lambda: defaultdict(Row))
    for case in CASES.values():
        see(case, rows)
    found: dict[str, Registration] = {r.name: r for family in FAMILIES for r in registrations(family)}
    table = [
        "| operator | versions | types | runs | oracle | LiteRT default | LiteRT reference |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in sorted(found):
        versions = f"{found[name].min_version}-{found[name].max_version}"
        for types, row in sorted(rows[name].items()) or [("no case", Row())]:
            checks = (row.oracle, row.litert_default, row.litert_reference)
            cells = (name, versions, types, ", ".join(sorted(row.runs)), *map(loosest, checks))
            table.append(f"| {' | '.join(cells)} |")
    table.append("")
    table.append(
        f"{len(found)} builtin operators, {sum(map(len, rows.values()))} combinations of types with a case."
    )
    return table


def text() -> str:
    return HEADER + "\n".join(lines()) + "\n" + DIFFERENCES


if __name__ == "__main__":
    temporary = PATH.with_suffix(".tmp")
    temporary.write_text(text())
    os.replace(temporary, PATH)
