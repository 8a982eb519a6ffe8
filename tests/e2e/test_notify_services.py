"""Each service of the documentation is reached at its own server, as a proxy on loopback sees. It lets nothing out."""

import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import Home
from tests.receivers import configure

PAGE = Path(__file__).parents[2] / "docs" / "notifications.md"
SERVICES = {
    "Slack": ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#gpus", "hooks.slack.com"),
    "Slack's address": ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXr", "hooks.slack.com"),
    "Telegram": ("tgram://123456789:abcdefg_hijklmnop/12315544", "api.telegram.org"),
    "DingTalk": ("dingtalk://abcdefghijk12345", "oapi.dingtalk.com"),
    "DingTalk, signed": ("dingtalk://SEC1234@abcdefghijk12345", "oapi.dingtalk.com"),
    "DingTalk's own address": ("https://oapi.dingtalk.com/robot/send?access_token=abcdef12345", "oapi.dingtalk.com"),
    "WeCom": ("wecombot://693axxx6-7aoc-4bc4-97a0-0ec2sifa5aaa", "qyapi.weixin.qq.com"),
    "WeCom's address": ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=693axxx6-7aoc", "qyapi.weixin.qq.com"),
    "Feishu": ("feishu://abc12345-1234", "open.feishu.cn"),
    "Feishu's own address": ("https://open.feishu.cn/open-apis/bot/v2/hook/abc12345-1234", "open.feishu.cn"),
    "webhook": ("jsons://hooks.example.org/path", "hooks.example.org"),
}  # fmt: skip


class Proxy:
    """Notes which servers it is asked for, and refuses."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                head = connection.recv(4096).decode("latin-1")
                self.asked.append(head.split()[1].partition(":")[0])
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    found = Proxy()
    yield found
    found.close()


def test_each_service_is_reached_at_its_server_and_through_the_proxy(home: Home, proxy: Proxy) -> None:
    names = {f"t{number}": service for number, service in enumerate(SERVICES)}
    urls = {name: SERVICES[service][0] for name, service in names.items()}
    configure(home, urls, f'[notify]\nproxy = "http://127.0.0.1:{proxy.port}"')
    for name, service in names.items():
        proxy.asked.clear()
        done = home.tarmac("notify", "test", name)
        assert done.returncode == 1  # the proxy refuses
        assert "does not accept the URL" not in done.stderr, (service, done.stderr)
        assert set(proxy.asked) == {SERVICES[service][1]}, service
        for secret in ("TIiajkdnlazkcOXr", "hijklmnop", "abcdef", "SEC1234", "693axxx6", "abc12345"):
            assert secret not in done.stderr


def test_the_documentation_has_an_example_of_each_kind() -> None:
    page = PAGE.read_text(encoding="utf-8")
    schemes = {url.partition("://")[0] for url, _ in SERVICES.values()} - {"https"} | {"mailto", "mailtos"}
    documented = set(re.findall(r"`([a-z]+)://", page))
    assert schemes <= documented
