"""Differences of trees, and their text."""

from tarmac.shared.snapshots.compare import Difference, Side, differences, text_of
from tarmac.shared.snapshots.objects import DIRECTORY, FILE, Entry


def a_file(name: bytes, content: bytes) -> Entry:
    return Entry(name=name, kind=FILE, mode=0o644, size=len(content), digest=content)


def a_directory(name: bytes) -> Entry:
    return Entry(name=name, kind=DIRECTORY, mode=0o755, size=0, digest=b"")


def content_of(key: bytes) -> bytes:
    return key


def test_a_directory_is_listed_only_if_it_is_empty() -> None:
    after = {
        b"a": a_directory(b"a"), b"a/b": a_directory(b"b"), b"a/b/c": a_file(b"c", b"x"), b"d": a_directory(b"d"),
    }  # fmt: skip
    assert [one.path for one in differences({}, after)] == [b"a/b/c", b"d"]
    turned = {b"a": a_file(b"a", b"y")}
    assert [one.path for one in differences(turned, after)] == [b"a/b/c", b"d"]


def test_a_long_file_is_not_compared_line_by_line() -> None:
    old, new = (a_file(b"long", b"".join(b"%d\n" % (number * step) for number in range(20))) for step in (1, 2))
    sides = Side({b"long": old}, content_of), Side({b"long": new}, content_of)
    assert list(text_of(Difference(b"long", old, new), *sides, most_lines=19)) == [
        "diff --tarmac a/long b/long",
        "long is too long to compare: more than 19 lines",
    ]
    assert "+38" in list(text_of(Difference(b"long", old, new), *sides, most_lines=20))
    assert "+38" in list(text_of(Difference(b"long", None, new), *sides, most_lines=19))
