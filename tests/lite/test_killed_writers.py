"""kill -9 at any moment of writing: what is found is an old file or a new one, and later writers work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

LIMIT_S = 300  # a child that has not ended by then is killed

# write(n) writes contents[n % 2]; what found() gives is compared with them.
START = """
import os, random, select, signal, sys, time
from pathlib import Path
import numpy as np
folder, count = Path(sys.argv[1]), int(sys.argv[2])
contents = [bytes([n + 1]) * (2 << 20) for n in range(2)]
"""

WRITERS = {
    "kernels": """
from numlite.kernels.compiled.driver import cache
cache.cache_directory = lambda: str(folder)
write = lambda n: cache.write("conv", "0" * 32, contents[n % 2])
found = lambda: cache.read("conv", "0" * 32)
""",
    "serialization": """
from numlite.delegates.serialization import SerializationEntry
entry = SerializationEntry(folder / "entry.bin", 12)
write = lambda n: entry.set_data(contents[n % 2])
found = entry.get_data
""",
    "cubins": """
from numlite.delegates.cuda.compile import CubinStore
from numlite.delegates.cuda.cubin import Cubin
from numlite.delegates.cuda.launch import Kernel
cubins = [Cubin(content, "kernel", 0, 4, 2) for content in contents]
contents = [cubin.pack() for cubin in cubins]
CubinStore._path = lambda self, kernel: folder / "kernel-0.cubin"
kernel = Kernel("elementwise.cu", "kernel", (), ())
def write(n):
    CubinStore(90, folder)._keep(kernel, cubins[n % 2])
def found():
    cubin = CubinStore(90, folder)._found(kernel)
    return cubin and cubin.pack()
""",
    "prepared models": """
from numlite.lite import prepared_models as module
from numlite.lite.whole_file import publish
path = str(folder / "prepared-0.bin")
write = lambda n: publish(path, contents[n % 2][:1 << 20], contents[n % 2][1 << 20:])
def found():
    handle = module.open_private(path)
    if handle is None:
        return None
    with open(handle, "rb") as file:
        return file.read()
""",
    "npz": """
from numlite.cli.output_file import write_npz
path = folder / "out.npz"
arrays = [np.frombuffer(content, np.uint8) for content in contents]
write = lambda n: write_npz(path, {"x": arrays[n % 2]})
def found():
    if not path.exists():
        return None
    with np.load(path) as file:
        return file["x"].tobytes()
""",
    "model": """
import contextlib, io
from numlite.cli.convert_model import command
from numlite.cli.main import run_command
from numlite.converter.graph_builder import GraphBuilder
path = folder / "model.tflite"
def graph(n):
    g = GraphBuilder()
    x = g.placeholder("x", [1 << 18])
    g.node("AddV2", "y", x, g.constant("c", np.full(1 << 18, n, np.float32)))
    source = folder.parent / f"graph{n}.pb"
    source.write_bytes(g.graph_def.SerializeToString())
    return str(source)
sources = [graph(n) for n in range(2)]
def write(n):
    with contextlib.redirect_stdout(io.StringIO()):
        assert run_command(command, [sources[n % 2], "-o", str(path)]) == 0
found = lambda: path.read_bytes() if path.exists() else None
contents = []
for n in range(2):
    write(n)
    contents.append(path.read_bytes())
path.unlink()
""",
}

# The time between the child's first write and its end is drawn from that of two writes.
KILLS = """
start = time.perf_counter()
write(0), write(1)
period_s = time.perf_counter() - start
seen = set()
for turn in range(count):
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        n = 0
        while True:
            os.write(into, b".") if n == turn % 3 else None
            write(n)
            n += 1
    os.close(into)
    os.read(out, 1)
    select.select([], [], [], random.Random(turn).uniform(0, period_s))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    os.close(out)
    seen.add(contents.index(found()))
    new = turn % 2
    if turn % 10 == 0:
        write(new)
        assert found() == contents[new]
names = os.listdir(folder)
left = [name for name in names if name.startswith(".")]
assert len(names) - len(left) == 1 and len(left) <= count, names
for name in left:
    os.utime(folder / name, (0, 0))
write(1)
assert found() == contents[1]
print(sorted(seen), len(os.listdir(folder)))
"""


def killed(writer: str, folder: Path, count: int) -> str:
    folder.mkdir(0o700)
    command = [sys.executable, "-c", START + WRITERS[writer] + KILLS, str(folder), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize("writer", WRITERS)
def test_a_hundred_kills_leave_an_old_file_or_a_new_one(tmp_path: Path, writer: str) -> None:
    assert killed(writer, tmp_path / "folder", 100) == "[0, 1] 1\n"


@pytest.mark.parametrize("writer", ["kernels", "npz"])
def test_a_few_kills(tmp_path: Path, writer: str) -> None:
    assert killed(writer, tmp_path / "folder", 6).endswith("] 1\n")
