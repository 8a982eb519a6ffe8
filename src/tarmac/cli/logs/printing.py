"""How the output of a job is printed: rendered or raw, all of it, its last lines, or the lines that match."""

from __future__ import annotations

from tarmac.cli.logs.renderer import HELD_LINES, LONGEST_LINE, LogRenderer
from tarmac.cli.term.terminal import STDOUT, has_colours, is_terminal, out_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Fetch = Callable[[int | None], Iterable[bytes]]  # the output, or its last lines

MORE_LINES = 20  # times as many are read if the cursor moved between lines


def rendered(output: Iterable[bytes], *, colours: bool, held: int = HELD_LINES) -> Iterator[bytes]:
    renderer = LogRenderer(colours=colours, held=held)
    for data in output:
        yield from renderer.feed(data)
    yield from renderer.finish()


def follow(output: Iterable[bytes]) -> None:
    """On a terminal, the terminal shows movements; otherwise each line is printed once it is complete."""
    if not is_terminal(STDOUT):
        for data in rendered(output, colours=False, held=0):
            out_bytes(data)
        return
    from tarmac.cli.logs.live import LiveFilter

    live = LiveFilter(colours=has_colours())
    try:
        for data in output:
            out_bytes(live.feed(data))
    finally:
        out_bytes(live.finish())


def text_of(fetch: Fetch, lines: int | None, *, colours: bool) -> Iterator[bytes]:
    """The text, or its last lines. A line of the text may take several of the log, if the cursor moves up."""
    if lines is None:
        yield from rendered(fetch(None), colours=colours)
        return
    for count in (lines, lines * MORE_LINES + HELD_LINES):
        renderer = LogRenderer(colours=colours)
        kept = LastLines(lines)
        for data in fetch(count):
            for text in renderer.feed(data):
                kept.add(text)
        for text in renderer.finish():
            kept.add(text)
        if not renderer.has_moved or kept.is_full or not lines:
            break
    yield kept.text


class LastLines:
    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: list[tuple[bytes, int]] = []  # each with the number of its lines
        self._lines = 0

    @property
    def is_full(self) -> bool:
        return self._lines >= self._most

    def add(self, text: bytes) -> None:
        if not self._most:
            return
        self._pieces.append((text, text.count(b"\n")))
        self._lines += self._pieces[-1][1]
        while self._lines - self._pieces[0][1] > self._most:
            self._lines -= self._pieces.pop(0)[1]

    @property
    def text(self) -> bytes:
        text = b"".join(piece for piece, _ in self._pieces)
        end = len(text) - text.endswith(b"\n")
        for _ in range(self._most):
            end = text.rfind(b"\n", 0, end)
            if end < 0:
                break
        return text[end + 1 :]


def matching(output: Iterable[bytes], pattern: str, lines: int | None) -> Iterator[bytes]:
    """The lines, without colours, in which the pattern is found; of these the last ones."""
    import re

    search = re.compile(pattern).search
    kept: list[bytes] = []
    for whole in _whole_lines(output):
        found = [line + b"\n" for line in whole if search(line.decode("utf-8", "replace"))]
        if lines is None:
            yield b"".join(found)
        else:
            kept = [*kept, *found][-lines:] if lines else []
    yield b"".join(kept)


def _whole_lines(output: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Many at once. A line that is too long to be kept is cut into several."""
    rest = b""
    for data in output:
        *whole, rest = (rest + data).split(b"\n")
        if len(rest) > LONGEST_LINE:
            whole, rest = [*whole, rest], b""
        yield whole
    if rest:
        yield [rest]
