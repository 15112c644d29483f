"""What the CUDA delegate does on a GPU: one command of at most nine minutes.

    python benchmarks/gpu/run.py --out DIR
    python benchmarks/gpu/run.py --sections compile,models --models resnet50 --batches 1,32 --out DIR
    python benchmarks/gpu/run.py --report DIR/results.jsonl    # the tables of what was measured before
    python benchmarks/gpu/run.py --device simulated --small    # whether all of it runs, without a GPU

Sections, each in a process of its own: compile (machine code of everything, ahead), ceilings, correctness,
models, layers, peers. Each result is in DIR/results.jsonl before the next measurement begins; DIR/run.log
has what the processes said. One whose device is lost goes on in a new process with what comes next.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
_MODELS = "mobilenet_v2,resnet50,efficientnet_lite0"
_MODES = "int8,bfloat16,float16,tf32,tf32x3"
_MOST_PROCESSES = 25  # of a section


def main() -> int:
    arguments = _arguments()
    _make_importable()
    if arguments.report is not None:
        from numlite.benchmarks.gpu.records import read_records
        from numlite.benchmarks.gpu.report import report

        print(report(read_records(arguments.report)))
        return 0
    return _run(arguments)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sections", default="", help="some of them, with commas (default: all)")
    parser.add_argument("--models", default=_MODELS, help=f"some of {_MODELS}")
    parser.add_argument("--modes", default=_MODES, help=f"some of {_MODES}")
    parser.add_argument("--batches", default="1,32,256")
    parser.add_argument(
        "--out", type=Path, default=Path("gpu-results"), help="folder for results and the log"
    )
    parser.add_argument("--seconds", type=float, default=540.0, help="for everything together")
    parser.add_argument("--device", choices=("cuda", "simulated"), default="cuda")
    parser.add_argument("--small", action="store_true", help="16x16 images and narrow, short networks")
    parser.add_argument("--seed", type=int, default=None, help="of the random inputs (default: the time)")
    parser.add_argument("--report", type=Path, help="only print the tables of this results.jsonl")
    return parser.parse_args()


def _make_importable() -> None:
    """Have numlite be this checkout, here and in the processes to come, whatever is installed."""
    folder = Path(tempfile.mkdtemp(prefix="numlite-gpu-"))
    (folder / "numlite").symlink_to(REPOSITORY)
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))


def _run(arguments: argparse.Namespace) -> int:
    from numlite.benchmarks.gpu.budget import GRACE_SECONDS, seconds_for, sections_for
    from numlite.benchmarks.gpu.job import Job
    from numlite.benchmarks.gpu.lowered import MODES
    from numlite.benchmarks.gpu.networks import NETWORKS
    from numlite.benchmarks.gpu.records import Records, read_records
    from numlite.benchmarks.gpu.report import report

    end, sections = time.time() + arguments.seconds, sections_for(arguments.seconds)
    wanted = arguments.sections.split(",") if arguments.sections else [s.name for s in sections]
    models, modes = (tuple(text.split(",")) for text in (arguments.models, arguments.modes))
    batches = tuple(map(int, arguments.batches.split(",")))
    unknown = {*wanted} - {s.name for s in sections} | {*models} - {*NETWORKS} | {*modes} - {*MODES}
    if unknown:
        sys.exit(f"run.py: sections, models and modes must exist, got {', '.join(sorted(unknown))}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    path, run = arguments.out / "results.jsonl", time.strftime("%Y%m%d-%H%M%S")
    seed = int(end) % 100_000 if arguments.seed is None else arguments.seed
    Records(path, "run", run).add("machine", seed=seed, arguments=sys.argv[1:], **_machine())
    chosen = [section for section in sections if section.name in wanted]
    with tempfile.TemporaryDirectory(prefix="numlite-models-") as directory:
        for number, section in enumerate(chosen):
            seconds = seconds_for(section, end - time.time(), chosen[number + 1 :])
            records = Records(path, section.name, run)
            if not seconds:
                records.add("skipped", unit=section.name, why="the total would be passed")
                continue
            job = Job(
                section.name,
                str(arguments.out),
                directory,
                run,
                arguments.device,
                models,
                modes,
                batches,
                arguments.small,
                time.time() + seconds,
                seed,
            )
            _run_section(job, arguments.out, seconds + GRACE_SECONDS, section.stall)
    print(report(read_records(path)), flush=True)
    return 0


def _run_section(job: object, out: Path, seconds: float, stall: float) -> None:
    """One process after another, as long as each has begun something and lost its device or hung."""
    from numlite.benchmarks.gpu.job import Job
    from numlite.benchmarks.gpu.processes import run_process

    assert isinstance(job, Job)
    command = [sys.executable, "-m", "numlite.benchmarks.gpu.section", job.text()]
    start, begun = time.time(), job.records.begun()
    for _ in range(_MOST_PROCESSES):
        with (out / "run.log").open("a", encoding="utf-8") as log:
            left = start + seconds - time.time()
            ended = run_process(command, log, job.records.path, left, stall)
        before, begun = begun, job.records.begun()
        if ended.status == 0 and not ended.why:
            break
        job.records.add("ended", status=ended.status, why=ended.why, log=_last_lines(out / "run.log"))
        if begun == before or job.left() < 5:
            break
    job.records.add("section", seconds=time.time() - start)


def _last_lines(path: Path, count: int = 12) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]


def _machine() -> dict[str, str | int]:
    from importlib import metadata

    def version(package: str) -> str:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return "absent"

    try:
        asked = "--query-gpu=name,driver_version,memory.total,clocks.sm,clocks.max.sm"
        gpu = subprocess.run(
            ["nvidia-smi", asked, "--format=csv,noheader"], capture_output=True, text=True, timeout=30
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        gpu = f"nvidia-smi: {error}"
    packages = ("triton", "cuda-bindings", "nvidia-cuda-nvrtc", "numpy", "numba", "torch", "jax")
    return {
        "gpu": gpu,
        "python": platform.python_version(),
        "processors": len(os.sched_getaffinity(0)),
        **{name: version(name) for name in packages},
    }


if __name__ == "__main__":
    sys.exit(main())
