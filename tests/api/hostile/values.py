"""Hostile values: as text for paths, queries and headers, and as raw JSON for the fields of a body."""

# ruff: noqa: E501 - tables

from __future__ import annotations

import json
from typing import Any

import msgspec.inspect as shape

DIGITS = "9" * 5000
DEEP = 100_000

# Percent-encoded where a URL needs it.
TEXTS = (
    "", "0", "-1", "1", "-0", "01", "1.5", "1e999", "-1e999", "nan", "inf", "-inf", "0x10", "1_000", "true", "null", "[]", "{}",
    DIGITS, "-" + DIGITS, "1" + "0" * 20, str(2**31), str(2**32), str(2**62), str(2**63 - 1), str(2**63), str(2**64),
    "%D9%A3", "%C2%B2", "%00", "a%00b", "%ED%A0%80", "%FF%FE", "%", "%zz", "%25", "%0D%0AX:%20y", "%E2%80%AE", "%F0%9F%98%80",
    "..", "%2E%2E%2F%2E%2E", "%2F", "%2Fetc%2Fpasswd", "%3Fa=b", "%23", ";", "*", "**", "[", "[a", "%5B%5E", "*a" * 2000,
    "x" * 20_000, ",", ",,,,", "1,", ",1", "-", "--", "1-", "-1-2", "2-1", "1-99999999999999999999", "0-0", "1," * 2000 + "1",
    "last", "all", "last,all", "LAST", "last-1", "%27;DROP%20TABLE%20jobs;--", "%22", "%5C", "+", "%20", "%09", "~", "active",
)  # fmt: skip

JSON = (
    "null", "true", "false", "0", "-0", "-1", "1", "1.5", "-1.5", "1e308", "-1e308", "1e400", "1e-400", "9" * 25,
    DIGITS, "-" + DIGITS, "0." + DIGITS, DIGITS + ".5", "1" + "0" * 20, str(2**31), str(2**53 + 1), str(2**63 - 1), str(2**63),
    str(2**64 - 1), str(2**64), str(-(2**63) - 1), "253402300799", "253402300800",
    '""', '" "', '"0"', '"-1"', '"1e999"', '"nan"', '"inf"', '"NaN"', f'"{DIGITS}"', '"null"', '"true"', '"1.5"',
    r'"\u0000"', r'"a\u0000b"', r'"\ud800"', r'"\udc00\ud800"', r'"\ud83d\ude00"', r'"\u202e"', r'"\r\n"', r'"\u001b[2J"',
    '"%s"', '"{0.__class__}"', '"../../../etc/passwd"', '"/proc/self/mem"', '"/dev/zero"', '"~"', '"*"', '"["', '"%"',
    '"' + "x" * 300 + '"', '"' + "x" * 5000 + '"', '"' + "x" * 300_000 + '"', '"' + "/x" * 3000 + '"',
    "[]", "[null]", "[[]]", '[""]', '["x"]', "[0]", "[-1]", f"[{DIGITS}]", r'["\u0000"]', r'["\ud800"]', '["#0:ok"]', '["1:ok"]',
    '["99999999999999999999:ok"]', f'["{DIGITS[:50]}:ok"]', '["-1:any"]', '["1:"]', '["#99999999999999999999:ok"]', '["1","1"]',
    "[" + "0," * 20_000 + "0]", "[" + '"x",' * 20_000 + '"x"]', "[" * DEEP, "[" * DEEP + "]" * DEEP, '{"a":' * DEEP,
    '{"a":' * DEEP + "1" + "}" * DEEP, "{}", '{"a":1}', '{"":""}', '{"a":1,"a":2}', r'{"\u0000":"x"}', r'{"A":"\u0000"}',
    '{"A=B":"x"}', '{"A":null}', '{"A":"' + "x" * 300_000 + '"}', r'{"\ud800":"x"}', "NaN", "Infinity", "-", "+1", "01", "'x'", "",
)  # fmt: skip

RAW_BODIES = (
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf{}", b"{", b"}", b"[", b"[]", b"null", b"0", b'""', b"{}{}", b"{} ", b'{"":0}', b"\x80{}",
    '{"a":1}'.encode("utf-16"), b"[" * DEEP, b'{"ids":' * DEEP, b'{"jobs":' + b"[" * DEEP, DIGITS.encode(), b'{"a":' + DIGITS.encode(),
    b'{"\\ud800":1}', b'{"ids":["\xed\xa0\x80"]}', b"ids=1&grace_s=0", b"x" * 100_000, b" " * 100_000, b"{" + b'"a":1,' * 20_000 + b"}",
)  # fmt: skip

HEADERS = (
    "", " ", "x", "0", "-1", "1", "1.5", DIGITS, "-" + DIGITS, "1" + "0" * 20, str(2**63), str(2**64), "\xb2", "\xff\xfe", "a\tb",
    "../../../../etc/passwd", "/etc/passwd", "Europe", "Europe/", "UTC/../UTC", "x" * 5000, "a/" * 2000, "*", "en;q=x", "en;q=" + DIGITS,
    "-", ",", ";", "en-" * 2000, ",".join(f"x{n};q=0.{n}" for n in range(3000)), "1,2", "%00", "null", "chunked",
)  # fmt: skip
HEADER_NAMES = (
    "Last-Event-ID", "Idempotency-Key", "Tarmac-Api", "Tarmac-Zone", "Accept-Language", "Accept", "Content-Type", "Host", "Cookie", "Origin", "Range",
    "If-None-Match", "Expect", "TE", "Upgrade", "Connection", "X-Forwarded-For", "Content-Encoding", "Accept-Encoding", "User-Agent",
)  # fmt: skip


def places(model: Any) -> list[tuple[str | int, ...]]:
    """Where in a body of this type a value can be: each field, and each field of each object in it."""
    return list(_places(shape.type_info(model)))


def _places(kind: shape.Type, path: tuple[str | int, ...] = ()) -> Any:
    if path:
        yield path
    if isinstance(kind, shape.StructType):
        for field in kind.fields:
            yield from _places(field.type, (*path, field.encode_name))
    elif isinstance(kind, shape.UnionType):
        for one in kind.types:
            yield from (place for place in _places(one, path) if place != path)
    elif isinstance(kind, shape.ListType | shape.VarTupleType):
        yield from _places(kind.item_type, (*path, 0))
    elif isinstance(kind, shape.DictType):
        yield from _places(kind.value_type, (*path, "A"))


def sample(kind: shape.Type) -> Any:
    """A plain value of this type that is small and valid."""
    if isinstance(kind, shape.StructType):
        return {field.encode_name: sample(field.type) for field in kind.fields if field.required}
    if isinstance(kind, shape.UnionType):
        return sample(kind.types[0])
    if isinstance(kind, shape.ListType | shape.VarTupleType):
        return [sample(kind.item_type)]
    if isinstance(kind, shape.IntType | shape.FloatType):
        return next((edge for edge in (kind.ge, kind.gt) if edge is not None), 0) + 1
    if isinstance(kind, shape.LiteralType):
        return kind.values[0]
    return {shape.BoolType: False, shape.DictType: {}, shape.NoneType: None}.get(type(kind), "0")


def with_value(body: Any, place: tuple[str | int, ...], raw: str) -> bytes:
    """The body as JSON, with this raw text at the place."""
    mark = "\x01here\x01"
    return json.dumps(_put(body, place, mark)).replace(json.dumps(mark), raw).encode("utf-8", "surrogatepass")


def _put(body: Any, place: tuple[str | int, ...], value: Any) -> Any:
    if not place:
        return value
    key, *rest = place
    if isinstance(key, int):
        return [_put(body[0] if isinstance(body, list) and body else None, tuple(rest), value)]
    held = dict(body) if isinstance(body, dict) else {}
    return {**held, key: _put(held.get(key), tuple(rest), value)}
