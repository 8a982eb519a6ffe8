"""The objects of a snapshot: what is written can be read, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.shared.snapshots.objects import (
    DIRECTORY,
    FILE,
    LINK,
    BrokenSnapshot,
    Entry,
    encode_directory,
    hash_of,
    packed,
    parse_directory,
    top_object,
    unpacked,
    walk,
)

NAMES = st.binary(min_size=1, max_size=20).filter(lambda name: name not in (b".", b"..") and not {0, 47} & set(name))


def entry(name: bytes, kind: bytes = FILE) -> Entry:
    return Entry(kind, 0o644 if kind == FILE else 0, 3 if kind == FILE else 0, name, hash_of(b"abc"))


@given(st.sets(NAMES))
def test_a_directory_is_read_as_it_was_written(names: set[bytes]) -> None:
    entries = [entry(name) for name in names]
    assert parse_directory(encode_directory(entries)) == sorted(entries, key=lambda one: one.name)


@pytest.mark.parametrize("name", [b"", b".", b"..", b"a/b", b"/etc"])
def test_no_name_leads_out_of_its_directory(name: bytes) -> None:
    with pytest.raises(BrokenSnapshot):
        parse_directory(encode_directory([entry(name)]))


@pytest.mark.parametrize(
    "data",
    [
        b"x 644 3 name\0" + bytes(32),
        b"f 4644 3 name\0" + bytes(32),
        b"f 644 -3 name\0" + bytes(32),
        b"f 644 3 name\0" + bytes(31),
        b"f 644 3 name",
        encode_directory([entry(b"b")]) + encode_directory([entry(b"a")]),
        encode_directory([entry(b"a")]) * 2,
    ],
)
def test_a_malformed_directory_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenSnapshot):
        parse_directory(data)


def test_the_top_is_made_from_paths() -> None:
    paths = {
        b"a/b/c": entry(b"c"),
        b"a/z": entry(b"z", LINK),
        b"empty/in": entry(b"in", DIRECTORY),
        b"-x": entry(b"-x"),
    }
    top, objects = top_object(paths)
    found = {one.path: one.entry.kind for one in walk(objects.__getitem__, top)}
    assert found == {
        b"-x": FILE, b"a": DIRECTORY, b"a/b": DIRECTORY, b"a/b/c": FILE, b"a/z": LINK, b"empty": DIRECTORY,
        b"empty/in": DIRECTORY,
    }  # fmt: skip
    assert top_object(dict(reversed(paths.items())))[0] == top


def test_a_pack_is_read_as_it_was_written_and_checked() -> None:
    pack = packed(hash_of(b"one"), b"one") + packed(hash_of(b""), b"")
    assert list(unpacked(pack)) == [(hash_of(b"one"), b"one"), (hash_of(b""), b"")]
    for broken in (pack[:-1], pack[:5], packed(hash_of(b"one"), b"two")):
        with pytest.raises(BrokenSnapshot):
            list(unpacked(broken))


def test_a_tree_that_contains_itself_cannot_be_written() -> None:
    looped = Entry(DIRECTORY, 0, 0, b"again", bytes(32))
    with pytest.raises(BrokenSnapshot, match="nested too deeply"):
        list(walk(lambda _: encode_directory([looped]), bytes(32)))
