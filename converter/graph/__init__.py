"""What every graph of the converter is made of, and the driver that rewrites it by rules.

The two dialects are TensorFlow's nodes (`ir`) and the lowered operators (`lite_graph`).
"""

from .rewriter import Rewriter
from .rule import Fired, Rule, Trace, rule
from .structure import AnyBlock, AnyNode, AnyValue

__all__ = ["AnyBlock", "AnyNode", "AnyValue", "Fired", "Rewriter", "Rule", "Trace", "rule"]
