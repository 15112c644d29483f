"""convert-model with and without --optimize, on the graphs that TensorFlow converts to builtins.

    python benchmarks/optimized_conversion.py                 # operators, bytes and outputs of all levels
    python benchmarks/optimized_conversion.py --match keras --names

Needs ../shared/convert. Outputs are compared with TensorFlow's own, within the data's tolerance.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from numlite import Interpreter
from numlite.converter import read_graph
from numlite.converter.converter import Converter
from numlite.converter.graph_optimization import LEVELS

from tests.converter.corpus import FOLDER, Case, cases, run_model


def converted(case: Case, level: str) -> bytes:
    d = case.described
    inputs, outputs = ([tensor["name"] for tensor in d[side]] for side in ("inputs", "outputs"))
    shapes = {tensor["name"]: tensor["sig_shape"] for tensor in d["inputs"]}
    converter = Converter.from_graph_def(read_graph(FOLDER / d["graph"]), inputs, outputs, shapes)
    converter.graph_optimizations = level
    return bytes(converter.convert())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--match", default="", help="only graphs with this in their names")
    parser.add_argument("--names", action="store_true", help="name the graphs that become smaller")
    arguments = parser.parse_args()
    chosen = [case for case in cases("builtins") if arguments.match in case.name]
    plain: dict[str, tuple[int, int]] = {}
    for level in LEVELS:
        operators = size = right = larger = smaller = 0
        start = time.process_time()
        for case in chosen:
            model = converted(case, level)
            held = len(Interpreter(model_content=model)._get_ops_details()), len(model)
            operators, size = operators + held[0], size + held[1]
            right += case.difference(run_model(model, case.arrays("inputs"), "numlite")) <= 1
            before = plain.setdefault(case.name, held)
            larger += held[0] > before[0] or held[1] > before[1]
            smaller += held < before
            if held < before and arguments.names:
                print(f"    {case.name}: {before} -> {held}")
        seconds = time.process_time() - start
        print(f"{level:10} {len(chosen)} graphs, {operators} operators, {size} bytes", end="; ")
        print(f"{right} give TensorFlow's outputs; smaller {smaller}, larger {larger}; {seconds:.0f} s")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
