"""Protocol buffer messages from a serialized descriptor, apart from those of other packages."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message_factory import GetMessageClass


def load(package: str, descriptor: bytes) -> dict[str, Any]:
    """Message classes, enums and enum values of the file, by name.

    They live in a pool of their own: TensorFlow's messages of the same shape may be loaded too.
    """
    pool = DescriptorPool()
    pool.AddSerializedFile(descriptor)
    file = FileDescriptorProto.FromString(descriptor)
    found: dict[str, Any] = {}
    for message in file.message_type:
        found[message.name] = GetMessageClass(pool.FindMessageTypeByName(f"{package}.{message.name}"))
    for enum in file.enum_type:
        found[enum.name] = EnumTypeWrapper(pool.FindEnumTypeByName(f"{package}.{enum.name}"))
        found |= {value.name: value.number for value in enum.value}
    return found
