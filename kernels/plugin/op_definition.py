"""Op definitions that a plugin registers, and what it asks of those that are registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...schema.graph_def import OpDef, OpList
from ...schema.op_defs import op_defs
from ..fallback.op_specification import finish, parse_argument, parse_attribute
from ..fallback.status import InvalidArgumentError
from .buffer import new_buffer
from .callbacks import Answer, name_text
from .handles import Handles


@dataclass
class OpDefinitionBuilder:
    """An op in the making. A specification that makes no sense shows when the op is registered."""

    definition: OpDef
    faults: list[str] = field(default_factory=list)

    def parse(self, parse: Callable[[], None]) -> None:
        try:
            parse()
        except ValueError as error:
            self.faults.append(str(error))


def op_definition_answers(handles: Handles, ops: dict[str, OpDef]) -> Mapping[str, Answer]:
    """What TF_OpDefinitionBuilder functions do: registered definitions go into ops."""

    def builder(handle: int) -> OpDefinitionBuilder:
        return handles.get(handle, OpDefinitionBuilder)

    def make(name: bytes | None) -> int:
        return handles.new(OpDefinitionBuilder(OpDef(name=name_text(name))))

    def add_attribute(handle: int, spec: bytes | None) -> None:
        op = builder(handle)
        op.parse(lambda: parse_attribute(op.definition.attr.add(), name_text(spec)))

    def add_input(handle: int, spec: bytes | None) -> None:
        op = builder(handle)
        op.parse(lambda: parse_argument(op.definition.input_arg.add(), name_text(spec)))

    def add_output(handle: int, spec: bytes | None) -> None:
        op = builder(handle)
        op.parse(lambda: parse_argument(op.definition.output_arg.add(), name_text(spec)))

    def flag(member: str) -> Answer:
        return lambda handle, value: setattr(builder(handle).definition, member, bool(value))

    def deprecated(handle: int, version: int, explanation: bytes | None) -> None:
        held = builder(handle).definition.deprecation
        held.version, held.explanation = version, name_text(explanation)

    def register(handle: int) -> None:
        op = builder(handle)
        handles.drop(handle)
        if op.faults:
            raise InvalidArgumentError(f"op {op.definition.name!r}: {'; '.join(op.faults)}")
        _check_new(op.definition, ops)
        ops[op.definition.name] = finish(op.definition)

    return {
        "TF_NewOpDefinitionBuilder": make,
        "TF_DeleteOpDefinitionBuilder": handles.drop,
        "TF_OpDefinitionBuilderAddAttr": add_attribute,
        "TF_OpDefinitionBuilderAddInput": add_input,
        "TF_OpDefinitionBuilderAddOutput": add_output,
        "TF_OpDefinitionBuilderSetIsCommutative": flag("is_commutative"),
        "TF_OpDefinitionBuilderSetIsAggregate": flag("is_aggregate"),
        "TF_OpDefinitionBuilderSetIsStateful": flag("is_stateful"),
        "TF_OpDefinitionBuilderSetAllowsUninitializedInput": flag("allows_uninitialized_input"),
        "TF_OpDefinitionBuilderDeprecated": deprecated,
        # Shapes of such an op are not known here: kernels find them by running.
        "TF_OpDefinitionBuilderSetShapeInferenceFunction": lambda handle, function: None,
        "TF_RegisterOpDefinition": register,
    }


def _check_new(definition: OpDef, ops: Mapping[str, OpDef]) -> None:
    """What TensorFlow knows may be registered: a plugin made for an older one brings what came later."""
    name = definition.name
    if not name or not name.isascii():
        raise InvalidArgumentError(f"op: its name must be text, got {name!r}")
    if name in ops and ops[name] != definition:
        raise InvalidArgumentError(f"op {name!r}: it must be registered once, got another definition of it")


def registered_op_answers(ops: Mapping[str, OpDef]) -> Mapping[str, Answer]:
    """What a plugin is told of ops: TensorFlow's, and those that plugins have registered."""

    def all_ops() -> int:
        known = (op_defs().find(name) for name in op_defs().names())
        listed = OpList(op=[*(op for op in known if op is not None), *ops.values()])
        return new_buffer(listed.SerializeToString())

    def is_stateful(name: bytes | None) -> bool:
        found = ops.get(name_text(name)) or op_defs().find(name_text(name))
        if found is None:
            raise InvalidArgumentError(f"op: must be registered, got {name_text(name)!r}")
        return found.is_stateful

    return {"TF_GetAllOpList": all_ops, "TF_OpIsStateful": is_stateful}
