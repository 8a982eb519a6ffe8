"""An npm registry on loopback."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Registry:
    """`packages`: tarballs by their path."""

    def __init__(self) -> None:
        self.packages: dict[str, bytes] = {}
        self.asked: list[str] = []
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                registry.asked.append(self.path)
                data = registry.packages.get(self.path)
                self.send_response(404 if data is None else 200)
                self.end_headers()
                self.wfile.write(data or b"")

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def publish(self, name: str, files: dict[str, str], **about: Any) -> dict[str, str]:
        """Returns the package's entry for the lock file."""
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:gz") as archive:
            for path, text in {"package.json": json.dumps(about), **files}.items():
                member = tarfile.TarInfo(f"package/{path}")
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
        packed = data.getvalue()
        self.packages[f"/{name}/-/{name.rpartition('/')[2]}-1.0.0.tgz"] = packed
        digest = base64.b64encode(hashlib.sha512(packed).digest()).decode()
        return {"version": "1.0.0", "integrity": f"sha512-{digest}"}


@contextmanager
def running() -> Iterator[Registry]:
    one = Registry()
    yield one
    one.server.shutdown()
    one.server.server_close()
