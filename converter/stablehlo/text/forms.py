"""Operations in the forms of their own that StableHLO prints: `stablehlo.iota dim = 0 : tensor<4xi32>`."""

from __future__ import annotations

import re
from collections.abc import Callable

from ....schema.shown import shown
from ..program import Attribute, Dense, Name, Operation, Value, Verbatim
from .attributes import parse_attribute, parse_dictionary, parse_list
from .block_forms import BLOCK_FORMS
from .operations import parse_signature, plain_name
from .program_reader import ProgramReader
from .scope import Scope

_NAME = re.compile(r"[A-Za-z_][\w$]*(?:\.[\w$-]+)*")
_NUMBER = re.compile(r"-?\d{1,18}(?!\w)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_SLICE = re.compile(r"(\d{1,18})\s*:\s*(\d{1,18})(?:\s*:\s*(\d{1,18}))?")
_PRECISION = re.compile(r"e(\d{1,2})m(\d{1,2})")
# What attributes are called where an operation says `dims = [0]`.
_NAMED: dict[str, dict[str, str]] = {
    "broadcast": {"sizes": "broadcast_sizes"},
    "broadcast_in_dim": {"dims": "broadcast_dimensions"},
    "cholesky": {"lower": "lower"},
    "concatenate": {"dim": "dimension"},
    "dot": {"precision": "precision_config"},
    "dot_general": {
        "algorithm": "algorithm",
        "batching_dims": "batching",
        "contracting_dims": "contracting",
        "precision": "precision_config",
    },
    "dynamic_broadcast_in_dim": {"dims": "broadcast_dimensions"},
    "dynamic_iota": {"dim": "iota_dimension"},
    "dynamic_slice": {"sizes": "slice_sizes"},
    "einsum": {"config": "einsum_config"},
    "fft": {"length": "fft_length", "type": "fft_type"},
    "get_dimension_size": {"dim": "dimension"},
    "iota": {"dim": "iota_dimension"},
    "pad": {"high": "edge_padding_high", "interior": "interior_padding", "low": "edge_padding_low"},
    "reduce_precision": {"format": "format"},
    "reverse": {"dims": "dimensions"},
    "rng": {"distribution": "rng_distribution"},
    "rng_bit_generator": {"algorithm": "rng_algorithm"},
    "set_dimension_size": {"dim": "dimension"},
    "torch_index_select": {"batch_dims": "batch_dims", "dim": "dim"},
    "transpose": {"dims": "permutation"},
    "unary_einsum": {"config": "einsum_config"},
}
_COMPARED = ("comparison_direction", "compare_type")


def parse_form(scope: Scope, results: int) -> Operation:
    """The operation from its name to its types. UnsupportedError for forms of other dialects."""
    reader, start = scope.reader, scope.reader.at
    found = reader.match(_NAME)
    if found is None:
        raise reader.error("expected an operation")
    name = plain_name(reader, found[0], start)
    if name in BLOCK_FORMS:
        return BLOCK_FORMS[name](scope)
    operation = Operation(name, [], [])
    rule = _FORMS.get(name)
    if rule is not None:
        rule(scope, operation)
    elif name == "return":
        operation.operands = scope.uses() if reader.sees("%") else []
    elif found[0].partition(".")[0] in ("stablehlo", "mhlo", "chlo", "func"):
        _items(scope, operation)
    elif "." not in found[0]:
        raise reader.error("expected an operation", start)
    else:
        raise reader.refuse(
            f"operation {shown(found[0])}: its form is not known; "
            "print the module with print_generic_op_form=True",
            start,
        )
    if reader.sees("{"):
        operation.attributes.update(parse_dictionary(reader))
    if name == "return":
        if reader.accept(":"):
            parse_signature(reader, operation.operands, len(operation.operands))
    elif not operation.results:
        reader.expect(":")
        operation.results = parse_signature(reader, operation.operands, max(results, 1))
    return operation


def _items(scope: Scope, operation: Operation) -> None:
    """Operands, words and named attributes with commas between them, perhaps in parentheses."""
    reader = scope.reader
    closed = reader.accept("(")
    words: list[Attribute] = []
    more = reader.text[reader.at : reader.at + 1] not in ("", ":", "{", ")")
    while more:
        if reader.sees("%"):
            operation.operands.append(scope.use())
        else:
            _item(reader, operation, words)
        more = reader.accept(",")
    if closed:
        reader.expect(")")
    operation.attributes.update(zip(_COMPARED if operation.name == "compare" else (), words, strict=False))


def _item(reader: ProgramReader, operation: Operation, words: list[Attribute]) -> None:
    """A word, or an attribute by the name that the form has for it."""
    found = reader.match(_WORD)
    if found is None:
        raise reader.error(f"expected an operand or an attribute of {operation.name}")
    if not reader.accept("="):
        words.append(Name(found[0]))
        return
    key = _NAMED.get(operation.name, {}).get(found[0], found[0])
    value = _value(reader)
    if reader.accept("x"):
        operation.attributes.update({f"lhs_{key}_dimensions": value, f"rhs_{key}_dimensions": _value(reader)})
    elif key == "format":
        precision = _PRECISION.fullmatch(value.text if isinstance(value, Name) else "")
        if precision is None:
            raise reader.error("expected a format such as e5m10")
        operation.attributes.update(exponent_bits=int(precision[1]), mantissa_bits=int(precision[2]))
    else:
        operation.attributes[key] = value


def _value(reader: ProgramReader) -> Attribute:
    """A number without its type, a truth value, a text or a word of an enumeration, or a list of these."""
    number = reader.match(_NUMBER)
    if number is not None:
        return int(number[0])
    if reader.sees("["):
        return parse_list(reader, "[", "]", _value)
    if reader.sees("<"):
        return Verbatim(reader.skip_brackets())
    found = _WORD.match(reader.text, reader.at)
    if found is None or found[0] in ("true", "false"):
        return parse_attribute(reader)
    reader.match(_WORD)
    return Name(found[0])


def _constant(scope: Scope, operation: Operation) -> None:
    """dense<1.0> : tensor<2xf32>, or () <{value = dense<1> : tensor<2xi8>}> : () -> type"""
    reader = scope.reader
    if reader.accept("("):
        reader.expect(")")
        is_own = reader.accept("<")
        operation.attributes.update(parse_dictionary(reader))
        if is_own:
            reader.expect(">")
        return
    if reader.sees("{"):
        operation.attributes.update(parse_dictionary(reader))
    value = operation.attributes["value"] = parse_attribute(reader)
    if not isinstance(value, Dense):
        raise reader.error("a constant must be dense<...>")
    operation.results = [Value(value.type)]


def _slice(scope: Scope, operation: Operation) -> None:
    """%x [0:4, 1:9:2]"""
    operation.operands.append(scope.use())
    names = ("start_indices", "limit_indices", "strides")
    rows = parse_list(scope.reader, "[", "]", _range)
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], []]
    operation.attributes.update(zip(names, columns, strict=True))


def _range(reader: ProgramReader) -> Attribute:
    found = reader.match(_SLICE)
    if found is None:
        raise reader.error("expected a range such as 0:4")
    return [int(found[1]), int(found[2]), int(found[3] or 1)]


def _call(scope: Scope, operation: Operation) -> None:
    """@f(%x, %y)"""
    key = "callee" if operation.name == "call" else "call_target_name"
    operation.attributes[key] = scope.reader.symbol()
    scope.reader.expect("(")
    operation.operands = scope.uses(")")


def _composite(scope: Scope, operation: Operation) -> None:
    """ "name" %x, %y"""
    operation.attributes["name"] = scope.reader.string().decode(errors="replace")
    if scope.reader.sees("%"):
        operation.operands = scope.uses()


def _element(scope: Scope, operation: Operation) -> None:
    """%x[0]"""
    operation.operands.append(scope.use())
    [operation.attributes["index"]] = parse_list(scope.reader, "[", "]", parse_attribute) or [None]


_FORMS: dict[str, Callable[[Scope, Operation], None]] = {
    "call": _call,
    "chlo.constant": _constant,
    "composite": _composite,
    "constant": _constant,
    "custom_call": _call,
    "get_tuple_element": _element,
    "slice": _slice,
}
