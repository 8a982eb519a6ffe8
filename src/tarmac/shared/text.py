"""Text that is safe to print: control characters escaped, words quoted for a shell."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Sequence

    Words = Dict[str, str]
else:
    Words = dict

PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_"
IN_DOUBLE_QUOTES = '"$`\\!'  # special there
SHORT_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
LONGEST_KEPT = 100  # characters of a word whose quoted form is kept
MOST_KEPT = 1000
JOINER = "\u200d"  # joins emoji into one; harmless, although str.isprintable() denies it


def safe(text: str) -> str:
    """Newlines, escapes and other control characters escaped."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == JOINER else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    code = ord(char)
    return SHORT_ESCAPES.get(char) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def shown_command(words: Sequence[str]) -> str:
    """A shell string as it was given; the API serves it as `sh -c STRING`."""
    return words[2] if len(words) == 3 and list(words[:2]) == ["sh", "-c"] else command_line(words)


def command_line(words: Sequence[str]) -> str:
    """Quoted for a shell."""
    return " ".join([_quoted[word] for word in words])


class _Quoted(Words):
    """A cache of quoted words: the jobs of a queue share most of theirs. Bounded: the controller runs for months."""

    def __missing__(self, word: str) -> str:
        is_plain = (word and not word.strip(PLAIN)) or word.isalpha()
        quoted = word if is_plain else _in_quotes(word)
        if len(word) <= LONGEST_KEPT:
            if len(self) >= MOST_KEPT:
                self.clear()
            self[word] = quoted
        return quoted


def _in_quotes(word: str) -> str:
    """With escapes that bash reads if the word has line breaks or other control characters."""
    if word.isprintable():
        if "'" in word and not any(char in word for char in IN_DOUBLE_QUOTES):
            return f'"{word}"'
        return "'" + word.replace("'", "'\"'\"'") + "'"
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(char if char.isprintable() else _bash_escape(char) for char in escaped) + "'"


def _bash_escape(char: str) -> str:
    code = ord(char)
    return SHORT_ESCAPES.get(char) or (f"\\x{code:02x}" if code < 128 else f"\\U{code:08x}")


_quoted = _Quoted()
