"""Protocol buffer messages from a serialized descriptor, apart from those of other packages."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message_factory import GetMessageClass

# A pool of our own: TensorFlow's messages of the same shape may be loaded too.
_POOL = DescriptorPool()
_added: set[str] = set()


def load(package: str, descriptor: bytes, *imported: bytes) -> dict[str, Any]:
    """Message classes, enums and enum values of the file, by name; `imported` are the files it needs."""
    for needed in (*imported, descriptor):
        file = FileDescriptorProto.FromString(needed)
        if file.name not in _added:
            _POOL.AddSerializedFile(needed)
            _added.add(file.name)
    found: dict[str, Any] = {}
    for message in file.message_type:
        found[message.name] = GetMessageClass(_POOL.FindMessageTypeByName(f"{package}.{message.name}"))
    for enum in file.enum_type:
        found[enum.name] = EnumTypeWrapper(_POOL.FindEnumTypeByName(f"{package}.{enum.name}"))
        found |= {value.name: value.number for value in enum.value}
    return found
