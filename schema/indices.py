"""Proof that a model's indices and sizes agree, for a file whose structure verifier.py has checked."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator

from . import tflite
from .calls import Call, check_calls
from .fault import Findings
from .flatbuffer import Fields

_I32 = struct.Struct("<i").unpack_from
_I8 = struct.Struct("<b").unpack_from
_U8 = struct.Struct("<B").unpack_from
_U16 = struct.Struct("<H").unpack_from
_U32 = struct.Struct("<I").unpack_from
_U64 = struct.Struct("<Q").unpack_from

# Bits of an element by tensor type; 0 where the size does not follow from the shape.
_ELEMENT_BITS = (32, 16, 32, 8, 64, 0, 8, 16, 64, 8, 64, 128, 64, 0, 0, 32, 16, 4, 16, 2, 4, 8, 8)

# No operator knows more than a dozen; without a limit a damaged file could make its sizes endless.
_MAX_RANK = 64


def check_indices(data: memoryview, root: int, findings: Findings) -> None:
    """Find what keeps indices from naming things that exist, and constants from filling their tensors.

    Deviations are what no reader follows unasked: tensors that are named in signatures, in subgraphs and by
    nodes (who has a subgraph read looks at those), intermediates, bytes behind a constant's last value.
    """
    _Model(data, root, findings).check()


class _Model:
    """The counts that indices are held against, and the checks."""

    def __init__(self, data: memoryview, root: int, findings: Findings) -> None:
        self.data = data
        self.root = root
        self.findings = findings
        self.tensor_fields = Fields(
            data,
            tflite.TABLES["Tensor"],
            "shape",
            "type",
            "buffer",
            "quantization",
            "sparsity",
        )
        self.quantization_fields = Fields(
            data,
            tflite.TABLES["QuantizationParameters"],
            "scale",
            "zero_point",
            "quantized_dimension",
            "details",
            "details_type",
        )
        self.operator_fields = Fields(
            data,
            tflite.TABLES["Operator"],
            "opcode_index",
            "inputs",
            "outputs",
            "intermediates",
            "builtin_options_type",
            "builtin_options",
            "builtin_options_2_type",
            "builtin_options_2",
            "large_custom_options_offset",
            "large_custom_options_size",
        )
        self.indices_left = len(data) // 4
        self.extents: dict[int, tuple[int, int]] = {}

    def check(self) -> None:
        """Every check, outermost things first."""
        version, codes, subgraphs, buffers, metadata, signatures = Fields(
            self.data,
            tflite.TABLES["Model"],
            "version",
            "operator_codes",
            "subgraphs",
            "buffers",
            "metadata",
            "signature_defs",
        ).of(self.root)
        found = _U32(self.data, self.root + version)[0] if version else 0
        if found != 3:
            raise self.findings.fault(f"schema version must be 3, got {found}")
        self.code_count = self._count(codes)
        places = list(self._tables(self.root, subgraphs))
        if not places:
            raise self.findings.fault("a model must have at least one subgraph")
        self.subgraph_count = len(places)
        self.buffer_bytes = self._buffers(buffers)
        fields = Fields(self.data, tflite.TABLES["SubGraph"], "tensors", "inputs", "outputs", "operators")
        self.tensor_counts: list[int] = []
        self.calls: list[Counter[Call]] = []
        self.findings.each("subgraph", places, lambda at: self._subgraph(at, fields.of(at)))
        self.findings.guarded(lambda _: check_calls(self.calls), self.root)
        self._metadata(metadata)
        self._signatures(signatures)

    def _count(self, offset: int) -> int:
        """Length of a vector of the root."""
        if not offset:
            return 0
        at = self.root + offset
        length: int = _U32(self.data, at + _U32(self.data, at)[0])[0]
        return length

    def _tables(self, table: int, offset: int) -> Iterator[int]:
        """Positions of the tables in a vector of tables."""
        if offset:
            at = table + offset
            at += _U32(self.data, at)[0]
            length = _U32(self.data, at)[0]
            targets = struct.unpack_from(f"<{length}I", self.data, at + 4)
            yield from map(int.__add__, range(at + 4, at + 4 + 4 * length, 4), targets)

    def _buffers(self, offset: int) -> list[int]:
        """Bytes of each buffer."""
        fields = Fields(self.data, tflite.TABLES["Buffer"], "data", "offset", "size")
        sizes: list[int] = []

        def add(at: int) -> None:
            inside, offset_at, size_at = fields.of(at)
            sizes.append(0)
            if inside:
                sizes[-1] = _U32(self.data, at + inside + _U32(self.data, at + inside)[0])[0]
            outside = self._outside(at, offset_at, size_at) if offset_at else None
            if outside is not None:
                # LiteRT takes the bytes inside when there are both; either must fill its tensors.
                sizes[-1] = min(sizes[-1], outside) if inside else outside

        self.findings.each("buffer", self._tables(self.root, offset), add)
        return sizes

    def _outside(self, at: int, offset_at: int, size_at: int) -> int | None:
        """Bytes that lie behind the flatbuffer, None where the table does not use them."""
        start = _U64(self.data, at + offset_at)[0]
        nbytes: int = _U64(self.data, at + size_at)[0] if size_at else 0
        if start <= 1:
            return None
        if start + nbytes > len(self.data):
            raise self.findings.fault(
                f"{nbytes} bytes at offset {start} run past the end of the file of {len(self.data)}"
            )
        return nbytes

    def _subgraph(self, at: int, offsets: tuple[int, ...]) -> None:
        tensors, inputs, outputs, operators = offsets
        places = list(self._tables(at, tensors))
        count = len(places)
        self.tensor_counts.append(count)
        self.calls.append(Counter())
        self.findings.each("tensor", places, lambda place: self._tensor(place, count))
        for name, offset in (("inputs", inputs), ("outputs", outputs)):
            if wrong := self._wrong_index(name, at, offset, count, 0):
                self.findings.deviation(wrong)
        self.findings.each(
            "operator", self._tables(at, operators), lambda place: self._operator(place, count)
        )

    def _wrong_index(self, name: str, at: int, offset: int, count: int, lowest: int) -> str | None:
        """What is wrong with a vector of indices of that many tensors."""
        if not offset:
            return None
        at += offset
        at += _U32(self.data, at)[0]
        extent = self.extents.get(at)
        if extent is None:
            extent = self.extents[at] = self._extent(at)
        if extent[0] >= lowest and extent[1] < count:
            return None
        worst = extent[0] if extent[0] < lowest else extent[1]
        return f"{name} name tensor {worst}, the subgraph has {count}"

    def _extent(self, at: int) -> tuple[int, int]:
        """Smallest and largest index of a vector."""
        length = _U32(self.data, at)[0]
        self.indices_left -= length
        if self.indices_left < 0:
            raise self.findings.fault("vectors of indices must not overlap")
        values = struct.unpack_from(f"<{length}i", self.data, at + 4)
        return min(values, default=0), max(values, default=-1)

    def _tensor(self, at: int, tensor_count: int) -> None:
        data = self.data
        shape_at, type_at, buffer_at, quantization_at, sparsity_at = self.tensor_fields.of(at)
        type_code = _I8(data, at + type_at)[0] if type_at else 0
        buffer = _U32(data, at + buffer_at)[0] if buffer_at else 0
        if not 0 <= type_code < len(_ELEMENT_BITS):
            raise self.findings.fault(f"type must be 0 to {len(_ELEMENT_BITS) - 1}, got {type_code}")
        if buffer and buffer >= len(self.buffer_bytes):
            raise self.findings.fault(f"buffer {buffer}, the model has {len(self.buffer_bytes)}")
        shape: tuple[int, ...] = ()
        if shape_at:
            place = at + shape_at
            place += _U32(data, place)[0]
            rank = _U32(data, place)[0]
            if rank > _MAX_RANK:
                raise self.findings.fault(f"shape must have at most {_MAX_RANK} dimensions, got {rank}")
            shape = struct.unpack_from(f"<{rank}i", data, place + 4)
            if rank and min(shape) < 0:
                raise self.findings.fault(f"shape must have no negative size, got {list(shape)}")
        nbytes = self.buffer_bytes[buffer] if buffer else 0
        if nbytes and not sparsity_at and _ELEMENT_BITS[type_code]:
            needed = (math.prod(shape) * _ELEMENT_BITS[type_code] + 7) // 8
            if nbytes != needed:
                name = tflite.TensorType(type_code).name.lower()
                wrong = f"{name} {list(shape)} needs {needed} bytes, buffer {buffer} has {nbytes}"
                if nbytes < needed:
                    raise self.findings.fault(wrong)
                self.findings.deviation(wrong)
        if quantization_at:
            place = at + quantization_at
            self._quantization(place + _U32(data, place)[0], shape, tensor_count)

    def _quantization(self, at: int, shape: tuple[int, ...], tensor_count: int) -> None:
        data = self.data
        scale_at, zero_at, dimension_at, details_at, details_type_at = self.quantization_fields.of(at)
        if details_at and details_type_at:
            self._details(at + details_at, data[at + details_type_at], tensor_count)
            return
        if not scale_at:
            return
        scales = _U32(data, at + scale_at + _U32(data, at + scale_at)[0])[0]
        zeros = _U32(data, at + zero_at + _U32(data, at + zero_at)[0])[0] if zero_at else 0
        if scales and zeros not in (scales, 1):
            raise self.findings.fault(
                f"quantization must have a zero_point for each scale, got {zeros} and {scales}"
            )
        if scales > 1:
            dimension = _I32(data, at + dimension_at)[0] if dimension_at else 0
            if shape and (not 0 <= dimension < len(shape) or shape[dimension] != scales):
                raise self.findings.fault(
                    f"quantization has {scales} scales along dimension {dimension} of {list(shape)}"
                )

    def _details(self, at: int, kind: int, tensor_count: int) -> None:
        """Scales and zero points of blockwise and multi-axis quantization are tensors."""
        names = tflite.UNIONS["QuantizationDetails"]
        if not 0 < kind <= len(names) or names[kind - 1] == "CustomQuantization":
            return
        name = names[kind - 1]
        at += _U32(self.data, at)[0]
        for lowest, offset in enumerate(
            Fields(self.data, tflite.TABLES[name], "zero_points", "scales").of(at), -1
        ):
            index = _I32(self.data, at + offset)[0] if offset else 0
            if not lowest <= index < tensor_count:
                self.findings.deviation(f"{name} names tensor {index}, the subgraph has {tensor_count}")

    def _operator(self, at: int, tensor_count: int) -> None:
        data = self.data
        code_at, inputs, outputs, intermediates, *options, custom_at, custom_size = self.operator_fields.of(
            at
        )
        code = _U32(data, at + code_at)[0] if code_at else 0
        if code >= self.code_count:
            raise self.findings.fault(f"opcode_index {code}, the model has {self.code_count}")
        if wrong := self._wrong_index("intermediates", at, intermediates, tensor_count, -1):
            self.findings.deviation(wrong)
        for name, offset, lowest in (("inputs", inputs, -1), ("outputs", outputs, 0)):
            if wrong := self._wrong_index(name, at, offset, tensor_count, lowest):
                self.findings.deviation(wrong)
        if custom_at:
            self._outside(at, custom_at, custom_size)
        for union, type_at, options_at in zip(_CALLING, options[::2], options[1::2], strict=True):
            if type_at and options_at and data[at + type_at] in _CALLING[union]:
                place = at + options_at
                self._callees(union, place + _U32(data, place)[0], data[at + type_at])

    def _callees(self, union: str, at: int, options_type: int) -> None:
        """Subgraphs that an operator calls. LiteRT opens files where one of StableHLO lacks its own."""
        name = tflite.UNIONS[union][options_type - 1]
        fields = _CALLING[union][options_type]
        callees = []
        for field, offset in zip(fields, Fields(self.data, tflite.TABLES[name], *fields).of(at), strict=True):
            for index in self._numbers(at, offset) if field.endswith("indices") else self._number(at, offset):
                if 0 <= index < self.subgraph_count:
                    callees.append(index)
                elif union == "BuiltinOptions":
                    raise self.findings.fault(
                        f"{field} {index}, the model has {self.subgraph_count} subgraphs"
                    )
        if callees:
            self.calls[-1][Call(tuple(sorted(set(callees))), all_run="While" in name)] += 1

    def _number(self, at: int, offset: int) -> tuple[int, ...]:
        return _I32(self.data, at + offset) if offset else (0,)

    def _numbers(self, at: int, offset: int) -> tuple[int, ...]:
        """The vector of int32 of a field."""
        if not offset:
            return ()
        at += offset
        at += _U32(self.data, at)[0]
        length = _U32(self.data, at)[0]
        self.indices_left -= length
        if self.indices_left < 0:
            raise self.findings.fault("vectors of indices must not overlap")
        return struct.unpack_from(f"<{length}i", self.data, at + 4)

    def _metadata(self, offset: int) -> None:
        fields = Fields(self.data, tflite.TABLES["Metadata"], "buffer")

        def check(at: int) -> None:
            [buffer_at] = fields.of(at)
            buffer = _U32(self.data, at + buffer_at)[0] if buffer_at else 0
            if buffer >= len(self.buffer_bytes):
                raise self.findings.fault(f"buffer {buffer}, the model has {len(self.buffer_bytes)}")

        self.findings.each("metadata", self._tables(self.root, offset), check)

    def _signatures(self, offset: int) -> None:
        fields = Fields(self.data, tflite.TABLES["SignatureDef"], "subgraph_index", "inputs", "outputs")
        names = Fields(self.data, tflite.TABLES["TensorMap"], "tensor_index")

        def check(at: int) -> None:
            subgraph_at, *maps = fields.of(at)
            subgraph = _U32(self.data, at + subgraph_at)[0] if subgraph_at else 0
            if subgraph >= self.subgraph_count:
                self.findings.deviation(
                    f"subgraph_index {subgraph}, the model has {self.subgraph_count} subgraphs"
                )
                return
            for place in (place for entry in maps for place in self._tables(at, entry)):
                [index_at] = names.of(place)
                index = _U32(self.data, place + index_at)[0] if index_at else 0
                if index >= self.tensor_counts[subgraph]:
                    self.findings.deviation(
                        f"tensor_index {index}, subgraph {subgraph} has {self.tensor_counts[subgraph]}"
                    )

        self.findings.each("signature", self._tables(self.root, offset), check)


def _naming_subgraphs(union: str) -> dict[int, tuple[str, ...]]:
    fields = {
        number: tuple(f[0] for f in tflite.TABLES[name] if f[0] == "subgraph" or "subgraph_ind" in f[0])
        for number, name in enumerate(tflite.UNIONS[union], 1)
    }
    return {number: names for number, names in fields.items() if names}


# By union: options (by their number in it) that name subgraphs, and the fields that do.
_CALLING = {union: _naming_subgraphs(union) for union in ("BuiltinOptions", "BuiltinOptions2")}
