"""The converter against TensorFlow's, graph by graph: what converts, what it computes, operators and bytes.

    python benchmarks/converter.py                       # the graphs that TensorFlow converts to builtins
    python benchmarks/converter.py --mode select_tf      # those it needs flex operators for (or none, all)
    python benchmarks/converter.py --match conv --markdown table.md

Needs ../shared/convert. LiteRT's column is empty where ai-edge-litert is not installed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from numlite.converter.target_spec import Settings
from numlite.lite.errors import InvokeError, ModelError, PrepareError, UnsupportedError

from tests.converter.corpus import Case, cases, run_model

_REFUSED = (ModelError, UnsupportedError, PrepareError, InvokeError)


@dataclass
class Row:
    """One graph: our operators and bytes beside TensorFlow's, and errors as multiples of the tolerance."""

    name: str
    kind: str
    operators: int = 0
    tensorflows_operators: int = 0
    size: int = 0
    tensorflows_size: int = 0
    numlite: float | None = None
    litert: float | None = None
    failure: str = ""
    histogram: str = ""

    @property
    def is_right(self) -> bool:
        return not self.failure and self.numlite is not None and self.numlite <= 1

    @property
    def is_small(self) -> bool:
        return self.operators <= self.tensorflows_operators and self.size <= self.tensorflows_size


def measured(case: Case, settings: Settings, litert: bool) -> Row:
    tensorflows = case.described["tflite"] or {"total_ops": 0, "bytes": 0, "hist": {}}
    row = Row(case.name, case.described["kind"], 0, tensorflows["total_ops"], 0, tensorflows["bytes"])
    try:
        conversion = case.convert(settings)
    except _REFUSED as error:
        row.failure = str(error)
        return row
    model = conversion.model
    codes = Counter(o.custom_code or o.code.name for g in conversion.lite.graphs() for o in g.operators)
    row.operators, row.size = codes.total(), len(model)
    row.histogram = _difference(codes, tensorflows["hist"])
    row.numlite, row.failure = _run(case, model, "numlite")
    if litert and not row.failure:
        row.litert, _ = _run(case, model, "litert")
    return row


def _run(case: Case, model: bytes, runtime: str) -> tuple[float | None, str]:
    try:
        return case.difference(run_model(model, case.arrays("inputs"), runtime)), ""
    except (*_REFUSED, RuntimeError, ValueError) as error:
        return None, f"does not run: {error}"


def _difference(ours: Counter[str], theirs: dict[str, int]) -> str:
    """Operators that only one of the two has, or has more of."""
    more, less = ours - Counter(theirs), Counter(theirs) - ours
    shown = [f"+{n} {code}" for code, n in more.items()] + [f"-{n} {code}" for code, n in less.items()]
    return ", ".join(shown)


def missing(rows: list[Row]) -> Counter[str]:
    """How many graphs each op that cannot be converted stops."""
    found: Counter[str] = Counter()
    for row in rows:
        found.update(set(re.findall(r"(?:: |; )(\w+)(?:: [^(;]*)? \(nodes? ", row.failure)))
    return found


def _shown(error: float | None) -> str:
    return "" if error is None else f"{error:.2g}"


def by_kind(rows: list[Row]) -> str:
    """Sums of each kind of graph, and the largest of our models beside TensorFlow's."""
    lines = [
        "| kind | graphs | at most TensorFlow's | operators | TensorFlow | bytes | TensorFlow | largest |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    kinds = {row.kind: [each for each in rows if each.kind == row.kind] for row in rows}
    for kind, each in [*kinds.items(), ("all", rows)]:
        largest = max(row.size / row.tensorflows_size for row in each if row.tensorflows_size)
        cells = [kind, len(each), sum(row.is_small for row in each)]
        cells += [sum(row.operators for row in each), sum(row.tensorflows_operators for row in each)]
        cells += [sum(row.size for row in each), sum(row.tensorflows_size for row in each)]
        lines.append(f"| {' | '.join(map(str, cells))} | {largest:.2f} |")
    return "\n".join(lines)


def table(rows: list[Row]) -> str:
    lines = ["| graph | operators | TensorFlow | bytes | TensorFlow | numlite error | LiteRT error |"]
    lines.append("|---|---|---|---|---|---|---|")
    for r in rows:
        cells = [r.name, r.operators, r.tensorflows_operators, r.size, r.tensorflows_size]
        cells += [r.failure[:80]] if r.failure else [_shown(r.numlite), _shown(r.litert)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def summary(rows: list[Row]) -> str:
    right = [row for row in rows if row.is_right]
    ran = [row for row in rows if not row.failure]
    lines = [f"{len(ran)} of {len(rows)} graphs convert and run, {len(right)} within the tolerance"]
    lines.append(f"{sum(row.litert is not None and row.litert <= 1 for row in ran)} in LiteRT too")
    lines.append(f"{sum(row.is_small for row in ran)} have at most TensorFlow's operators and bytes")
    for what, wrong in (
        ("off", [f"{r.name} {_shown(r.numlite)}/{_shown(r.litert)}" for r in ran if not r.is_right]),
        (
            "more operators",
            [
                f"{r.name} {r.operators} > {r.tensorflows_operators} ({r.histogram})"
                for r in ran
                if r.operators > r.tensorflows_operators
            ],
        ),
        (
            "more bytes",
            [f"{r.name} {r.size} > {r.tensorflows_size}" for r in ran if r.size > r.tensorflows_size],
        ),
    ):
        lines += [f"{what}:"] + [f"  {line}" for line in wrong]
    lines.append("ops that stop graphs: " + ", ".join(f"{op} {n}" for op, n in missing(rows).most_common()))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--mode", default="builtins", help="builtins, select_tf, none or all")
    parser.add_argument("--match", default="", help="only graphs with this in their name")
    parser.add_argument("--failures", action="store_true", help="print why graphs do not convert")
    parser.add_argument("--markdown", type=Path, help="write the whole table to this file")
    parser.add_argument(
        "--passing", type=Path, help="write the names of the graphs that both runtimes get right"
    )
    arguments = parser.parse_args()
    chosen = [
        case for case in cases() if arguments.mode in ("all", case.mode) and arguments.match in case.name
    ]
    litert = _has_litert()
    rows = [measured(case, _settings(case), litert) for case in chosen]
    if arguments.markdown:
        arguments.markdown.write_text(f"{by_kind(rows)}\n\n{table(rows)}\n")
    if arguments.passing:
        passing = [row.name for row in rows if row.is_right and (row.litert is None or row.litert <= 1)]
        arguments.passing.write_text("\n".join(passing) + "\n")
    if arguments.failures:
        print("\n".join(f"{row.name}: {row.failure}" for row in rows if row.failure))
    print(summary(rows))


def _settings(case: Case) -> Settings:
    """What TensorFlow's converter was allowed; ops that it refuses altogether run as flex operators."""
    if case.mode == "builtins":
        return Settings()
    user_ops = case.described["tf_ops"] if case.mode == "none" else ()
    return Settings(select=True, user_ops=frozenset(user_ops))


def _has_litert() -> bool:
    try:
        import ai_edge_litert.interpreter  # noqa: F401
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
