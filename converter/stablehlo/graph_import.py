"""Import of StableHLO functions: each operation by the rule of its name, calls in place."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError, PrepareError, UnsupportedError
from ...schema.shown import shown
from ..building.body import Body, Names
from ..building.module_builder import FailedError, ModuleBuilder, Refusal
from ..building.tensor import Tensor
from .complex_numbers import complex_rule_of, is_complex
from .element_types import is_constant_only, is_packed
from .held import NO_WORDS, Complex, Held, Words, known_shape
from .program import ArrayType, Block, Operation, Program, Value
from .quantized import is_quantized, quantized_rule
from .register import rule_of
from .step import Rule, Step
from .told_types import MOVES, check_arguments, check_operands, check_passed, check_result

# Operations whose results are those of other operations.
_HANDED_ON = frozenset(("call", "case", "composite", "custom_call", "fft", "if", "while"))
# What knows of numbers of 64 bits as pairs.
_TAKE_WORDS = frozenset(("bitcast_convert", "call", "optimization_barrier", "rng_bit_generator"))
# Functions within functions, and operations of all calls together.
_DEEPEST, MOST_STEPS = 100, 200_000


class Shared(ModuleBuilder):
    """What all functions of a program have in common."""

    def __init__(
        self,
        program: Program,
        names: Names | None = None,
        keep_composites: Sequence[str] = (),
        keep_nan: bool = False,
    ) -> None:
        super().__init__(names)
        self.keep_nan = keep_nan
        self.keep_composites = frozenset(keep_composites)
        self.program = program
        self.calls: list[str] = []
        self.steps = 0


class Importer:
    """A function, or a computation that belongs to an operation. What it has not is the outer one's."""

    def __init__(self, shared: Shared, body: Body, outer: Importer | None = None) -> None:
        self.shared = shared
        self.body = body
        self.outer = outer
        self.values: dict[Value, Held | None] = {}

    def find(self, value: Value) -> Held:
        """The value; FailedError where its operation was refused, ModelError where none gives it."""
        scope: Importer | None = self
        while scope is not None:
            if value in scope.values:
                found = scope.values[value]
                if found is None:
                    raise FailedError
                if found.tensor.body is not self.body:
                    found = self._anew(found)
                    self.values[value] = found
                return found
            scope = scope.outer
        raise ModelError("a value is used before any operation gives it")

    def _anew(self, held: Held) -> Held:
        """A constant of another body in this one."""
        if isinstance(held, Complex):
            return Complex(self._anew(held.real), self._anew(held.imaginary))
        data = held.tensor.data
        if data is None or (held.sizes is not None and held.sizes.data is None):
            raise ModelError("a computation uses a value that was not given to it")
        made = self.body.constant(data, held.tensor.name)
        return Words(made, held.shape) if isinstance(held, Words) else Held(made, held.shape, held.stretched)

    def number(self, value: Value) -> float | None:
        """A constant of one number, None for what is none."""
        data = self.find(value).tensor.data
        return None if data is None or data.size != 1 else float(data.reshape(-1)[0])

    def run(self, block: Block, arguments: Sequence[Held]) -> list[Held]:
        """Import the block's operations; what it returns. FailedError where that is missing."""
        if len(block.arguments) != len(arguments):
            raise ModelError(f"{len(block.arguments)} arguments must be given, got {len(arguments)}")
        check_arguments(arguments, [value.type for value in block.arguments])
        self.values.update(zip(block.arguments, arguments, strict=True))
        returned = block.returned
        for operation in block.steps():
            self._import(operation)
        return [self.find(value) for value in returned]

    def _import(self, operation: Operation) -> None:
        shared = self.shared
        shared.steps += 1
        if shared.steps > MOST_STEPS:
            raise UnsupportedError(f"program: more than {MOST_STEPS} operations, counting each call's")
        before, self.body.prefix = self.body.prefix, operation.name
        try:
            results: Sequence[Held | None] = self._results(operation)
        except FailedError:
            results = [None] * len(operation.results)
        except UnsupportedError as error:
            place = " in ".join(reversed(["main", *shared.calls]))
            shared.refusals.append(Refusal(place, operation.name, str(error)))
            results = [None] * len(operation.results)
        except (ModelError, PrepareError, ValueError, OverflowError, IndexError, MemoryError) as error:
            place = shown(shared.calls[-1] if shared.calls else "main")
            raise ModelError(f"operation {shown(operation.name)} in function {place}: {error}") from error
        finally:
            self.body.prefix = before
        self.values.update(zip(operation.results, results, strict=True))

    def _results(self, operation: Operation) -> list[Held]:
        operands = [self.find(value) for value in operation.operands]
        if operation.name not in _TAKE_WORDS and any(isinstance(each, Words) for each in operands):
            raise UnsupportedError(NO_WORDS)
        check_operands(operation)
        rule = self._rule(operation, operands)
        made = rule(Step(self, operation, operands))
        listed = [made] if isinstance(made, Held | Tensor) else list(made)
        if len(listed) != len(operation.results):
            raise ModelError(f"it must have {len(listed)} results, got {len(operation.results)}")
        for place, (one, value) in enumerate(zip(listed, operation.results, strict=True)):
            check_result(place, one, value.type)
        return [_held(one, value) for one, value in zip(listed, operation.results, strict=True)]

    def _rule(self, operation: Operation, operands: Sequence[Held]) -> Rule:
        """The operation's rule; UnsupportedError where there is none, for complex numbers perhaps."""
        types = [each.type for each in (*operation.operands, *operation.results)]
        if any(is_packed(each.type) for each in operation.results) and operation.name not in MOVES:
            raise UnsupportedError(
                f"values of type {operation.results[0].type} are not computed; have them as i8"
            )
        if operation.name not in _HANDED_ON and any(map(is_quantized, types)):
            return self._quantized_rule(operation)
        is_plain = operation.name in _HANDED_ON or not any(map(is_complex, types))
        rule = rule_of(operation.name) if is_plain else complex_rule_of(operation.name)
        if rule is None:
            what = "" if is_plain else " with complex numbers"
            if operation.name.startswith("chlo."):
                what = "; jax.export writes what it is made of"
            raise UnsupportedError(f"no builtin operators are known for it{what}")
        return rule

    def _quantized_rule(self, operation: Operation) -> Rule:
        rule = quantized_rule(operation.name)
        if rule is None:
            raise UnsupportedError("no builtin operators are known for it with quantized numbers")
        return rule

    def called(self, name: str, operation: Operation, arguments: Sequence[Held]) -> list[Held]:
        """The function's operations in place of an operation that calls it."""
        calls = self.shared.calls
        if name in calls or len(calls) >= _DEEPEST:
            raise ModelError(f"functions must not call themselves, got {' -> '.join(calls)}")
        function = self.shared.program.function(name)
        for what, own, given in (
            ("arguments", function.body.arguments, operation.operands),
            ("results", function.body.returned, operation.results),
        ):
            types = [value.type for value in own], [value.type for value in given]
            check_passed(f"{what} of function {shown(name)}", *types)
        calls.append(name)
        try:
            return Importer(self.shared, self.body).run(function.body, arguments)
        finally:
            calls.pop()

    def inner(self, body: Body) -> Importer:
        """An importer of a computation, which sees this one's values."""
        return Importer(self.shared, body, self)


def _held(made: Held | Tensor, value: Value) -> Held:
    """The result, with what its type says of its shape."""
    if isinstance(made, Words):
        return made
    if is_constant_only(value.type) and (made.tensor if isinstance(made, Held) else made).data is None:
        raise UnsupportedError(
            f"values of type {value.type} have no operators in a .tflite model but as constants; "
            "open sizes may be told by input_shapes"
        )
    if isinstance(made, Held):
        return made
    if not isinstance(value.type, ArrayType):
        return Held(made, made.shape or ())
    tensor = known_shape(made, value.type.shape)
    return Held(tensor, value.type.shape)
