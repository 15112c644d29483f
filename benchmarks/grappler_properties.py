"""What GraphProperties says of graphs and of the functions in them, beside what TensorFlow says.

    python benchmarks/grappler_properties.py told --tensorflow PYTHON    # equal to what its probe is told
    python benchmarks/grappler_properties.py called --tensorflow PYTHON  # where calls are looked into
    python benchmarks/grappler_properties.py run --tensorflow PYTHON     # contradicted by no run

The graphs are the 183 nets and the graphs with functions of ../shared/convert, or those of --graphs FOLDER.
Types, shapes with symbols up to renaming, and values are compared. told asks the probe
(tests/optimizers/plugins/probe.c, for which cc must be there) twice: of feeds that are not trusted, and of
trusted ones with all flags. --names names what differs, --match keras takes graphs with it in their names,
--step 10 every tenth.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from grappler_peer import GRAPHS, Net, asked
from numlite.converter.ir import read_graph
from numlite.converter.optimizers import GraphProperties, GrapplerItem, TensorProperties
from numlite.converter.transforms.folding.tensors import array_of_constant
from numlite.kernels.fallback.tensor_proto import array_of
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.graph_def import GraphDef
from numlite.schema.op_info import OpInfo

EXTRA = GRAPHS.parent / "grappler2/extra"
PROBE = Path(__file__).resolve().parents[1] / "tests/optimizers/plugins/probe.c"
UNTRUSTED, EVERYTHING = 0, 15
Shape = Sequence[int] | None


@dataclass
class Case:
    """A graph with what is fed to it."""

    name: str
    path: Path
    feeds: list[str]
    fetches: list[str]

    def item(self, graph: GraphDef | None = None) -> GrapplerItem:
        return GrapplerItem.from_graph_def(graph or read_graph(self.path), self.feeds, self.fetches)

    def arrays(self) -> list[np.ndarray]:
        if self.path.parent == GRAPHS:
            return Net(self.name).arrays("inputs_file", "inputs")
        with np.load(self.path.with_suffix(".npz"), allow_pickle=True) as held:
            return [held[f"in{i}"] for i in range(len(self.feeds))]


def cases(arguments: argparse.Namespace) -> list[Case]:
    found = []
    if not arguments.graphs:
        for name in json.loads((GRAPHS.parent / "grappler2/placed.json").read_text()):
            net = Net(name)
            found.append(Case(name, net.path, net.feeds, net.fetches))
    folder = Path(arguments.graphs) if arguments.graphs else EXTRA
    for about in json.loads((folder / "index.json").read_text()):
        if arguments.graphs or about.get("functions"):
            path = folder / f"{about['name']}.pb"
            found.append(Case(about["name"], path, about["feeds"], about["fetches"]))
    return [case for case in found if arguments.match in case.name][:: arguments.step]


class Symbols:
    """Whether numbers of unknown sizes are TensorFlow's up to renaming."""

    def __init__(self) -> None:
        self._theirs: dict[int, int] = {}
        self._ours: dict[int, int] = {}

    def agree(self, ours: Shape, theirs: Shape) -> bool:
        if ours is None or theirs is None:
            return ours is None and theirs is None
        return len(ours) == len(theirs) and all(map(self._same, ours, theirs))

    def _same(self, ours: int, theirs: int) -> bool:
        if min(ours, theirs) >= -1 or max(ours, theirs) >= -1:
            return ours == theirs
        return self._theirs.setdefault(ours, theirs) == theirs and self._ours.setdefault(theirs, ours) == ours


def theirs_of(text: str) -> OpInfo.TensorProperties:
    return OpInfo.TensorProperties.FromString(bytes.fromhex(text))


def shape_of(told: OpInfo.TensorProperties) -> Shape:
    return None if told.shape.unknown_rank else [dim.size for dim in told.shape.dim]


def same_value(ours: TensorProperties, told: OpInfo.TensorProperties) -> bool:
    if ours.value is None or not told.HasField("value"):
        return (ours.value is None) == (not told.HasField("value"))
    mine, count = array_of_constant(ours.value, 1 << 30), ours.value.count
    try:
        wanted = array_of(told.value)
    except (ModelError, UnsupportedError):
        return mine is None and count >= 0
    return mine is not None and mine.shape == wanted.shape and mine.tobytes() == wanted.tobytes()


class Tally:
    """How many of the nodes' lists of properties are equal, by what they are of."""

    def __init__(self, names: bool) -> None:
        self.names = names
        self.equal: Counter[str] = Counter()
        self.total: Counter[str] = Counter()

    def compare(
        self, row: str, graph: str, symbols: Symbols, node: str, ours: list[TensorProperties], told: list[str]
    ) -> None:
        theirs = list(map(theirs_of, told))
        same = len(ours) == len(theirs) and all(
            a.dtype == b.dtype and symbols.agree(a.shape, shape_of(b)) and same_value(a, b)
            for a, b in zip(ours, theirs, strict=True)
        )
        self.total[row] += 1
        self.equal[row] += same
        if not same and self.names:
            shapes = [(a.shape, a.value is not None) for a in ours[:3]]
            print(graph, row, node, shapes, [(shape_of(b), b.HasField("value")) for b in theirs[:3]])

    def show(self) -> None:
        for row, total in self.total.items():
            print(f"{row:50} {self.equal[row]} of {total} equal ({100 * self.equal[row] / total:.2f} %)")
        equal, total = self.equal.total(), self.total.total()
        print(f"{'all':50} {equal} of {total} equal ({100 * equal / max(total, 1):.2f} %)")


def told(arguments: argparse.Namespace) -> None:
    chosen, tally = cases(arguments), Tally(arguments.names)
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "probe.so"))
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, str(PROBE)], check=True)
        requests = [["probe", library, str(case.path), case.fetches] for case in chosen]
        answers = asked(arguments.tensorflow, requests, folder)
    for case, answer in zip(chosen, answers, strict=True):
        if isinstance(answer, dict):
            print(case.name, answer["error"])
            continue
        log, saved = answer
        for i, (graph, properties) in enumerate(
            zip(graphs_of(bytes.fromhex(saved)), items_of(log), strict=True)
        ):
            # The plugin has no bodies of functions.
            graph.library.Clear()
            inside = [node.name for node in graph.node if node.op == "_Arg"]
            item = GrapplerItem.from_graph_def(graph, inside) if i else case.item(graph)
            for flags, lists in properties.items():
                ours, symbols = GraphProperties(item), Symbols()
                ours.infer_statically(*(bool(flags >> bit & 1) for bit in range(4)))
                of = f"{'functions' if i else 'graphs'}, flags {flags}"
                for side, node, found in lists:
                    ask = ours.output_properties if side == "out" else ours.input_properties
                    tally.compare(f"{side}puts of {of}", case.name, symbols, node, ask(node), found)
    tally.show()


def graphs_of(saved: bytes) -> Iterator[GraphDef]:
    while saved:
        length = int.from_bytes(saved[:8], "little")
        yield GraphDef.FromString(saved[8 : 8 + length])
        saved = saved[8 + length :]


def items_of(log: str) -> list[dict[int, list[tuple[str, str, list[str]]]]]:
    """Of each graph, and each flags: lists of properties by side and node."""
    items: list[dict[int, list[tuple[str, str, list[str]]]]] = []
    for line in log.splitlines():
        words = line.split(" ")
        if words[0] == "preserve":
            items.append({})
        elif words[0] == "infer":
            held = items[-1][int(words[1].removeprefix("flags="))] = []
        elif words[0] == "" and words[3] != "n=0":
            held.append((words[1], words[2], words[5:]))
    return items


def called(arguments: argparse.Namespace) -> None:
    chosen, tally = cases(arguments), Tally(arguments.names)
    with tempfile.TemporaryDirectory() as folder:
        requests = [["properties", str(case.path), case.fetches] for case in chosen]
        answers = asked(arguments.tensorflow, requests, folder)
    for case, answer in zip(chosen, answers, strict=True):
        ours, symbols = GraphProperties(case.item()), Symbols()
        ours.infer_statically(include_output_values=True)
        for node in [node for node in ours.item.nodes() if node.name in answer]:
            found = ours.output_properties(node)
            tally.compare("outputs", case.name, symbols, node.name, found, answer[node.name])
    tally.show()


def run(arguments: argparse.Namespace) -> None:
    chosen, requests = cases(arguments), []
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            feeds = Path(folder, f"{case.name}.in.npz")
            np.savez(feeds, **dict(zip(case.feeds, case.arrays(), strict=True)))
            requests.append(["sizes", str(case.path), str(feeds)])
        answers = asked(arguments.tensorflow, requests, folder)
    checked, wrong = 0, 0
    for case, answer in zip(chosen, answers, strict=True):
        if "error" in answer:
            print(case.name, answer["error"])
            continue
        for flags in (UNTRUSTED, EVERYTHING):
            properties, sizes = GraphProperties(case.item()), dict[int, int]()
            properties.infer_statically(*(bool(flags >> bit & 1) for bit in range(4)))
            for node in properties.item.nodes():
                for i, each in enumerate(properties.output_properties(node)):
                    found = answer.get(f"{node.name}:{i}")
                    if found is None or each.shape is None:
                        continue
                    checked += 1
                    if contradicts(each.shape, found, sizes):
                        wrong += 1
                        print(case.name, f"flags {flags}", node.op, node.name, each.shape, found)
    print(f"{wrong} of {checked} shapes are contradicted by TensorFlow's run")


def contradicts(shape: Sequence[int], found: Sequence[int], sizes: dict[int, int]) -> bool:
    """Whether a run has another shape; sizes of equal numbers must be equal, too."""
    if len(shape) != len(found):
        return True
    pairs = list(zip(shape, found, strict=True))
    return any(a != b if a >= 0 else a < -1 and sizes.setdefault(a, b) != b for a, b in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = {f.__name__: f for f in (told, called, run)}
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--tensorflow", metavar="PYTHON", required=True, help="a Python that has TensorFlow")
    parser.add_argument("--graphs", metavar="FOLDER", help="of graphs and an index.json")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--match", default="")
    parser.add_argument("--names", action="store_true", help="name the nodes that are not equal")
    arguments = parser.parse_args()
    kinds[arguments.what](arguments)


if __name__ == "__main__":
    main()
