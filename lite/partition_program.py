"""PartitionProgram: what a custom operator of a compiled model carries, and the model's list of them."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from ..schema.operator_code import CUSTOM_CODE_PREFIX
from .errors import ModelError
from .tensor import Shape

METADATA_NAME = "numlite_compiled"

_MAGIC = b"NLPART01"
_HEADER = struct.Struct("<8sIQ")
_CHECKSUM_BYTES = 16


@dataclass(frozen=True)
class Compilation:
    """Which delegate compiled a model, and which model that was.

    delegate is the name to load it by, class_path the class behind it, options what it was made
    with; source_digest is that of the source model's file.
    """

    delegate: str
    class_path: str
    version: str
    options: dict[str, str]
    source_digest: str

    @property
    def custom_code(self) -> str:
        return CUSTOM_CODE_PREFIX + self.delegate


@dataclass(frozen=True)
class PartitionProgram:
    """One partition: the delegate's program, and what has to hold for it to run.

    Shapes are those of the operator's inputs and outputs; None where the program takes any.
    """

    compilation: Compilation
    program: bytes
    input_shapes: tuple[Shape, ...] | None = None
    output_shapes: tuple[Shape, ...] | None = None
    side_effects: bool = False


def model_digest(content: bytes | bytearray | memoryview) -> str:
    """Digest of a model's file, 64 hexadecimal digits of SHA-256."""
    from hashlib import sha256

    return sha256(content).hexdigest()


def pack_program(program: PartitionProgram) -> bytes:
    """The custom options: a header that says what they are, the program, a checksum over both."""
    header = {
        "compilation": asdict(program.compilation),
        "input_shapes": program.input_shapes,
        "output_shapes": program.output_shapes,
        "side_effects": program.side_effects,
    }
    text = json.dumps(header, sort_keys=True).encode()
    body = _HEADER.pack(_MAGIC, len(text), len(program.program)) + text + program.program
    return body + _checksum(body)


def unpack_program(data: bytes) -> PartitionProgram:
    """What pack_program has packed; ModelError when it is damaged."""
    if len(data) < _HEADER.size + _CHECKSUM_BYTES or data[:8] != _MAGIC:
        raise ModelError(
            f"compiled partition: its custom options must be a program, got {len(data)} other bytes"
        )
    body, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    _, header_bytes, program_bytes = _HEADER.unpack_from(body)
    if len(body) != _HEADER.size + header_bytes + program_bytes or checksum != _checksum(body):
        raise ModelError("compiled partition: its program is damaged; compile the model again")
    split = _HEADER.size + header_bytes
    return _from_header(body[_HEADER.size : split], body[split:])


def _checksum(body: bytes) -> bytes:
    from hashlib import blake2b

    return blake2b(body, digest_size=_CHECKSUM_BYTES).digest()


def _from_header(text: bytes, program: bytes) -> PartitionProgram:
    try:
        header = json.loads(text)
        return PartitionProgram(
            _compilation(header["compilation"]),
            program,
            _shapes(header["input_shapes"]),
            _shapes(header["output_shapes"]),
            bool(header["side_effects"]),
        )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ModelError(f"compiled partition: its header must be numlite's, got {error!r}") from error


def _shapes(listed: list[list[int]] | None) -> tuple[Shape, ...] | None:
    return None if listed is None else tuple(tuple(int(size) for size in shape) for shape in listed)


def _compilation(entry: Mapping[str, object]) -> Compilation:
    texts = {field.name: entry[field.name] for field in fields(Compilation) if field.name != "options"}
    options = entry["options"]
    if not isinstance(options, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ValueError(f"names must be texts and options a map, got {entry!r}")
    return Compilation(**texts, options={str(key): str(value) for key, value in options.items()})  # type: ignore[arg-type]


def pack_compilations(compilations: list[Compilation]) -> bytes:
    """The model's metadata about the delegates that have compiled it, in order."""
    return json.dumps([asdict(entry) for entry in compilations], sort_keys=True).encode()


def parse_compilations(data: bytes) -> list[Compilation]:
    """What pack_compilations has packed; ModelError when it is damaged."""
    try:
        return [_compilation(entry) for entry in json.loads(data)]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ModelError(f"metadata {METADATA_NAME!r}: it must list compilations, got {error!r}") from error
