"""One section in a process of its own: python -m numlite.benchmarks.gpu.section JOB."""

from __future__ import annotations

import sys
from importlib import import_module

from numlite.benchmarks.gpu.job import Job

_MODULES = {
    "compile": "ahead",
    "ceilings": "ceilings",
    "correctness": "correctness",
    "models": "model_times",
    "layers": "layer_times",
    "peers": "peers",
}

if __name__ == "__main__":
    job = Job.from_text(sys.argv[1])
    import_module(f"numlite.benchmarks.gpu.{_MODULES[job.section]}").measure(job)
