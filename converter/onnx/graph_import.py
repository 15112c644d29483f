"""Import of ONNX graphs: each node by the rule of its operator, functions and subgraphs in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from ...lite.errors import ModelError, PrepareError, UnsupportedError
from ...schema.onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TypeProto
from ...schema.shown import shown
from ..building.body import Body
from ..building.computed_types import inner_array
from ..building.module_builder import FailedError, ModuleBuilder, Refusal
from ..building.tensor import Tensor
from ..shapes.dimensions import Symbol
from .branches import Run, captured, captures, chosen, sequences_within, within
from .call import Call, Held, Rule
from .model_file import ONNX_DOMAINS
from .register import NOT_BUILT, domain_of, rule_of
from .stacked import Branched, NothingError
from .tensor_data import TensorData

# Operators that see both branches of a value: all others run in each.
_TAKE_BRANCHES = frozenset(("Identity", "If", "Optional", "OptionalGetElement", "OptionalHasElement"))
# Functions within functions.
_DEEPEST = 50


class Shared(ModuleBuilder):
    """What all graphs of a model have in common."""

    def __init__(self, model: ModelProto, folder: Path | None) -> None:
        super().__init__()
        self.data = TensorData(folder)
        self.opsets = {domain_of(each.domain): each.version for each in model.opset_import}
        self.functions: dict[tuple[str, str, str], FunctionProto] = {
            (domain_of(f.domain), f.name, f.overload): f for f in model.functions
        }
        self.calls: list[str] = []
        self.known_constants: dict[str, np.ndarray] = {}


class Importer:
    """One graph, or the body of a function or subgraph. values are Tensors by ONNX's names.

    Names that it does not have are the outer graph's (of a subgraph).
    """

    def __init__(
        self,
        shared: Shared,
        body: Body,
        outer: Importer | None = None,
        given: Mapping[str, AttributeProto] | None = None,
        opsets: Mapping[str, int] | None = None,
    ) -> None:
        self.shared = shared
        self.data = shared.data
        self.body = body
        self.outer = outer
        # Attributes of the call, for the body of a function.
        self.given = given or {}
        self.opsets = shared.opsets if opsets is None else opsets
        self.values: dict[str, Held] = {}
        self.users: dict[str, list[NodeProto]] = {}
        self.makers: dict[str, NodeProto] = {}
        # Names that are looked at from outside.
        self.outputs: set[str] = set()

    def find(self, name: str) -> Held:
        """The value; FailedError where its node was refused, ModelError when there is none of the name."""
        scope: Importer | None = self
        while scope is not None:
            if name in scope.values:
                found = scope.values[name]
                if isinstance(found, _Missing):
                    raise FailedError
                if isinstance(found, Tensor) and found.body is not self.body and found.data is not None:
                    # A constant is made anew in the body that uses it.
                    found = self.values[name] = self.body.constant(found.data, found.name)
                return found
            scope = scope.outer
        raise ModelError(f"value {shown(name)} is used before any node gives it")

    def constant_named(self, name: str) -> np.ndarray | None:
        """The elements of a constant, also of one whose node is still to come; None for what is none."""
        held = self.values.get(name)
        if isinstance(held, Tensor):
            return held.data
        maker = self.makers.get(name)
        tensors = (
            []
            if maker is None or maker.op_type != "Constant"
            else [a for a in maker.attribute if a.HasField("t")]
        )
        return self.data.array(tensors[0].t) if tensors else None

    def initializers(self, graph: GraphProto) -> None:
        """The graph's constants become values."""
        for proto in graph.initializer:
            self.values[proto.name] = self.constant(self.data.array(proto), proto.name)
        for sparse in graph.sparse_initializer:
            name = sparse.values.name
            self.values[name] = self.constant(self.data.sparse(sparse), name)

    def constant(self, array: np.ndarray, name: str = "") -> Tensor:
        """A constant of a stored array."""
        if array.dtype == np.uint64:
            raise UnsupportedError("UINT64 has no type that operators of a .tflite model take")
        if array.dtype.byteorder == ">":
            array = array.astype(array.dtype.newbyteorder("="))
        return self.body.constant(inner_array(array), name)

    def run(self, nodes: Iterable[NodeProto]) -> None:
        """Import the nodes in order. What is refused is noted, and what depends on it left out."""
        nodes = list(nodes)
        for node in nodes:
            for name in node.input:
                self.users.setdefault(name, []).append(node)
            for name in node.output:
                self.makers.setdefault(name, node)
        for node in nodes:
            self._import(node)

    def _import(self, node: NodeProto) -> None:
        base = next((name for name in node.output if name), node.name)
        before, self.body.prefix = self.body.prefix, base
        try:
            results = self._results(node)
        except FailedError:
            results = [_MISSING] * len(node.output)
        except UnsupportedError as error:
            self.shared.refusals.append(Refusal(node.name or base, _op_name(node), str(error)))
            results = [_MISSING] * len(node.output)
        except NothingError as error:
            raise NothingError(
                f"node {shown(node.name or base)} ({shown(_op_name(node))}): {error}"
            ) from error
        except (ModelError, PrepareError, ValueError, OverflowError, IndexError, MemoryError) as error:
            what = f"node {shown(node.name or base)} ({shown(_op_name(node))})"
            raise ModelError(f"{what}: {error}") from error
        finally:
            self.body.prefix = before
        for name, value in zip(node.output, results, strict=False):
            if name:
                self._keep(name, value)
        for name in node.output[len(results) :]:
            if name:
                raise ModelError(f"node {shown(node.name or base)}: it has no output {shown(name)}")

    def _keep(self, name: str, value: Held) -> None:
        if name in self.values:
            raise ModelError(f"value {shown(name)} must be given once, got it from two nodes")
        self.values[name] = value

    def _results(self, node: NodeProto) -> list[Held]:
        operands = [self.find(name) if name else None for name in node.input]
        attributes = self._attributes(node)
        domain = domain_of(node.domain)
        function = self.shared.functions.get((domain, node.op_type, node.overload))
        if function is not None:
            return self._called(function, node, operands, attributes)
        if domain not in self.opsets:
            raise ModelError(f"domain {domain!r} is not among the model's opsets")
        rule = rule_of(domain, node.op_type)
        if rule is None:
            raise UnsupportedError(NOT_BUILT.get(node.op_type, "no builtin operators are known for it"))
        return self._by_rule(rule, node, operands, attributes)

    def _by_rule(
        self, rule: Rule, node: NodeProto, operands: list[Held], attributes: dict[str, AttributeProto]
    ) -> list[Held]:
        branched = [place for place, held in enumerate(operands) if isinstance(held, Branched)]
        if branched and node.op_type not in _TAKE_BRANCHES:
            return self._in_branches(branched[0], rule, node, operands, attributes)
        made = rule(Call(self, node, operands, self.opsets[domain_of(node.domain)], attributes))
        return [made] if isinstance(made, Tensor) else list(made)

    def _in_branches(
        self,
        place: int,
        rule: Rule,
        node: NodeProto,
        operands: list[Held],
        attributes: dict[str, AttributeProto],
    ) -> list[Held]:
        """The node on what either branch has given."""
        graphs = [each.g for each in attributes.values() if each.type == AttributeProto.GRAPH]
        given = {f"\0{place}": held for place, held in enumerate(operands)}
        held = operands[place]
        assert isinstance(held, Branched)

        def run(is_yes: bool) -> Run:
            def made(body: Body, outer: dict[str, Tensor]) -> list[Held]:
                importer = self.inner(body)
                importer.values.update(outer)
                for graph in graphs:
                    importer.values.update(sequences_within(self, body, graph, outer))
                own = list(within(body, given, outer).values())
                both = own[place]
                assert isinstance(both, Branched)
                own[place] = both.yes if is_yes else both.no
                return importer._by_rule(rule, node, own, attributes)

            return made

        outer = captures(self, *graphs) | captured(given)
        return chosen(self.shared, self.body, held.condition, outer, [run(True), run(False)])

    def _attributes(self, node: NodeProto) -> dict[str, AttributeProto]:
        """By name; what refers to the function's own is replaced by what its call gives."""
        found = {}
        for attribute in node.attribute:
            if not attribute.ref_attr_name:
                found[attribute.name] = attribute
            elif attribute.ref_attr_name in self.given:
                found[attribute.name] = self.given[attribute.ref_attr_name]
        return found

    def _called(
        self,
        function: FunctionProto,
        node: NodeProto,
        operands: list[Held],
        attributes: Mapping[str, AttributeProto],
    ) -> list[Held]:
        """The function's nodes in place of the call."""
        calls = self.shared.calls
        if function.name in calls or len(calls) >= _DEEPEST:
            raise ModelError(f"functions must not call themselves, got {' -> '.join(calls)}")
        defaults = {each.name: each for each in function.attribute_proto}
        opsets = {domain_of(each.domain): each.version for each in function.opset_import}
        inner = Importer(self.shared, self.body, None, {**defaults, **attributes}, opsets or self.opsets)
        inner.outputs = set(function.output)
        inner.values = dict(zip(function.input, operands, strict=False))
        for name in function.input[len(operands) :]:
            inner.values[name] = None
        calls.append(function.name)
        try:
            inner.run(function.node)
        finally:
            calls.pop()
        return [inner.find(name) for name in function.output[: len(node.output)]]

    def inner(self, body: Body) -> Importer:
        """An importer of a subgraph, which sees this one's values."""
        return Importer(self.shared, body, self, self.given, self.opsets)


def declared_shape(tensor: TypeProto.Tensor, symbols: dict[str, Symbol]) -> tuple[int, ...] | None:
    """The shape that an input's type says it has; sizes of one name have one symbol."""
    if not tensor.HasField("shape"):
        return None
    sizes: list[int] = []
    for dim in tensor.shape.dim:
        if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0:
            sizes.append(int(dim.dim_value))
        elif dim.dim_param:
            sizes.append(symbols.setdefault(dim.dim_param, Symbol(-2 - len(symbols))))
        else:
            sizes.append(-1)
    return tuple(sizes)


class _Missing(list):
    """Stands for a value whose node was refused."""


_MISSING = _Missing()


def _op_name(node: NodeProto) -> str:
    domain = domain_of(node.domain)
    return node.op_type if domain in ONNX_DOMAINS else f"{domain}.{node.op_type}"
