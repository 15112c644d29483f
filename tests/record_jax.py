"""Records what JAX exports and computes, for tests/converter/stablehlo.

    PYTHON tests/record_jax.py [FOLDER]

PYTHON has jax, flax and flatbuffers. By default the tests' own files are written anew.
"""

from __future__ import annotations

import base64
import json
import lzma
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import jax
import numpy as np
from jax import export

from tests.jax_networks import DRAW, NETWORKS
from tests.jax_operations import OPERATIONS
from tests.stablehlo_texts import TEXTS

FOLDER = Path(__file__).parent / "converter" / "stablehlo"
# What JAX has LAPACK do, which its exports promise to no other version.
LAPACK = ("sgeqrf", "sgetrf", "sorgqr", "spotrf", "strsm")
# Of these the texts with places are recorded, too.
WITH_PLACES = ("mlp", "control", "sort")


def _array(x: object) -> dict[str, object]:
    x = np.asarray(x)
    # NumPy has no bfloat16 of its own.
    wide = x.astype(np.float32) if x.dtype.name == "bfloat16" else x
    data = base64.b64encode(zlib.compress(wide.tobytes(), 9)).decode()
    return {"type": x.dtype.name, "stored": wide.dtype.name, "shape": x.shape, "data": data}


def _case(name: str) -> tuple[Callable, list[np.ndarray], list]:
    """A function, arguments, and their types with the sizes that are left open."""
    DRAW.bit_generator.state = np.random.default_rng(0).bit_generator.state
    function, arguments, *sizes = (NETWORKS | OPERATIONS)[name]()
    if sizes:
        return (
            function,
            arguments,
            list(export.symbolic_args_specs(tuple(arguments), tuple(sizes[0].split("; ")))),
        )
    return function, arguments, [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arguments]


def _export(function: Callable, specs: list) -> export.Exported:
    """The export, whose calls of LAPACK are no more than names to a converter."""
    checks = [export.DisabledSafetyCheck.custom_call(f"lapack_{name}_ffi") for name in LAPACK]
    return export.export(jax.jit(function), disabled_checks=checks)(*specs)


def record(name: str, is_export: bool = False) -> dict[str, object]:
    """A case: the program, or the whole export, arguments and results."""
    function, arguments, specs = _case(name)
    exported = _export(function, specs)
    results = jax.tree.leaves(jax.jit(function)(*arguments))
    content = exported.serialize() if is_export else exported.mlir_module_serialized
    return {
        "name": f"{name} export" if is_export else name,
        "program": base64.b64encode(zlib.compress(bytes(content), 9)).decode(),
        "arguments": [_array(x) for x in arguments],
        "results": [_array(y) for y in results],
    }


def record_text(name: str) -> dict[str, object]:
    """A case of StableHLO's text, as a portable artifact."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    text, function, arguments = TEXTS[name]()
    with mlir.make_ir_context():
        module = str(ir.Module.parse(text))
    content = stablehlo.serialize_portable_artifact_str(module, stablehlo.get_current_version())
    return {
        "name": name,
        "program": base64.b64encode(zlib.compress(bytes(content), 9)).decode(),
        "arguments": [_array(x) for x in arguments],
        "results": [_array(y) for y in function(*arguments)],
    }


def texts_of(name: str) -> dict[str, str]:
    """The program as MLIR's text, in its own forms and in the generic one, with places perhaps."""
    function, _, specs = _case(name)
    if any(export.is_symbolic_dim(size) for spec in specs for size in spec.shape):
        return {"own": str(_export(function, specs).mlir_module())}
    module = jax.jit(function).lower(*specs).compiler_ir()
    texts = {"own": str(module), "generic": module.operation.get_asm(print_generic_op_form=True)}
    if name in WITH_PLACES:
        texts["own with places"] = module.operation.get_asm(enable_debug_info=True)
        texts["generic with places"] = module.operation.get_asm(
            print_generic_op_form=True, enable_debug_info=True
        )
    return texts


def main() -> None:
    """Write all cases, and one as JAX's own export."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    file = folder / "recorded.jsonl"
    cases = [record(name) for name in (*NETWORKS, *OPERATIONS)]
    cases += [record_text(name) for name in TEXTS]
    cases.append(record("mlp", is_export=True))
    cases.append(record("open_images", is_export=True))
    file.write_text("".join(json.dumps(case) + "\n" for case in cases))
    texts = json.dumps({name: texts_of(name) for name in (*NETWORKS, *OPERATIONS)}).encode()
    packed = lzma.compress(texts, preset=9)
    (folder / "texts.b64").write_bytes(base64.encodebytes(packed))
    print(f"{file}: {len(cases)} cases, {file.stat().st_size:,} bytes, by jax {jax.__version__}")


if __name__ == "__main__":
    main()
