"""Draws the pictures of how_it_works.md: python docs/draw_pictures.py. The arena is the digits model's."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numlite
from numlite.converter import Converter

HERE = Path(__file__).parent
_INK, _LINE, _PAPER = "#1f2933", "#7b8794", "#ffffff"
_FILLS = ("#cfe8ff", "#ffe3c2", "#d8f3dc", "#f3d9fa", "#fff3bf", "#ffd6d6")


class Picture:
    """Boxes, texts and arrows in an SVG of width by height."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'font-family="system-ui, sans-serif" font-size="14"><title>{escape(title)}</title>'
            f'<rect width="{width}" height="{height}" rx="6" fill="{_PAPER}"/>'
            f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            f'orient="auto"><path d="M0 0 8 4 0 8z" fill="{_LINE}"/></marker></defs>'
        )
        self._parts: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, fill: str, hint: str = "") -> None:
        tip = f"<title>{escape(hint)}</title>" if hint else ""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" fill="{fill}" '
            f'stroke="{_LINE}">{tip}</rect>'
        )

    def text(self, x: float, y: float, words: str, anchor: str = "middle", weight: int = 400) -> None:
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" fill="{_INK}">'
            f"{escape(words)}</text>"
        )

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        self._parts.append(
            f'<path d="M{x} {y}L{to_x} {to_y}" stroke="{_LINE}" stroke-width="1.5" marker-end="url(#tip)"/>'
        )

    def save(self, name: str) -> None:
        """Write it to pictures/."""
        (HERE / "pictures" / f"{name}.svg").write_text(f"{self._head}{''.join(self._parts)}</svg>\n")


def floors() -> None:
    """What stands on what."""
    picture = Picture(760, 300, "The floors of numlite")
    rows = (
        ("interpreter.py, compiled_model.py, cli, batch", "what people call"),
        ("converter", "graphs and ONNX models -> .tflite; quantization; optimizers"),
        ("delegates", "the API for authors; TensorFlow ops; NVIDIA GPUs"),
        ("kernels", "what operators mean, and the compiled loops"),
        ("lite", "model, resolver, plan, arena, executor"),
        ("schema", "wire formats: flatbuffers, protobufs"),
    )
    for n, ((name, what), fill) in enumerate(zip(rows, _FILLS, strict=True)):
        y = 12 + 46 * n
        picture.box(20, y, 720, 40, fill)
        picture.text(36, y + 25, name, "start", 600)
        picture.text(724, y + 25, what, "end")
    picture.save("floors")


def inference() -> None:
    """The way of a model."""
    steps = (
        ("map", "checked", "where it lies"),
        ("resolve", "an operator for", "each code"),
        ("delegate", "partitions are", "taken"),
        ("prepare", "shapes, packing,", "kernel calls"),
        ("plan", "lifetimes to", "offsets"),
        ("invoke", "one native", "call"),
    )
    picture = Picture(900, 130, "A model's way from a file to a result")
    for n, ((name, *what), fill) in enumerate(zip(steps, _FILLS, strict=True)):
        x = 14 + 148 * n
        picture.box(x, 20, 124, 90, fill)
        picture.text(x + 62, 46, name, weight=600)
        for line, words in enumerate(what):
            picture.text(x + 62, 72 + 20 * line, words)
        if n:
            picture.arrow(x - 22, 65, x - 4, 65)
    picture.save("inference")


def arena() -> None:
    """Tensors of the digits model, where and while they live."""
    content = Converter.from_graph_def(HERE.parent / "examples" / "digits.pb").convert()
    interpreter = numlite.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    report = interpreter.memory_report()
    placed = [
        (entry, entry.offset, entry.first, entry.last + 1)
        for entry in report.tensors
        if entry.offset is not None and entry.first is not None and entry.last is not None
        if entry.kind == "arena_rw"
    ]
    end = max(last for *_, last in placed)
    names = [details["op_name"].lower() for details in interpreter._get_ops_details()]
    left, top, width, height = 70, 40, 700, 300
    picture = Picture(left + width + 20, top + height + 60, "The arena of a classifier of digits")
    for n, (entry, offset, first, last) in enumerate(placed):
        x, right = left + width * max(first, 0) / end, left + width * last / end
        y, bottom = (top + height * at / report.arena_bytes for at in (offset, offset + entry.nbytes))
        picture.box(
            x,
            y,
            right - x,
            bottom - y,
            _FILLS[n % len(_FILLS)],
            f"{entry.name or 'scratch'}: {entry.nbytes} bytes",
        )
        if bottom - y > 16:
            picture.text((x + right) / 2, (y + bottom) / 2 + 5, entry.name or "scratch")
    picture.box(left, top, width, height, "none")
    for n, name in enumerate(names):
        picture.text(left + width * (n + 0.5) / end, top + height + 20, name.removeprefix("fully_"))
    picture.text(left + width / 2, top + height + 44, "operators, in the order in which they run")
    picture.text(left - 8, top + 12, "0", "end")
    picture.text(left - 8, top + height, f"{report.arena_bytes:,}", "end")
    picture.text(left, 26, "offset in bytes", "start")
    picture.save("arena")


if __name__ == "__main__":
    floors()
    inference()
    arena()
