"""Jobs as JSON, as the controller sends them: for output that passes them on without looking at them."""

from __future__ import annotations

from tarmac.client.fast.json_codec import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from tarmac.client.jobs import Jobs

PAGE = 2000  # jobs in one answer
_HEAD, _NEXT, _END = b'{"jobs":[', b'],"next":', b"}"


def encoded_jobs(client: Jobs, query: Mapping[str, object]) -> bytes:
    """All matching jobs by id, as a JSON array in ASCII."""
    return b"[" + b",".join(filter(None, _pages(client, query))) + b"]"


def _pages(client: Jobs, query: Mapping[str, object]) -> Iterator[bytes]:
    """The jobs of each page, with commas between them."""
    after = None
    while True:
        answer = client.call("GET", "/jobs", query={**query, "limit": PAGE, "after": after}, is_raw=True)
        jobs, after = _cut(answer)
        yield jobs
        if after is None:
            return


def _cut(answer: bytes) -> tuple[bytes, int | None]:
    """The jobs of a page, and where the next one begins. An answer that looks unusual is decoded."""
    end = answer.rfind(_NEXT)
    after = answer[end + len(_NEXT) : -len(_END)]
    is_usual = answer.startswith(_HEAD) and end > 0 and answer.endswith(_END) and (after == b"null" or after.isdigit())
    if is_usual and answer.isascii():
        return answer[len(_HEAD) : end], None if after == b"null" else int(after)
    page: dict[str, Any] = decode(answer.decode("utf-8"))
    return encode(page["jobs"])[1:-1].encode("ascii"), page.get("next")
