"""Peers by JAX: jit, images [N, H, W, C]; the host's time for several calls, each waiting for the last."""

from __future__ import annotations

import os
import time
from functools import partial

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np
from numlite.benchmarks.gpu.jax_network import jax_network, jax_parameters
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.network_model import random_filters
from numlite.benchmarks.gpu.networks import NETWORKS
from numlite.benchmarks.gpu.peers import for_each_model
from numlite.benchmarks.gpu.timing import timing

_DTYPES = {"bfloat16": jnp.bfloat16, "float16": jnp.float16, "tf32": jnp.float32}
_ROUNDS, _CALLS = 7, 10


def measure(job: Job) -> None:
    """Without a GPU of JAX's own nothing is measured."""
    backend = jax.default_backend()
    if backend != "gpu":
        job.records.add("absent", what="jax for CUDA", why=f"its default backend is {backend}")
        return
    jax.config.update("jax_default_matmul_precision", "tensorfloat32")
    for_each_model(job, "jax", partial(_compiled, job), 5.0)


def _compiled(job: Job, name: str, mode: str, batch: int) -> None:
    network, dtype = NETWORKS[name](job.size), _DTYPES[mode]
    parameters = jax_parameters(network, random_filters(network), dtype)
    shape = (batch, *network.layers[0].shape)
    images = jnp.asarray(np.random.default_rng(job.seed).standard_normal(shape, np.float32), dtype)
    function = jax.jit(jax_network(network))
    y = jax.block_until_ready(function(parameters, images))
    times = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        for _ in range(_CALLS):
            y = function(parameters, images)
        jax.block_until_ready(y)
        times.append((time.perf_counter() - start) / _CALLS * 1e6)
    finite = bool(jnp.isfinite(y).all())
    job.records.add(
        "peer", model=name, mode=mode, batch=batch, by="jax.jit", **timing(times).fields(), finite=finite
    )
