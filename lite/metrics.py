"""TFLiteMetrics: where a program hooks in that counts interpreters. Nothing is reported to anyone.

A module of its own, as LiteRT's is: programs replace the class in it.
"""


class TFLiteMetrics:
    """LiteRT's class by name; replace a method to be called."""

    def increase_counter_interpreter_creation(self) -> None:
        """Called once by each Interpreter, when its model is open."""
