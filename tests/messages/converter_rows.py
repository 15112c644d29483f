"""Messages about graphs, files of graphs, and the converter's settings."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from numlite.converter import Converter, OpsSet, TargetSpec, convert_graph, load_graph, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.interpreter import Interpreter
from numlite.kernels.fallback.status import FailedPreconditionError, InvalidArgumentError
from numlite.lite.errors import InvokeError, ModelError, UnsupportedError
from numlite.schema.graph_def import DT_INT64, DT_STRING, AttrValue, GraphDef

from ..small_models import chain
from .interpreter_rows import ONNX
from .rows import Row


def graph() -> GraphDef:
    """logits = relu(image)."""
    made = GraphBuilder()
    made.node("Relu", "logits", made.placeholder("image", [-1, 3]))
    return made.graph_def


def echo() -> GraphDef:
    """said = words, which are strings."""
    made = GraphBuilder()
    made.node("Identity", "said", made.placeholder("words", None, DT_STRING))
    return made.graph_def


def converter() -> Converter:
    return Converter.from_graph_def(graph())


def set_on(target: object, name: str) -> None:
    setattr(target, name, None)


def converted_for(*sets: object) -> None:
    made = converter()
    made.target_spec.supported_ops = sets  # type: ignore[assignment]
    made.convert()


def read(folder: Path, content: bytes, name: str = "graph.pb") -> None:
    (folder / name).write_bytes(content)
    load_graph(folder / name)


def fetched(*fetches: str, feed: str = "image") -> None:
    run_graph(graph(), {feed: np.zeros((1, 3), np.float32)}, fetches)


def looked_up() -> GraphDef:
    """found = the place of a word in a table that nothing fills."""
    made, types = GraphBuilder(), (AttrValue(type=DT_STRING), AttrValue(type=DT_INT64))
    made.placeholder("word", [2], DT_STRING)
    made.constant("none", np.array(-1, np.int64))
    made.node("HashTableV2", "vocabulary", key_dtype=types[0], value_dtype=types[1])
    made.node("LookupTableFindV2", "found", "vocabulary", "word", "none", Tin=types[0], Tout=types[1])
    return made.graph_def


WORDS = np.array([b"a", b"b"], object)


def converted_and_run() -> None:
    interpreter = Interpreter(model_content=convert_graph(looked_up(), ["word"], ["found"]))
    interpreter.get_signature_runner()(word=WORDS)


QUANTIZES = ": this way to quantize is not built: leave it out; what is built is optimizations, ..."

ROWS = {
    "a table that nothing fills": Row(
        lambda _: run_graph(looked_up(), {"word": WORDS}, ["found"]),
        FailedPreconditionError,
        "node 'found' (...): LookupTableFind: the table 'vocabulary' must be initialized before it is read",
    ),
    "a converted table that nothing fills": Row(
        lambda _: converted_and_run(),
        InvokeError,
        "... output 'found': HASHTABLE_FIND: the table 'vocabulary' ... must have been filled by "
        "HASHTABLE_IMPORT, and was not",
    ),
    **{
        f"Converter.{name}": Row(
            lambda _, name=name: set_on(converter(), name), UnsupportedError, f"Converter.{name}{QUANTIZES}"
        )
        for name in (
            "default_ranges_stats",
            "experimental_new_quantizer",
            "_experimental_low_bit_qat",
        )
    },
    "a set of quantized operators without optimizations": Row(
        lambda _: converted_for(OpsSet.TFLITE_BUILTINS_INT8),
        ValueError,
        "optimizations: must be [Optimize.DEFAULT] for integers, got none",
    ),
    "a set that is not built": Row(
        lambda _: converted_for(OpsSet.EXPERIMENTAL_STABLEHLO_OPS),
        UnsupportedError,
        "supported_ops: EXPERIMENTAL_STABLEHLO_OPS is not built; leave it out",
    ),
    "a set that is none": Row(
        lambda _: converted_for("everything"),
        ValueError,
        "supported_ops: must be of TFLITE_BUILTINS, SELECT_TF_OPS, TFLITE_BUILTINS_INT8, "
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8, got ['everything']",
    ),
    "a setting of another converter": Row(
        lambda _: set_on(converter(), "experimental_new_converter"),
        UnsupportedError,
        "Converter.experimental_new_converter: numlite's converter has one way to convert, without this "
        "setting: "
        "leave it out",
    ),
    "a misspelt setting": Row(
        lambda _: set_on(converter(), "target_spce"),
        AttributeError,
        "Converter has no setting 'target_spce': did you mean 'target_spec'?",
    ),
    "a misspelt setting of the target": Row(
        lambda _: set_on(TargetSpec(), "suported_ops"),
        AttributeError,
        "TargetSpec has no setting 'suported_ops': did you mean 'supported_ops'?",
    ),
    "a misspelt setting that is not built": Row(
        lambda _: set_on(converter(), "optimisations"),
        AttributeError,
        "Converter has no setting 'optimisations': did you mean 'optimizations'?",
    ),
    "an unknown setting": Row(
        lambda _: set_on(converter(), "colour"),
        AttributeError,
        "Converter has no setting 'colour': it has _experimental_calibrate_only, "
        "_experimental_disable_per_channel, ..., _experimental_variable_quantization, allow_custom_ops, "
        "entries, graph_optimizations, inference_input_type, inference_output_type, inference_type, "
        "optimizations, quantized_input_stats, representative_dataset, target_spec",
    ),
    "an empty file": Row(
        lambda folder: read(folder, b""), ModelError, "graph.pb: not a GraphDef (it is empty)"
    ),
    "an empty text": Row(
        lambda folder: read(folder, b"\n", "graph.pbtxt"),
        ModelError,
        "graph.pbtxt: not a GraphDef in text form (it is empty)",
    ),
    "a damaged ONNX model": Row(
        lambda folder: read(folder, ONNX),
        ModelError,
        "graph.pb: node y (): value x is used before any node gives it",
    ),
    "a damaged ONNX model without a producer": Row(
        lambda folder: read(folder, ONNX[:2] + ONNX[11:]),
        ModelError,
        "graph.pb: node y (): value x is used before any node gives it",
    ),
    "the bytes of an ONNX model": Row(
        lambda _: convert_graph(ONNX), ModelError, "graph: not a GraphDef (it is an ONNX model)"
    ),
    "a .tflite model": Row(
        lambda folder: read(folder, chain()),
        ModelError,
        "graph.pb: not a GraphDef (it is a .tflite model, which is converted already)",
    ),
    "a zip archive": Row(
        lambda folder: read(folder, b"PK\x03\x04" + bytes(60)),
        ModelError,
        "graph.pb: not a GraphDef (it is a zip archive (a .keras or PyTorch model, say))",
    ),
    "a compressed file": Row(
        lambda folder: read(folder, gzip.compress(bytes(100))),
        ModelError,
        "graph.pb: not a GraphDef (it is compressed by gzip: decompress it first)",
    ),
    "a pointer of Git LFS": Row(
        lambda folder: read(folder, b"version https://git-lfs.github.com/spec/v1\n"),
        ModelError,
        "graph.pb: not a GraphDef in text form (it is a pointer of Git LFS: git lfs pull fetches the file)",
    ),
    "a saved_model.pb by another name": Row(
        lambda folder: read(folder, b"\x08\x01\x12\x06\n\x04\x22\x02a\x00"),
        ModelError,
        "graph.pb: not a GraphDef (it is the saved_model.pb of a SavedModel: give its folder)",
    ),
    "None fed as a string": Row(
        lambda _: run_graph(echo(), {"words": ["a", None]}, ["said"]),
        InvalidArgumentError,
        "node 'words' (Placeholder): strings must be str or bytes, got None (NoneType) at 1",
    ),
    "a number fed as a string": Row(
        lambda _: run_graph(echo(), {"words": np.array([5], object)}, ["said"]),
        InvalidArgumentError,
        "node 'words' (Placeholder): strings must be str or bytes, got 5 (int) at 0",
    ),
    "a misspelt fetch": Row(
        lambda _: fetched("logit"),
        ModelError,
        "fetch 'logit': graph: there is no node 'logit'; the nearest are 'logits'",
    ),
    "an unknown fetch": Row(
        lambda _: fetched("zzz"),
        ModelError,
        "fetch 'zzz': graph: there is no node 'zzz'; results that no node uses are 'logits'",
    ),
    "an unknown feed": Row(
        lambda _: fetched("logits", feed="zzz"),
        ModelError,
        "feed 'zzz': graph: there is no node 'zzz'; the placeholders are 'image'",
    ),
    "a fetch without a list": Row(
        lambda _: run_graph(graph(), {}, "logits"),
        TypeError,
        "fetches: must be a list of names, got 'logits': put it in a list",
    ),
}
