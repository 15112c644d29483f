"""Config: the settings of a layer as its file has them, read by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...lite.errors import ModelError
from ...schema.shown import shown

# Longer values of a file are cut off in messages.
_LONGEST = 60


def cut(value: object) -> str:
    """The value in few words, fit to be shown."""
    text = shown(repr(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


class Config:
    """Settings by name. A method raises ModelError when the setting is of another type, or missing."""

    def __init__(self, values: object) -> None:
        if not isinstance(values, Mapping):
            raise ModelError(f"config must be a dictionary, got {cut(values)}")
        self.values: Mapping[str, object] = values

    def get(self, name: str) -> object:
        """The setting as it is, None where it is missing."""
        return self.values.get(name)

    def has(self, name: str) -> bool:
        """Whether it is there and not None."""
        return self.values.get(name) is not None

    def integer(self, name: str, default: int | None = None) -> int:
        found = self._found(name, default)
        if isinstance(found, Sequence) and not isinstance(found, str) and len(found) == 1:
            found = found[0]
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if not isinstance(found, int) or isinstance(found, bool) or abs(found) >= 1 << 63:
            raise ModelError(f"{name} must be an integer, got {cut(found)}")
        return found

    def positive(self, name: str, default: int | None = None) -> int:
        found = self.integer(name, default)
        if not 0 < found < 1 << 31:
            raise ModelError(f"{name} must be positive, got {found}")
        return found

    def real(self, name: str, default: float | None = None) -> float:
        found = plain(self._found(name, default))
        if not isinstance(found, int | float) or isinstance(found, bool):
            raise ModelError(f"{name} must be a number, got {cut(found)}")
        return float(found)

    def flag(self, name: str, default: bool = False) -> bool:
        found = self.values.get(name)
        if found is None:
            return default
        if not isinstance(found, bool | int):
            raise ModelError(f"{name} must be true or false, got {cut(found)}")
        return bool(found)

    def text(self, name: str, default: str | None = None) -> str:
        found = self._found(name, default)
        if not isinstance(found, str):
            raise ModelError(f"{name} must be a text, got {cut(found)}")
        return found

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        found = self.text(name, default)
        if found not in choices:
            raise ModelError(f"{name} must be one of {', '.join(choices)}, got {cut(found)}")
        return found

    def integers(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        """A list of integers; one integer is a list of one."""
        return integers_of(self._found(name, default), name)

    def sizes(self, name: str, count: int, default: int | None = None, smallest: int = 1) -> tuple[int, ...]:
        """So many integers from the smallest on; one stands for all."""
        found = self.integers(name, None if default is None else [default])
        found = found * count if len(found) == 1 else found
        if len(found) != count or not all(smallest <= each < 1 << 31 for each in found):
            raise ModelError(f"{name} must be {count} integers from {smallest} on, got {cut(found)}")
        return tuple(found)

    def config(self, name: str) -> Config:
        """Settings within."""
        return Config(self._found(name, None))

    def list(self, name: str, default: Sequence[object] | None = None) -> list[object]:
        found = plain(self._found(name, default))
        if isinstance(found, str) or not isinstance(found, Sequence):
            raise ModelError(f"{name} must be a list, got {cut(found)}")
        return list(found)

    def _found(self, name: str, default: object) -> object:
        found = self.values.get(name)
        if found is None:
            if default is None:
                raise ModelError(f"{name} is missing")
            return default
        return found


def integers_of(value: object, name: str) -> list[int]:
    """The value as a list of integers."""
    value = plain(value)
    items = list(value) if isinstance(value, list | tuple) else [value]
    found = [each for each in items if isinstance(each, int) and not isinstance(each, bool)]
    if len(found) < len(items) or any(abs(each) >= 1 << 63 for each in found):
        raise ModelError(f"{name} must be integers, got {cut(value)}")
    return found


def plain(value: object) -> object:
    """A value without the wrapping that Keras gives tuples and arrays."""
    if isinstance(value, Mapping):
        kind = value.get("class_name")
        if kind == "__tuple__":
            return plain(value.get("items"))
        if kind in ("__tensor__", "__numpy__"):
            return Config(value).config("config").get("value")
        if kind == "TensorShape":
            return value.get("items")
        if kind == "__bytes__":
            return Config(value).config("config").get("value")
    return value
