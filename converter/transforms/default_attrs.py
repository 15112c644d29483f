"""Attributes that have their op's default."""

from __future__ import annotations

from ..ir.import_body import with_defaults
from ..ir.signature import registered
from .attribute_key import same_attribute
from .bodies import Body


def strip_default_attrs(body: Body) -> None:
    """Leave out attributes that are the op's default.

    Given:  VarHandleOp {container = "", shared_name = "v", dtype = f32, shape = <2>}
    Result: VarHandleOp {shared_name = "v", dtype = f32, shape = <2>}
    """
    for node in body.body.walk():
        signature = registered(node.op)
        if signature is None:
            continue
        for name, default in signature.defaults.items():
            if name in node.attributes and same_attribute(node.attributes[name], default):
                del node.attributes[name]


def add_default_attrs(body: Body) -> None:
    """Write out the op's defaults for attributes that a node lacks.

    Given:  VarHandleOp {shared_name = "v", dtype = f32, shape = <2>}
    Result: VarHandleOp {allowed_devices = [], container = "", shared_name = "v", dtype = f32, shape = <2>}
    """
    for node in body.body.walk():
        signature = registered(node.op)
        if signature is not None:
            node.attributes = with_defaults(node.attributes, signature)
