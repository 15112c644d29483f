"""Recurrent networks of open batch and length against TensorFlow (tests/record_recurrent.py has the nets)."""

from __future__ import annotations

import base64
import json
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.schema import tflite
from numlite.schema.operator_code import builtin_code

from ..graphs import checked, run_litert, run_numlite

FILE = Path(__file__).with_name("recurrent.jsonl")
CASES = {case["name"]: case for case in map(json.loads, FILE.read_text().splitlines())}
RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])
# How often elements of lists are put where they belong; no list is chosen from element by element.
LISTS = {
    "bigru_stack": 4,
    "crnn": 2,
    "bahdanau_attention": 2,
    "lstm_with_states": 1,
    "time_distributed": 1,
    "cells": 2,
    "own_loop": 1,
}


@cache
def model(name: str) -> bytes:
    case = CASES[name]
    return checked(convert_graph(unpacked(case["graph"]), case["inputs"], case["outputs"]))


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def array(held: dict) -> np.ndarray:
    return np.frombuffer(unpacked(held["data"]), np.float32).reshape(held["shape"])


@RUNTIMES
@pytest.mark.parametrize("name", LISTS)
def test_network_runs_at_every_shape(name: str, run) -> None:
    for inputs, outputs in CASES[name]["runs"]:
        results = run(model(name), *map(array, inputs))
        for y, expected in zip(results, map(array, outputs), strict=True):
            assert y.shape == expected.shape
            np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LISTS)
def test_elements_are_put_in_place(name: str) -> None:
    read = tflite.read(model(name))
    codes = [tflite.BuiltinOperator(builtin_code(code)).name for code in read.operator_codes]
    used = [codes[operator.opcode_index] for graph in read.subgraphs for operator in graph.operators]
    assert used.count("DYNAMIC_UPDATE_SLICE") == LISTS[name]
    assert "SELECT_V2" not in used


def test_the_networks_are_those_that_are_listed() -> None:
    assert list(CASES) == list(LISTS)
