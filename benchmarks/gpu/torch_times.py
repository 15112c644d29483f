"""Peers by PyTorch: a model as it is (eager), and captured as a CUDA graph."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.network_model import random_filters
from numlite.benchmarks.gpu.networks import NETWORKS
from numlite.benchmarks.gpu.peers import for_each_model
from numlite.benchmarks.gpu.timing import Timing
from numlite.benchmarks.gpu.torch_ceilings import time_torch
from numlite.benchmarks.gpu.torch_network import TorchNetwork, torch_images, torch_network

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "tf32": torch.float32}


def measure(job: Job) -> None:
    allow_fast_products()
    for_each_model(job, "torch", partial(_both, job), 2.0)


def allow_fast_products() -> None:
    """TF32 wherever floats are multiplied, and the fastest convolutions that cuDNN finds."""
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True


def peer(
    job: Job, name: str, mode: str, batch: int, device: str = "cuda"
) -> tuple[TorchNetwork, torch.Tensor]:
    """The network and images for it."""
    network, dtype = NETWORKS[name](job.size), DTYPES[mode]
    model = torch_network(network, random_filters(network), dtype, device)
    shape = (batch, *network.layers[0].shape)
    images = np.random.default_rng(job.seed).standard_normal(shape, np.float32)
    return model, torch_images(images, dtype, device)


def record(job: Job, key: tuple[str, str, int], by: str, found: Timing, output: torch.Tensor) -> None:
    name, mode, batch = key
    finite = bool(torch.isfinite(output).all())
    job.records.add("peer", model=name, mode=mode, batch=batch, by=by, **found.fields(), finite=finite)


def _both(job: Job, name: str, mode: str, batch: int) -> None:
    model, x = peer(job, name, mode, batch)
    with torch.no_grad():
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                y = model(x)
        torch.cuda.current_stream().wait_stream(stream)
        record(job, (name, mode, batch), "torch eager", time_torch(lambda: model(x)), y)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = model(x)
        found = time_torch(graph.replay)
        record(job, (name, mode, batch), "torch CUDA graph", found, y)
