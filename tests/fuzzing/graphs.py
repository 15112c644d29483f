"""Damaged TensorFlow graphs in all forms: GraphDef, its text, and the graph IR's text."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from google.protobuf import text_format
from numlite.converter import GraphRunner, convert, load_graph
from numlite.converter.ir import (
    ImportOptions,
    export_graph_def,
    import_graph_def,
    parse_module,
    print_module,
    verify,
)
from numlite.converter.ir.graph_def_file import graph_def_of_bytes, graph_def_of_text
from numlite.converter.ir.module import Module
from numlite.converter.tfg.register import TRANSFORMS
from numlite.kernels.fallback.dtypes import numpy_dtype
from numlite.lite.errors import ModelError
from numlite.schema.graph_def import GraphDef

from tests.converter.ir_texts import LIBRARY, LOOP, REGIONS
from tests.fuzzing.graph_changes import change_graph, damaged_graph
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.messages import damaged_bytes
from tests.fuzzing.text_changes import damaged_text
from tests.shared_folder import SHARED

MAX_GRAPH_BYTES = 12_000
GRAPHS_STEP = 2
RUN_SECONDS = 3
_MOST_ELEMENTS = 1 << 16


def graph_seeds(given: Sequence[Path]) -> list[Seed]:
    """GraphDefs: the given files, else the small ones of the shared ones, and those of texts in the tests."""
    paths = (
        _files(given, ("*.pb",)) if given else sorted((SHARED / "convert").glob("graphs/*.pb"))[::GRAPHS_STEP]
    )
    if not given:
        paths += sorted((SHARED / "convert/graphir/valid").glob("*.pb"))
    found = [Seed(path.name, path.read_bytes()) for path in paths if path.stat().st_size <= MAX_GRAPH_BYTES]
    return found if given else found + list(_own_seeds())


def _files(given: Sequence[Path], patterns: Sequence[str]) -> list[Path]:
    found: list[Path] = []
    for path in given:
        found += [file for p in patterns for file in sorted(path.rglob(p))] if path.is_dir() else [path]
    return found


def _own_seeds() -> Iterator[Seed]:
    from tests.converter.execution.test_hostile import functional_graph, looping_graph

    for name, text in (("loop", LOOP), ("library", LIBRARY)):
        yield Seed(name, export_graph_def(parse_module(text)).SerializeToString(deterministic=True))
    for name, (graph, _) in (("functions", functional_graph()), ("frames", looping_graph())):
        yield Seed(name, graph.SerializeToString(deterministic=True))


def text_seeds(given: Sequence[Path]) -> list[Seed]:
    """GraphDefs in text form."""
    if given:
        return [Seed(path.name, path.read_text()) for path in _files(given, ("*.pbtxt",))]
    graphs = [seed for seed in graph_seeds(()) if len(seed.content) <= MAX_GRAPH_BYTES // 2]
    return [
        Seed(seed.name, text_format.MessageToString(GraphDef.FromString(seed.content))) for seed in graphs
    ]


def tfg_seeds(given: Sequence[Path]) -> list[Seed]:
    """Texts of the graph IR: of the shared files each part that is one, and those of the tests."""
    paths = _files(given, ("*.mlir",)) if given else sorted((SHARED / "tfg").rglob("*.mlir"))
    own = [] if given else [Seed("loop", LOOP), Seed("library", LIBRARY), Seed("regions", REGIONS)]
    parts = [
        Seed(f"{path.name} {i}", part)
        for path in paths
        for i, part in enumerate(path.read_text(errors="replace").split("// -----"))
        if len(part) <= MAX_GRAPH_BYTES
    ]
    if not given:
        parts += [
            Seed(seed.name, print_module(import_graph_def(GraphDef.FromString(seed.content))))
            for seed in _small()
        ]
    return own + parts


def _small() -> list[Seed]:
    return [seed for seed in graph_seeds(()) if len(seed.content) <= MAX_GRAPH_BYTES // 4][::3]


def damage_graph(seed: Seed, draw: random.Random) -> Mutant:
    return Mutant(damaged_graph(seed.content, draw), "damaged graph", draw=draw.getrandbits(32))


def damage_text(seed: Seed, draw: random.Random) -> Mutant:
    text = damaged_text(seed.content, draw).encode(errors="surrogateescape")
    content = damaged_bytes(text, draw) if draw.random() < 0.05 else text
    return Mutant(content, "damaged text", draw=draw.getrandbits(32))


def damage_graph_text(seed: Seed, draw: random.Random) -> Mutant:
    """Half of them are well-formed texts of damaged graphs."""
    if draw.random() < 0.5:
        return damage_text(seed, draw)
    graph = graph_def_of_text(seed.content.encode())
    change_graph(graph, draw)
    text = text_format.MessageToString(graph).encode(errors="surrogateescape")
    return Mutant(text, "damaged graph", draw=draw.getrandbits(32))


def try_graph(mutant: Mutant) -> str:
    draw = random.Random(mutant.draw)
    graph = graph_def_of_bytes(mutant.content)
    return draw.choice(_USES)(graph, draw)


def try_graph_text(mutant: Mutant) -> str:
    draw = random.Random(mutant.draw)
    graph = graph_def_of_text(mutant.content)
    return draw.choices((_round_trip, *_USES), (8, *(1 for _ in _USES)))[0](graph, draw)


def try_tfg(mutant: Mutant) -> str:
    draw = random.Random(mutant.draw)
    try:
        text = mutant.content.decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"not a text ({error})") from error
    module = parse_module(text)
    verify(module)
    print_module(module, locations=draw.random() < 0.5)
    if draw.random() < 0.5:
        _transform(module, draw)
        print_module(module)
    if draw.random() < 0.5:
        return draw.choice(_USES)(export_graph_def(module), draw)
    return "read"


def _round_trip(graph: GraphDef, draw: random.Random) -> str:
    options = ImportOptions(True, True, False, False) if draw.random() < 0.3 else None
    module = import_graph_def(graph, options)
    verify(module)
    export_graph_def(parse_module(print_module(module, locations=draw.random() < 0.5)))
    return "read"


def _transformed(graph: GraphDef, draw: random.Random) -> str:
    module = import_graph_def(graph)
    verify(module)
    _transform(module, draw)
    print_module(module)
    return "transformed"


def _transform(module: Module, draw: random.Random) -> None:
    for transform in draw.sample(TRANSFORMS, draw.choice((1, 2, 4))):
        transform.run(module)


def _converted(graph: GraphDef, draw: random.Random) -> str:
    convert(graph)
    return "converted"


def _run(graph: GraphDef, draw: random.Random) -> str:
    """Run the last nodes, whose inputs are ones."""
    runner = GraphRunner(graph)
    feeds: dict[str, np.ndarray] = {}
    for node in graph.node:
        if node.op == "Placeholder":
            array = _fed(node)
            if array is None:
                return "not run"
            feeds[node.name] = array
    used = {text.removeprefix("^").split(":")[0] for node in graph.node for text in node.input}
    ends = [node.name for node in graph.node if node.name not in used and node.op not in ("NoOp", "Assert")]
    fetches = [name for name in ends if name not in feeds][:3]
    runner.run(feeds, fetches, timeout_s=RUN_SECONDS)
    return "run"


def _fed(node: object) -> np.ndarray | None:
    attr = node.attr  # type: ignore[attr-defined]
    try:
        dtype = numpy_dtype(attr["dtype"].type)
    except (KeyError, ValueError, RuntimeError):
        return None
    shape = [max(d.size, 1) if d.size >= 0 else 2 for d in attr["shape"].shape.dim]
    if np.prod(shape, dtype=float) > _MOST_ELEMENTS:
        return None
    return np.full(shape, b"a", object) if dtype.kind in "OSU" else np.ones(shape, dtype)


def _shown(graph: GraphDef, draw: random.Random) -> str:
    """As `numlite graph` shows the file: summary, and a picture."""
    from numlite.cli.graph_dot import dot
    from numlite.cli.graph_summary import summary
    from numlite.cli.graph_svg import svg

    with tempfile.NamedTemporaryFile(suffix=".pb") as file:
        file.write(graph.SerializeToString())
        file.flush()
        summary(Path(file.name), None, None, None)
        module = load_graph(file.name)
    for body in (module.graph, *list(module.functions.values())[:3]):
        if body is not None:
            draw.choice((dot, svg))(body)
    return "shown"


_USES: tuple[Callable[[GraphDef, random.Random], str], ...] = (
    *(_round_trip, _transformed, _transformed, _converted, _converted, _run, _run, _shown),
)
_ENDINGS = frozenset({"read", "transformed", "converted", "run", "not run", "shown"})

GRAPHS = Kind("graphs", graph_seeds, damage_graph, try_graph, _ENDINGS, ".pb")
GRAPH_TEXTS = Kind("graph texts", text_seeds, damage_graph_text, try_graph_text, _ENDINGS, ".pbtxt")
TFG = Kind("tfg", tfg_seeds, damage_text, try_tfg, _ENDINGS, ".mlir")
