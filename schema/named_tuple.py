"""NamedTuple: typing's, made in a fifth of the time, for the modules that every start imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter  # with the form in Python where there is no other

    class _Named(type):
        """typing's compiles a function for each class: here one serves all."""

        def __new__(kind, name, bases, namespace):
            namespace["__slots__"] = ()
            if tuple not in bases:
                names = tuple(namespace.get("__annotations__", ()))
                namespace["_defaults"] = {name: namespace[name] for name in names if name in namespace}
                namespace["_fields"] = namespace["__match_args__"] = names
                namespace.update([(name, _tuplegetter(n, None)) for n, name in enumerate(names)])
            return type.__new__(kind, name, bases, namespace)

    class NamedTuple(tuple, metaclass=_Named):
        """Fields by annotations of the class, as typing's; classes made of it are not made of again."""

        def __new__(kind, /, *values, **named):
            if named or len(values) != len(kind._fields):
                values = kind._completed(values, named)
            return tuple.__new__(kind, values)

        @classmethod
        def _completed(kind, values, named, /):
            """All values in order; TypeError where they are not those of the fields."""
            rest = kind._fields[len(values) :]
            known = {**kind._defaults, **named}
            if len(values) > len(kind._fields) or not known.keys() >= set(rest) >= named.keys():
                given = ", ".join([*map(repr, values), *named])
                raise TypeError(f"{kind.__name__}: values must be those of {kind._fields}, got {given}")
            return (*values, *[known[name] for name in rest])

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            values = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({values})"

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, /, **named):
            values = [named.pop(name, value) for name, value in zip(self._fields, self, strict=True)]
            if named:
                raise ValueError(f"{type(self).__name__}: fields must be {self._fields}, got {list(named)}")
            return tuple.__new__(type(self), values)
