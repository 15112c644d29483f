"""Damage to protobuf messages: fields of any message, and bytes."""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import EncodeError, Message

NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 64, 255, 4096, 1 << 20),
    *(1 << 31, (1 << 31) - 1, 1 << 40, -(1 << 62), (1 << 63) - 1),
)
REALS = (0.0, -1.0, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"))
TEXTS = (
    *("", "x", ":", "^", "^x", "a:b:9", "x:99999999999", "\x1b[31m"),
    *("ﬀ", "a/../b", "%", "_", "loop/x", "🙂"),
)
_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: 32,
    FieldDescriptor.CPPTYPE_UINT32: 32,
    FieldDescriptor.CPPTYPE_ENUM: 31,
}
_SIGNED = (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64)


def damaged(content: bytes, kind: type[Message], draw: random.Random) -> bytes:
    """The message with a field or a few changed, or its bytes."""
    if draw.random() < 0.1:
        return damaged_bytes(content, draw)
    message = kind.FromString(content)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        change_field(message, draw)
    return packed(message, content)


def packed(message: Message, otherwise: bytes) -> bytes:
    try:
        return message.SerializeToString(deterministic=True)
    except (EncodeError, ValueError):
        return otherwise


def damaged_bytes(content: bytes, draw: random.Random) -> bytes:
    """Bits flipped, a piece left out, doubled or zeroed, or the end cut off."""
    data = bytearray(content)
    if not data:
        return b"\xff"
    begin = draw.randrange(len(data))
    end = min(len(data), begin + draw.choice((1, 2, 8, 64, 1024)))
    how = draw.randrange(6)
    if how < 3:
        for _ in range(draw.choice((1, 1, 2, 4, 16))):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif how == 3:
        del data[begin:]
    else:
        data[begin:end] = draw.choice((b"", data[begin:end] * 2, bytes(end - begin), data[begin:end] * 100))
    return bytes(data)


def change_field(message: Message, draw: random.Random) -> None:
    """Change one field of the message or of what it holds."""
    owner: Any = message
    while True:
        held = owner.ListFields()
        fields = owner.DESCRIPTOR.fields
        if not fields:
            return
        if not held or draw.random() < 0.03:
            field = draw.choice(fields)
            _change(owner, field, draw)
            return
        field, value = draw.choice(held)
        inner = _messages(field, value)
        if not inner or draw.random() < 0.15:
            _change(owner, field, draw)
            return
        owner = draw.choice(inner)


def _messages(field: FieldDescriptor, value: Any) -> list[Message]:
    if field.message_type is None:
        return []
    if field.message_type.GetOptions().map_entry:
        return [value[key] for key in sorted(value) if isinstance(value[key], Message)]
    return list(value) if field.is_repeated else [value]


def _change(owner: Any, field: FieldDescriptor, draw: random.Random) -> None:
    name = field.name
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        _change_map(getattr(owner, name), draw)
    elif field.is_repeated:
        _change_list(getattr(owner, name), field, draw)
    elif field.message_type is not None:
        if draw.random() < 0.5:
            owner.ClearField(name)
        else:
            getattr(owner, name).SetInParent()
    elif draw.random() < 0.1:
        owner.ClearField(name)
    else:
        setattr(owner, name, odd(field, getattr(owner, name), draw))


def _change_map(entries: Any, draw: random.Random) -> None:
    if not entries:
        return
    a, b = draw.choice(sorted(entries)), draw.choice(sorted(entries))
    how = draw.randrange(3)
    if how == 0 or not isinstance(a, str):
        del entries[a]
    elif how == 1 and isinstance(entries[a], Message):
        entries[a].CopyFrom(type(entries[a]).FromString(entries[b].SerializeToString()))
    elif isinstance(entries[a], Message):
        entries[draw.choice(TEXTS)].CopyFrom(entries[a])
    else:
        entries[a] = entries[b]


def _change_list(items: Any, field: FieldDescriptor, draw: random.Random) -> None:
    count = len(items)
    how = draw.choice(("drop", "double", "swap", "empty", "many", "element", "element", "element"))
    if not count:
        if field.message_type is not None:
            items.add()
        else:
            items.append(odd(field, None, draw))
        return
    at = draw.randrange(count)
    if how == "empty":
        del items[:]
    elif how == "drop":
        del items[at]
    elif field.message_type is not None:
        other = items[draw.randrange(count)]
        if how == "swap":
            items[at].CopyFrom(type(other).FromString(other.SerializeToString()))
        else:
            for _ in range(50 if how == "many" else 1):
                items.add().CopyFrom(items[at])
    elif how == "swap":
        other = draw.randrange(count)
        items[at], items[other] = items[other], items[at]
    elif how == "element":
        items[at] = odd(field, items[at], draw)
    else:
        items.extend([items[at]] * (200 if how == "many" else 1))


def odd(field: FieldDescriptor, value: Any, draw: random.Random) -> Any:
    """A value that the field can hold, and that it seldom has."""
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return not value
    if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return draw.choice(REALS)
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return _odd_text(value or (b"" if field.type == FieldDescriptor.TYPE_BYTES else ""), draw)
    if kind == FieldDescriptor.CPPTYPE_ENUM and draw.random() < 0.8:
        return draw.randrange(0, 32)
    bits = _INTEGERS.get(kind, 64)
    number = draw.choice((*NUMBERS, int(value or 0) + 1, int(value or 0) - 1, 2 * int(value or 0)))
    number &= (1 << bits) - 1
    return number - (1 << bits) if kind in _SIGNED and number >> (bits - 1) else number


def _odd_text(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bytes):
        return damaged_bytes(value, draw)[: 1 << 16] if value else draw.choice(TEXTS).encode()
    if value and draw.random() < 0.5:
        at = draw.randrange(len(value))
        return draw.choice(
            (value[:at], value[at:], value + value, value[:at] + draw.choice("^:/%0 \n") + value[at:])
        )
    return draw.choice(TEXTS)
