"""Runs the user's editor on a text until the result is accepted, or the user gives up. No text is lost on the way."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, TypeVar

from tarmac.cli.term.terminal import err
from tarmac.errors import Conflict, NotAllowed, NotFound, UserError
from tarmac.typed.words import NotWords, split_words

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

FALLBACKS = ("nano", "vi")
MOST_EQUAL = 3  # times that the same message may come in a row
MARK = "#! "  # begins the lines of a message on top of the file


def edit_until(text: str, accept: Callable[[str], T], *, name: str) -> T | None:
    """What `accept` makes of the edited text; None if the user left it unchanged or emptied the file.

    If `accept` refuses it, the message is printed, and the editor opens again with the message on top. The same text
    a second time, or the same message a third time, gives up; the text stays in a file.
    """
    handle, path = tempfile.mkstemp(prefix=f"tarmac-{name}-", suffix=".toml")
    os.close(handle)
    shown, refused = text, None
    messages: list[str] = []
    try:
        while True:
            _write(path, shown)
            _open(path, text if refused is None else None)
            clean = without_message(_read(path))
            if not clean.strip() or (refused is None and clean == text):
                os.unlink(path)
                return None
            if clean == refused:
                raise UserError("edit: nothing was changed", f"your text is in {path}")
            try:
                answer = accept(clean)
            except (UserError, Conflict, NotFound, NotAllowed) as error:
                message = f"{error.message}\n{error.hint or ''}".rstrip()
                err(f"tarmac: {message}\n")
                messages.append(message)
                if messages[-MOST_EQUAL:] == [message] * MOST_EQUAL:
                    again = f"the same mistake came {MOST_EQUAL} times"
                    raise UserError(f"edit: {again}; nothing was changed", f"your text is in {path}") from None
                shown, refused = with_message(clean, message), clean
                continue
            os.unlink(path)
            return answer
    except KeyboardInterrupt:
        os.unlink(path)
        raise


def with_message(text: str, message: str) -> str:
    lines = [f"{MARK}{line}" for line in message.split("\n")]
    return "\n".join([*lines, f"{MARK}Correct it, or leave the file as it is to give up.", text])


def without_message(text: str) -> str:
    lines = text.split("\n")
    while lines and lines[0].startswith(MARK.rstrip()):
        lines.pop(0)
    return "\n".join(lines)


def editor_command() -> list[str]:
    """$VISUAL or $EDITOR, with arguments."""
    for variable in ("VISUAL", "EDITOR"):
        line = os.environ.get(variable, "").strip()
        if line:
            try:
                return split_words(line)
            except NotWords:
                return ["sh", "-c", f'{line} "$@"', "sh"]
    from shutil import which

    found = next((name for name in FALLBACKS if which(name)), None)
    if found is None:
        raise UserError("edit: no editor found", "set $EDITOR, or give options: `tarmac edit 7 --time 6h`")
    return [found]


def _open(path: str, untouched: str | None) -> None:
    """Run the editor. If it fails and the file is as `untouched`, the file is removed."""
    command = editor_command()
    try:
        code = subprocess.call([*command, path])
    except OSError as error:
        _remove_if(path, untouched)
        raise UserError(f"edit: {command[0]} cannot be started: {error.strerror}", "set $EDITOR") from None
    if code:
        hint = "check $EDITOR" if _remove_if(path, untouched) else f"your text is in {path}"
        raise UserError(f"edit: {command[0]} ended with code {code}; nothing was changed", hint)


def _remove_if(path: str, untouched: str | None) -> bool:
    """Remove a file that contains nothing from the user. True if it is gone."""
    if os.path.exists(path) and _read(path) != untouched:
        return False
    if os.path.exists(path):
        os.unlink(path)
    return True


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        raise UserError("edit: the editor removed the file; nothing was changed", "save the file in place") from None
    except UnicodeDecodeError:
        raise UserError("edit: the file is not UTF-8; nothing was changed", f"your text is in {path}") from None


def is_possible() -> bool:
    """An editor needs a terminal, unless the user set one that does not."""
    return os.isatty(0) and os.isatty(1)
