"""Serialization: what delegates keep on disk between runs, so that they need not build it again.

An entry is one file, named by the fingerprints of the model's token and of what the entry is for.
It is written under another name and renamed: a reader, in this process or another, sees the old
entry or the new one. One that is damaged or was cut short counts as not found.
Source: LiteRT tflite/delegates/serialization.h.
"""

from __future__ import annotations

import json
import logging
import os
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from ..kernels.fingerprint import fingerprint64
from ..lite.compiled_partition import class_path
from ..lite.errors import StateError
from ..lite.private_file import read_private
from ..lite.whole_file import publish

if TYPE_CHECKING:
    from ..lite.delegate import Delegate, DelegateContext, DelegateParams

_MAGIC = b"NLCACHE1"
_HEADER = struct.Struct("<8sQQ16s")  # magic, fingerprint, bytes of data, their checksum


def str_fingerprint(data: bytes | str) -> str:
    """FarmHash's Fingerprint64 as decimal digits, which stays the same across runs and machines."""
    return str(fingerprint64(data.encode() if isinstance(data, str) else data))


def options_key(delegate: Delegate, options: Mapping[str, object]) -> str:
    """A custom key that differs between delegates, their versions and their options.

    StateError for options that are not plain values: these say nothing about the next run.
    """
    try:
        return str_fingerprint(json.dumps([class_path(delegate), delegate.version, options], sort_keys=True))
    except (TypeError, ValueError) as error:
        raise StateError(f"options: they must be numbers, texts, lists and maps ({error})") from error


@dataclass(frozen=True)
class SerializationParams:
    """Where entries lie, and of which model.

    model_token must be unique to the model's graph and data (a digest of its file, say).
    """

    model_token: str
    cache_dir: str | os.PathLike[str]


class SerializationEntry:
    """One entry; get it from Serialization."""

    def __init__(self, path: Path, fingerprint: int) -> None:
        self.path = path
        self.fingerprint = fingerprint

    def get_data(self) -> bytes | None:
        """What was set, or None where nothing is there that is whole and only this user can have written."""
        content = read_private(self.path)
        if content is None or len(content) < _HEADER.size:
            return None
        magic, fingerprint, nbytes, checksum = _HEADER.unpack_from(content)
        data = content[_HEADER.size :]
        if (magic, fingerprint, nbytes) != (_MAGIC, self.fingerprint, len(data)):
            return None
        return data if checksum == _checksum(data) else None

    def set_data(self, data: bytes | bytearray | memoryview) -> None:
        """Keep data, in place of what was there. StateError when the directory cannot be written."""
        data = bytes(data)
        header = _HEADER.pack(_MAGIC, self.fingerprint, len(data), _checksum(data))
        try:
            publish(self.path, header + data)
        except OSError as error:
            raise StateError(
                f"serialization: the cache directory must be writable, got {self.path.parent} "
                f"({error.strerror or error})"
            ) from error

    def data_or(self, build: Callable[[], bytes]) -> bytes:
        """What was set; otherwise what build makes, which is kept from now on.

        Where it cannot be kept, a warning says so, and the data are returned all the same.
        """
        data = self.get_data()
        if data is None:
            data = build()
            try:
                self.set_data(data)
            except StateError as error:
                logging.getLogger("numlite").warning("%s", error)
        return data


class Serialization:
    """The entries of one model in one directory."""

    def __init__(self, params: SerializationParams) -> None:
        if not params.model_token:
            raise StateError("serialization: model_token must name the model, got an empty one")
        self.params = params

    def get_entry_for_kernel(
        self, custom_key: str, context: DelegateContext, params: DelegateParams
    ) -> SerializationEntry:
        """The entry of one partition: for init of a delegate's kernel.

        It is another one when the partition's operators, tensors, types or shapes change.
        """
        boundary = (*params.input_tensors, *params.output_tensors)
        return self._entry(custom_key, context, params.nodes_to_replace, boundary)

    def get_entry_for_delegate(self, custom_key: str, context: DelegateContext) -> SerializationEntry:
        """The entry of a whole subgraph: for a delegate's prepare, before it replaces nodes."""
        boundary = (*context.inputs, *context.outputs)
        return self._entry(custom_key, context, context.execution_plan, boundary)

    def _entry(
        self, custom_key: str, context: DelegateContext, nodes: Iterable[int], boundary: Iterable[int]
    ) -> SerializationEntry:
        digest = blake2b(digest_size=8)
        for part in (self.params.model_token, custom_key, context.index, *_graph(context, nodes, boundary)):
            digest.update(f"{part!r}\n".encode())
        fingerprint = int.from_bytes(digest.digest(), "little")
        name = f"{str_fingerprint(self.params.model_token)}_{fingerprint}.bin"
        return SerializationEntry(Path(self.params.cache_dir, name), fingerprint)


def save_delegated_nodes(
    context: DelegateContext, serialization: Serialization, delegate_id: str, nodes: Iterable[int]
) -> None:
    """Keep which nodes of the subgraph the delegate takes; call it before they are replaced."""
    entry = serialization.get_entry_for_delegate(delegate_id, context)
    entry.set_data(json.dumps(list(nodes)).encode())


def get_delegated_nodes(
    context: DelegateContext, serialization: Serialization, delegate_id: str
) -> list[int] | None:
    """The nodes that save_delegated_nodes has kept, or None."""
    data = serialization.get_entry_for_delegate(delegate_id, context).get_data()
    return None if data is None else [int(node) for node in json.loads(data)]


def _graph(context: DelegateContext, nodes: Iterable[int], boundary: Iterable[int]) -> Iterable[object]:
    """What tells one graph from another: its operators and their tensors' types and shapes."""
    tensors = set(boundary)
    for n in nodes:
        node, registration = context.node_and_registration(n)
        tensors.update(node.inputs, node.outputs)
        yield n, registration.name, node.version, node.inputs, node.outputs, node.custom_options
        yield None if node.delegate is not None else node.options
    yield tuple(boundary)
    for t in sorted(tensors - {-1}):
        tensor = context.tensor(t)
        yield t, tensor.type, tensor.shape, tensor.is_constant


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
