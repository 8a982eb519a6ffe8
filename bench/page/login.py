"""A log-in to the page without a browser: its address and the cookie of the session."""

import json
import urllib.request
from dataclasses import dataclass
from urllib.parse import urlsplit

from tarmac.client import Client


@dataclass(frozen=True, kw_only=True)
class Login:
    host: str  # 127.0.0.1:8790
    cookie: str

    @property
    def address(self) -> str:
        return f"http://{self.host}"


def log_in(client: Client) -> Login:
    link = urlsplit(client.page_link()["url"])
    address = f"http://{link.netloc}"
    request = urllib.request.Request(
        f"{address}/login",
        data=json.dumps({"link": link.fragment}).encode(),
        headers={"Origin": address, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return Login(host=link.netloc, cookie=answer.headers["Set-Cookie"].partition(";")[0])
