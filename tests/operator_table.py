"""Makes docs/operators.md from the registry and the cases: python -m tests.operator_table.

What the table says of an operator was seen, not declared: each case's model is built and
prepared, and its nodes tell their types and whether they run compiled or in Python.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from numlite.interpreter import Interpreter
from numlite.kernels.register import FAMILIES, registrations
from numlite.lite.node import Node
from numlite.lite.registration import Registration
from numlite.lite.subgraph import Subgraph
from numlite.lite.tensor import TensorType

from .cases.case import (
    EXACT,
    RESOLVERS,
    Case,
    Close,
    Closeness,
    Dies,
    Differs,
    Exact,
    Quanta,
    Refuses,
    Relation,
    largest_difference,
)
from .test_cases import CASES, REPLAYS, numlite_outputs

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

NUMERICS = """
## Where the default is not the reference

LiteRT's default (XNNPACK) and its reference kernels round some quantized results differently: XNNPACK
requantizes in float32, half to even, where the reference takes fixed-point forms, and LOGISTIC and TANH of
int16 interpolate in tables. numlite's default is the first and its BUILTIN_REF the second, byte for byte.
Of these operators' cases with integer results, some differ between the two:

"""

DIFFERENCES = """
## Where results are not LiteRT's

"Equal to LiteRT" means LiteRT on x86-64, on every machine. Its ARM form differs from that in seven kinds of
cases, which are not copied: CONV_2D of packed int4 (int8 results, by 1), TRANSPOSE_CONV of uint8 (by 1, as
its reference has it), LSTM and LOG of int16 (by 1: another C library), LOG of infinity (88.4, as on
x86-64 without AVX-512), uint8 networks whose sums it requantizes otherwise (MobileNetV2: 13 of 1001 values by
up to 2); and with BUILTIN_REF RESIZE_BILINEAR of uint8 and SUM of int16, whose sums overflow.

- SUM of int8 with BUILTIN_REF: LiteRT returns one constant for all outputs; numlite returns the sums.
- BATCH_MATMUL of int8 or int16 by int8 weights with a scale for each output channel (dimension 1 of a
  matrix, or of batches with adj_y): LiteRT's result is the zero point throughout; numlite's is the product.
  So it is with scales along the dimension that is summed over.
- A result that the file declares of another type than the operator gives: the operator's type counts in
  both. Where LiteRT leaves the declared type (MUL, REDUCE_MAX), it gives no result, and numlite refuses.
- LOCAL_RESPONSE_NORMALIZATION with BUILTIN_REF: LiteRT's reference leaves out the window's last element;
  numlite computes the default path's values in both numerics.
- ADD, SUB and MUL of int8 and uint8 that XNNPACK does not take (scales too far apart, TANH): LiteRT's vector
  code wraps around at 16 bits, so that results far outside come out at the wrong end; numlite's are kept.
  Where the second operand is one constant element of more dimensions than the first, and the activation is a
  clamp, LiteRT's result has the first one's shape.
- int16 convolutions and products whose results lie beyond int32 steps wrap around in LiteRT.
- MUL of uint32 with RELU_N1_TO_1: LiteRT takes -1 for the largest number, and gives 1 throughout.
- Scales of activations that are infinite or NaN are refused. LiteRT makes an integer of what is infinite,
  which C++ leaves undefined: its results are zero points, or whatever the processor gives.
- Float operands by int8 weights that hold -128, or int4 weights that hold -8, where XNNPACK does not take the
  node: LiteRT's vector code loses the sign of their products. BATCH_MATMUL of floats by int8 that is no
  constant: LiteRT's default gives zeros; with BUILTIN_REF and batches that broadcast, it scales all by the
  first ones' factors, and with rows quantized asymmetrically it keeps the first run's sums of int8 that
  changes; its default does so with sums of hybrid CONV_2D's filters. Hybrid DEPTHWISE_CONV_2D with one scale:
  LiteRT reads one for each channel. FULLY_CONNECTED of floats by int8 whose zero point is not 0 is an error,
  where LiteRT's reference leaves the zero point out.
- STRIDED_SLICE with `offset` whose sizes leave the input: LiteRT reads and writes outside; numlite cuts them.
  REVERSE_SEQUENCE with lengths behind the end: an error, where LiteRT reads on.
- SQRT and RSQRT of int8 and int16: LiteRT fails for negative values; numlite gives the zero point and the
  highest value.
- SEGMENT_SUM whose ids leave numbers out, or begin above 0: LiteRT fails; numlite gives zeros for the
  segments that no id names, as TensorFlow does.
- MATRIX_DIAG and MATRIX_SET_DIAG of float16, float64, complex64, uint16 and uint64: LiteRT moves elements of
  the wrong size. GATHER of packed rows that are no whole bytes: LiteRT begins at a byte.
- PRELU of int16 with int16 slopes: LiteRT reads them as int8. ATAN2 of operands that broadcast: LiteRT reads
  behind the smaller one.
- Floats near the ends of their range: XNNPACK's EXP, LOG, SIN, COS, SQRT, and RSQRT of 0 give NaN or other
  values; numlite's are right. Sums that overflow may do so in another order. ARG_MAX and ARG_MIN along the
  last axis: LiteRT's vector code loses numbers that stand beside NaN; numlite passes over NaN, as LiteRT does
  along other axes. REDUCE_MAX and REDUCE_MIN of rows in which a number is NaN: XNNPACK gives NaN, the largest
  of what stands behind it, or of all others, by its place in the vectors of the machine, so that other
  machines have other results; numlite's follow its own vectors. They are equal in LiteRT's reference
  arithmetic, and where the last axis is kept.
- SUM and REDUCE_PROD of quantized tensors without elements: LiteRT leaves the result unwritten; numlite gives
  the stored 0 and 1.
- QUANTIZE of floats beyond int32 steps or NaN: undefined in C++; numlite saturates. UNIQUE of NaN:
  LiteRT's map puts it anywhere. MAX_POOL_2D, MAXIMUM and MINIMUM of NaN: which of a number and NaN is
  the larger hangs on their order in both. Rows of floats with NaN by weights of 8 bits or fewer:
  integers have no form for it, and what is the largest beside it hangs on the order, too.
  LOCAL_RESPONSE_NORMALIZATION: LiteRT has a window's sum from the one before it, in which NaN stays.
- RFFT2D to width 1: LiteRT transforms no columns. BATCH_MATMUL of float32 by int8 with adj_x: LiteRT's
  default gives zeros. DEPTHWISE_CONV_2D of int16 by int4: LiteRT reads packed weights as int8. int16 with
  int32 biases that the options do not name: LiteRT reads them as int64.
- BIDIRECTIONAL_SEQUENCE_LSTM, batch-major with merged outputs: of LiteRT the last entry of a batch is wrong.
  LSTM of int8 with peepholes and more outputs than cells: LiteRT reads behind the peephole weights from the
  second entry of a step on; numlite takes each cell's own.
- BIDIRECTIONAL_SEQUENCE_RNN with an auxiliary input of another depth: LiteRT steps through it by the
  input's depth.
- DEPTHWISE_CONV_2D of int8 that XNNPACK does not take (packed weights, weights given while running):
  of LiteRT's default some channels differ by 1: it rounds those behind the last eight otherwise.
- STRIDED_SLICE that shrinks an axis with a negative stride: LiteRT leaves the result unwritten. READ_VARIABLE
  of a variable that became larger or smaller: LiteRT keeps the size that it had when shapes were made.
- STRIDED_SLICE with an ellipsis that stands for no axis: LiteRT gives it one, and drops the last entry.
- STABLEHLO_SHIFT_LEFT by the type's width or more: the processor's in LiteRT; numlite gives 0.
- float16, default: XNNPACK rounds to float16 within operators such as EXP, LOGISTIC and SOFTMAX; numlite
  computes in float32 and rounds once, so the last bits can differ.

LiteRT's default REDUCE_MAX and REDUCE_MIN of int8 and uint8 give the stored extremum even where input and
output have other scales, and its reference refuses these; numlite does the same in each numerics.

Cases assert these, too, and fail when LiteRT begins to agree (`python -m tests.litert_relations` says by
how much):

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
}
# From what says nothing of closeness to the loosest.
_ORDER = ("-", "refuses", "dies", "exact", "within", "close", "differs")


@dataclass
class Row:
    """What the cases of one operator with one combination of types show.

    inexact are those that are held loosely though nothing is scaled anew.
    """

    runs: set[str] = field(default_factory=set)
    oracle: set[str] = field(default_factory=set)
    litert_default: set[str] = field(default_factory=set)
    litert_reference: set[str] = field(default_factory=set)
    inexact: list[str] = field(default_factory=list)


Rows = dict[str, dict[str, Row]]


def kinds(subgraph: Subgraph, indices: tuple[int, ...]) -> str:
    """The types of some tensors, each once, in order."""
    names = [TensorType(subgraph.tensors[t].type).name.lower() for t in indices if t >= 0]
    return " ".join(dict.fromkeys(names)) or "nothing"


def how_close(relation: Relation | None, floats: bool, otherwise: Closeness | Differs) -> str:
    if relation is None:
        relation = otherwise if floats else EXACT
    if isinstance(relation, Quanta):
        return f"within {relation.n}"
    return _WORDS[type(relation)]


def is_scaled(subgraph: Subgraph, node: Node) -> bool:
    """Whether a node's operands and results have several scales."""
    scales = {
        quantization.scales.tobytes()
        for t in (*node.inputs, *node.outputs)
        if t >= 0 and (quantization := subgraph.tensors[t].quantization) is not None
    }
    return len(scales) > 1


def see(case: Case, rows: Rows) -> None:
    """Add what a case's nodes show by default; of a named operator's case, no other nodes' closeness."""
    if not case.runs("default"):
        return
    interpreter = Interpreter(model_content=case.make(), num_threads=case.num_threads)
    for detail, value in zip(interpreter.get_input_details(), case.inputs, strict=True):
        if tuple(detail["shape"]) != value.shape:
            interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    subgraph = interpreter._core.subgraph(0)
    floats = any(
        d["dtype"]().dtype.kind in "fc" for d in interpreter.get_output_details() if d["dtype"] is not object
    )
    named = case.id.partition("-")[0]
    is_named = any(node.registration.name == named for node in subgraph.nodes)
    for node in subgraph.nodes:
        row = rows[node.registration.name][
            f"{kinds(subgraph, node.inputs)} -> {kinds(subgraph, node.outputs)}"
        ]
        row.runs.add("Python" if node.calls is None else "compiled" if node.calls else "known")
        if is_named and node.registration.name != named:
            continue
        if case.oracle is not None:
            row.oracle.add(how_close(case.closeness, floats, case.closeness))
            if not isinstance(case.closeness, Exact | Differs) and not is_scaled(subgraph, node):
                row.inexact.append(case.id)
        row.litert_default.add(how_close(case.litert_default, floats, case.closeness))
        row.litert_reference.add(how_close(case.litert_reference, floats, case.closeness))


@cache
def seen() -> Rows:
    """What all cases show, by operator and types."""
    rows: Rows = defaultdict(lambda: defaultdict(Row))
    for case in CASES.values():
        see(case, rows)
    return rows


def apart(case: Case) -> float | None:
    """How far the two numerics' integers are apart; None where there are none to compare."""
    if not all(map(case.runs, RESOLVERS)):
        return None
    default, reference = (numlite_outputs(case.id, numerics) for numerics in RESOLVERS)
    if any(y.dtype.kind not in "iu" for y in default):
        return None
    return largest_difference(default, reference)


def numerics_lines() -> list[str]:
    """The operators whose default results are not the reference's, with figures from their cases."""
    found: dict[str, list[float]] = defaultdict(list)
    for case in CASES.values():
        difference = apart(case)
        if difference is not None:
            found[operator_of(case)].append(difference)
    lines = ["| operator | cases | differ | by up to |", "|---|---|---|---|"]
    for name, each in sorted(found.items()):
        if any(each):
            lines.append(f"| {name} | {len(each)} | {sum(map(bool, each))} | {max(each):g} |")
    return lines


def operator_of(case: Case) -> str:
    """The name of the operator that a case's model consists of, of the last one where it has several."""
    subgraph = Interpreter(model_content=case.make())._core.subgraph(0)
    names = [node.registration.name for node in subgraph.nodes]
    named = case.id.partition("-")[0]
    return named if named in names else names[-1]


def reasons() -> list[str]:
    """Why results are not LiteRT's, or no one's by the definition, and in how many cases."""
    found: Counter[str] = Counter()
    for case_id, numerics in REPLAYS:
        case = CASES[case_id]
        for relation in (case.relation(numerics), case.closeness):
            if isinstance(relation, Differs):
                found[relation.reason] += 1
    return [f"- {reason} (comparisons: {n})" for reason, n in sorted(found.items())]


def loosest(seen: set[str]) -> str:
    """What holds of all cases that are compared; else what hinders it."""
    return max(seen, key=_looseness, default="-")


def _looseness(text: str) -> tuple[int, int]:
    word, _, n = text.partition(" ")
    return _ORDER.index(word), int(n or 0)


def lines() -> list[str]:
    rows = seen()
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
    parts = (HEADER, lines(), NUMERICS, numerics_lines(), DIFFERENCES, reasons())
    return "".join(part if isinstance(part, str) else "\n".join(part) + "\n" for part in parts)


if __name__ == "__main__":
    temporary = PATH.with_suffix(".tmp")
    temporary.write_text(text())
    os.replace(temporary, PATH)
