"""Tensors in strings: raw bytes, base64, compressed data, serialized tensors, comma-separated values."""

from __future__ import annotations

import base64
import binascii
import csv
import io
import zlib
from typing import Literal

import numpy as np
from google.protobuf.message import DecodeError

from ...lite.string_tensor import string_array
from ...schema.graph_def import TensorProto
from .attributes import DataType
from .axis import scalar
from .decoded_size import check_decoded, most_decoded_bytes
from .dtypes import ANY, numpy_dtype
from .each_string import mapped_strings, scalar_string
from .registry import kernel
from .status import InvalidArgumentError
from .tensor_proto import array_of, proto_of


def _raw(
    texts: list[bytes], length: int, shape: tuple[int, ...], out: np.dtype, little_endian: bool
) -> np.ndarray:
    """A row of numbers of each text; all have that length in bytes."""
    values = np.frombuffer(b"".join(texts), out if little_endian else out.newbyteorder(">"))
    return values.astype(out).reshape(*shape, length // out.itemsize)


def decode_raw(x: np.ndarray, *, out_type: DataType, little_endian: bool) -> np.ndarray:
    """Each string's bytes as a row of numbers; the strings have one length."""
    out, texts = numpy_dtype(out_type), list(x.reshape(-1))
    lengths = {len(text) for text in texts}
    if len(lengths) > 1:
        raise InvalidArgumentError(f"DecodeRaw: strings must have one length, got {sorted(lengths)[:8]}")
    if any(length % out.itemsize for length in lengths):
        message = f"lengths must be multiples of {out.itemsize} bytes, got {lengths.pop()}"
        raise InvalidArgumentError(f"DecodeRaw: {message}")
    return _raw(texts, max(lengths, default=0), x.shape, out, little_endian)


def decode_padded_raw(
    x: np.ndarray, fixed_length: np.ndarray, *, out_type: DataType, little_endian: bool
) -> np.ndarray:
    """As decode_raw, each string filled up with zeros, or cut, to fixed_length bytes."""
    out, length = numpy_dtype(out_type), scalar(fixed_length, "fixed_length")
    if length <= 0 or length % out.itemsize:
        message = f"fixed_length must be a multiple of {out.itemsize} bytes, got {length}"
        raise InvalidArgumentError(f"DecodePaddedRaw: {message}")
    texts = [text[:length].ljust(length, b"\0") for text in x.reshape(-1)]
    return _raw(texts, length, x.shape, out, little_endian)


def encode_base64(x: np.ndarray, *, pad: bool) -> np.ndarray:
    """Each string in web-safe base64, with "=" at the end when padded."""

    def encode(text: bytes) -> bytes:
        made = base64.urlsafe_b64encode(text)
        return made if pad else made.rstrip(b"=")

    return mapped_strings(encode, x)


def decode_base64(x: np.ndarray) -> np.ndarray:
    """What each string of web-safe base64, padded or not, stands for."""

    def decode(text: bytes) -> bytes:
        if len(text) % 4 == 1:
            raise InvalidArgumentError(f"DecodeBase64: length must not be 1 modulo 4, got {len(text)}")
        plain = text.rstrip(b"=")
        standard = plain.translate(bytes.maketrans(b"-_+/", b"+/!!"))
        try:
            return base64.b64decode(standard + b"=" * (-len(plain) % 4), validate=True)
        except binascii.Error as error:
            raise InvalidArgumentError(f"DecodeBase64: {error}, got {text[:32]!r}") from None

    return mapped_strings(decode, x)


def _unpacked(text: bytes, kind: str) -> bytes:
    if kind == "":
        return text
    if kind not in ("ZLIB", "GZIP"):
        raise InvalidArgumentError(f"compression_type must be '', 'ZLIB' or 'GZIP', got {kind!r}")
    machine = zlib.decompressobj(wbits=31 if kind == "GZIP" else 15)
    try:
        # zlib makes a thousand bytes of one at the most.
        most = min(most_decoded_bytes(), 1100 * len(text))
        made = machine.decompress(text, max(most, 1))
    except zlib.error as error:
        raise InvalidArgumentError(f"DecodeCompressed: {error}") from None
    if machine.unconsumed_tail or not machine.eof:
        raise InvalidArgumentError(f"DecodeCompressed: data must end, and within {most} bytes")
    check_decoded("DecodeCompressed", len(made))
    return made


def decode_compressed(x: np.ndarray, *, compression_type: str) -> np.ndarray:
    """Each string unpacked."""
    return mapped_strings(lambda text: _unpacked(text, compression_type), x)


def parse_tensor(serialized: np.ndarray, *, out_type: DataType) -> np.ndarray:
    """The tensor of a serialized TensorProto, a scalar string."""
    content = scalar_string(serialized, "ParseTensor: serialized")
    try:
        proto = TensorProto.FromString(content)
    except DecodeError as error:
        raise InvalidArgumentError(f"ParseTensor: could not parse the tensor: {error}") from None
    if proto.dtype != out_type:
        message = f"type must be {numpy_dtype(out_type)}, got type {proto.dtype}"
        raise InvalidArgumentError(f"ParseTensor: {message}")
    return array_of(proto)


def serialize_tensor(x: np.ndarray, *, T: DataType) -> np.ndarray:
    """x as a serialized TensorProto: string []."""
    return string_array([proto_of(x, T).SerializeToString(deterministic=True)], ())


def decode_csv(
    records: np.ndarray,
    record_defaults: list[np.ndarray],
    *,
    OUT_TYPE: list[DataType],
    field_delim: str,
    use_quote_delim: bool,
    na_value: str,
    select_cols: list[int],
) -> list[np.ndarray]:
    """Fields of each record, one tensor of the records' shape for each column.

    A field that is empty or na_value is the column's default, which is empty where it must be given.
    """
    rows = [_fields(text, field_delim, use_quote_delim) for text in records.reshape(-1)]
    columns = []
    for number, (default, type) in enumerate(zip(record_defaults, OUT_TYPE, strict=True)):
        at = select_cols[number] if select_cols else number
        values = [_field(row, at, default, numpy_dtype(type), na_value) for row in rows]
        made = np.empty(len(values), numpy_dtype(type))
        made[:] = values
        columns.append(made.reshape(records.shape))
    expected = len(record_defaults)
    wrong = next((len(row) for row in rows if not select_cols and len(row) != expected), None)
    if wrong is not None:
        raise InvalidArgumentError(f"DecodeCSV: expect {expected} fields but have {wrong} in record")
    return columns


def _fields(text: bytes, delimiter: str, quotes: bool) -> list[str]:
    if not text:
        return []
    held = io.StringIO(text.decode(errors="surrogateescape"), newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    try:
        return next(csv.reader(held, delimiter=delimiter, quoting=quoting, strict=True), [""])
    except (csv.Error, TypeError) as error:
        raise InvalidArgumentError(f"DecodeCSV: {error}") from None


def _field(row: list[str], at: int, default: np.ndarray, dtype: np.dtype, na_value: str) -> object:
    text = row[at] if at < len(row) else ""
    if text in ("", na_value):
        if default.size != 1:
            raise InvalidArgumentError(f"DecodeCSV: field {at} is required but missing in record")
        return default.reshape(-1)[0]
    if dtype.kind == "O":
        return text.encode(errors="surrogateescape")
    try:
        value = int(text) if dtype.kind in "iu" else float(text)
    except ValueError:
        raise InvalidArgumentError(f"DecodeCSV: field {at} must be a {dtype}, got {text!r}") from None
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise InvalidArgumentError(f"DecodeCSV: field {at} must be a {dtype}, got {text!r}")
    return value


REGISTRATIONS = (
    kernel("DecodeRaw", decode_raw),
    kernel("DecodePaddedRaw", decode_padded_raw),
    kernel("EncodeBase64", encode_base64),
    kernel("DecodeBase64", decode_base64),
    kernel("DecodeCompressed", decode_compressed),
    kernel("ParseTensor", parse_tensor),
    kernel("SerializeTensor", serialize_tensor, T=ANY),
    kernel("DecodeCSV", decode_csv),
)
