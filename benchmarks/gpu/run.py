"""What the CUDA delegate does on a GPU: one command of at most nine minutes.

    python benchmarks/gpu/run.py --out DIR
    python benchmarks/gpu/run.py --sections compile,models --models resnet50 --batches 1,32 --out DIR
    python benchmarks/gpu/run.py --report DIR/results.jsonl    # the tables of what was measured before
    python benchmarks/gpu/run.py --rehearse --out DIR          # small, on the driver's stand-in

Sections, each in a process of its own: compile (machine code of everything, ahead), ceilings, correctness,
models, layers, peers. Each result is in DIR/results.jsonl before the next measurement begins; DIR/run.log
has what the processes said. The same command again goes on: what is done in DIR is not measured again.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from importlib import metadata
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
_MODELS = "mobilenet_v2,resnet50,efficientnet_lite0"
_MODES = "int8,bfloat16,float16,tf32,tf32x3"
_PLANNED_SECONDS = 540.0  # for which the sections' parts are made
_KEPT_SECONDS = 10.0  # for the tables, and for processes that have to be ended
_LEAST_SECONDS = 10.0  # that a section is begun with
_PACKAGES = ("triton", "cuda-bindings", "nvidia-cuda-nvrtc", "numpy", "numba", "torch")


def main() -> int:
    arguments = _arguments()
    _make_importable()
    from numlite.benchmarks.gpu.job import RESULTS, read_records
    from numlite.benchmarks.gpu.report import report

    if arguments.report is None:
        _run(arguments)
    print(report(read_records(arguments.report or arguments.out / RESULTS)))
    return 0


def _arguments() -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--sections", default="", help="some of them, with commas (default: all)")
    parser.add_argument("--models", default=_MODELS, help=f"some of {_MODELS}")
    parser.add_argument("--modes", default=_MODES, help=f"some of {_MODES}")
    parser.add_argument("--batches", default="1,32,256")
    parser.add_argument("--out", type=Path, default=Path("gpu-results"), help="folder of results and the log")
    parser.add_argument("--seconds", type=float, default=_PLANNED_SECONDS, help="for everything together")
    parser.add_argument("--rehearse", action="store_true", help="small networks, the driver's stand-in")
    parser.add_argument("--seed", type=int, default=None, help="of the random inputs (default: the time)")
    parser.add_argument("--report", type=Path, help="only print the tables of this results.jsonl")
    return parser.parse_args()


def _make_importable() -> None:
    """Have numlite be this checkout, here and in the processes to come, whatever is installed."""
    folder = Path(tempfile.mkdtemp(prefix="numlite-gpu-"))
    (folder / "numlite").symlink_to(REPOSITORY)
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))


def _run(arguments: argparse.Namespace) -> None:
    from numlite.benchmarks.gpu.job import Job
    from numlite.benchmarks.gpu.lowered import MODES
    from numlite.benchmarks.gpu.networks import NETWORKS
    from numlite.benchmarks.gpu.section import SECTIONS, run_section

    end = time.time() + arguments.seconds - _KEPT_SECONDS
    models, modes = (tuple(text.split(",")) for text in (arguments.models, arguments.modes))
    wanted = arguments.sections.split(",") if arguments.sections else [*SECTIONS]
    unknown = {*wanted} - {*SECTIONS} | {*models} - {*NETWORKS} | {*modes} - {*MODES}
    if unknown:
        sys.exit(f"run.py: sections, models and modes must exist, got {', '.join(sorted(unknown))}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    seed = int(end) % 100_000 if arguments.seed is None else arguments.seed
    batches, run = tuple(map(int, arguments.batches.split(","))), time.strftime("%Y%m%d-%H%M%S")
    with tempfile.TemporaryDirectory(prefix="numlite-models-") as files:
        places = (str(arguments.out), files, run, arguments.rehearse)
        job = Job("run", *places, models, modes, batches, end, seed)
        job.add("machine", seed=seed, arguments=sys.argv[1:], **_machine())
        for name in filter(wanted.__contains__, SECTIONS):
            most = SECTIONS[name].most * max(1.0, arguments.seconds / _PLANNED_SECONDS)
            job = replace(job, section=name, deadline=min(end, time.time() + most))
            if job.left() > _LEAST_SECONDS:
                run_section(job)
            else:
                job.add("skipped", unit=name, why="the time is over")


def _machine() -> dict[str, str | int]:
    """What a reader of the results has to know of where they come from."""
    gpu = subprocess.getoutput(
        "nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv"
    )
    found = {str(package.name).lower(): package.version for package in metadata.distributions()}
    versions = {name: found.get(name, "absent") for name in _PACKAGES}
    return {"gpu": gpu, "python": platform.python_version(), "processors": os.cpu_count() or 0, **versions}


if __name__ == "__main__":
    sys.exit(main())
