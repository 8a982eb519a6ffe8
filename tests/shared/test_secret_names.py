"""Which variables are taken for secrets."""

from __future__ import annotations

import pytest

from tarmac.shared.secret_names import is_secret, split

BY_NAME = [
    "HF_TOKEN", "TOKEN", "token", "github_token", "githubToken", "GITHUB_TOKENS", "OPENAI_API_KEY", "WANDB_API_KEY",
    "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "APIKEY", "apiKey", "MYAPIKEY", "SECRET",
    "CLIENT_SECRETS", "DB_PASSWORD", "PGPASSWORD", "DBPASSWD", "MYSQL_PWD", "SSHPASS", "SMTP_PASS", "DB_PASS",
    "GPG_PASSPHRASE", "KAGGLE_KEY", "SSH_PRIVATE_KEY", "DJANGO_SECRET_KEY", "GOOGLE_CREDENTIALS", "REDISCLI_AUTH",
    "NPM_AUTH", "_auth", "SESSION_COOKIE", "SENTRY_DSN", "GH_PAT", "SLACK_WEBHOOK_URL", "TOKEN2", "MY-TOKEN",
    "my.token", "Authorization", "X_OAUTH", "COMET_API_KEY", "NEPTUNE_API_TOKEN", "PASSWORD_HASH",
    "MYTOKENS", "MYKEY", "MYKEYS", "DBPASSWORDS", "APIKEYS", "OLDSECRETS", "GCPCREDENTIAL", "KAFKA_SASL_JAAS_CONFIG",
]  # fmt: skip
HARMLESS_BY_NAME = [
    "PATH", "HOME", "PWD", "OLDPWD", "TOKENIZERS_PARALLELISM", "XAUTHORITY", "KEYBOARD", "KEYMAP", "KEYTIMEOUT",
    "GIT_AUTHOR_NAME", "AUTHOR", "COMPASS_HOME", "BYPASS_CACHE", "PATTERN", "PATCH_SIZE", "MONKEY", "PASSENGERS",
    "SECRETARY", "DISPLAY", "LS_COLORS", "PRIVATELY", "CUDA_VISIBLE_DEVICES", "HF_HOME", "TOKENIZER", "XDG_SESSION_ID",
    "MONKEYS", "HOTKEYS", "TURKEY",
]  # fmt: skip


@pytest.mark.parametrize("name", BY_NAME)
def test_names_of_secrets_are_recognized(name: str) -> None:
    assert is_secret(name, "x1")
    assert not is_secret(name, ""), "there is nothing to hide"


@pytest.mark.parametrize("name", HARMLESS_BY_NAME)
def test_other_names_are_not(name: str) -> None:
    assert not is_secret(name, "x1")


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("SSH_AUTH_SOCK", "/tmp/ssh-1/agent.1", False),
        ("HF_TOKEN_PATH", "/home/ann/.cache/token", False),
        ("PASSWORD_STORE_DIR", "~/.password-store", False),
        ("HF_TOKEN_PATH", "abcdef", True),
        ("MAX_TOKENS", "4096", False),
        ("NUM_KEYS", "12", False),
        ("MAXTOKENS", "4096", False),
        ("MYTOKENS", "abcdef", True),
        ("MAX_TOKENS", "abcdef", True),
        ("TOKEN", "4096", True),
        ("PASSWORD", "1234", True),
        ("PASSWORD", "/home", True),
    ],
)
def test_the_value_decides_where_a_name_may_be_a_place_or_a_number(name: str, value: str, secret: bool) -> None:
    assert is_secret(name, value) == secret


@pytest.mark.parametrize(
    "value",
    [
        "postgres://ann:pw@db.example.org/x",
        "postgresql+psycopg://ann:p%40w@db/x",
        "redis://:pw@localhost:6379/0",
        "http://ann:pw@proxy:3128",
        "https://pypi.org/simple https://ann:pw@pypi.example.org/simple",
        "https://ghp_abcdefghijklmnopqrst@github.com/x/y",
        "https://example.org/hook?a=1&token=abc",
        "Server=db;User=ann;Password=pw",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=abc==",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
        "hf_abcdefghijklmnopqrstuvwxyz",
        "sk-proj-abcdefghijklmnopqrstuvwxyz",
        "AKIAABCDEFGHIJKLMNOP",
        "Bearer abcdefghijklmnop",
    ],
)
def test_values_that_contain_a_password_are_secrets_under_any_name(value: str) -> None:
    assert is_secret("X", value)


@pytest.mark.parametrize(
    "value",
    ["http://proxy:3128", "ssh://git@github.com/x", "https://ann@example.org", "/usr/bin:/bin", "a=b;c=d", "1:2@3",
     "unix:path=/run/user/1000/bus,guid=0123456789abcdef", "https://example.org/a?page=2", "rs=0:di=01;34", "Basic",
     "https://example.org/@ann:x"],
)  # fmt: skip
def test_other_values_are_not(value: str) -> None:
    assert not is_secret("X", value)


def test_the_public_part_keeps_the_names_of_secrets() -> None:
    public, secrets = split({"PATH": "/bin", "HF_TOKEN": "x", "EMPTY_TOKEN": ""})
    assert public == {"PATH": "/bin", "HF_TOKEN": None, "EMPTY_TOKEN": ""}
    assert secrets == {"HF_TOKEN": "x"}


def test_a_long_value_takes_no_time() -> None:
    assert not is_secret("X", "a:" * 60_000)
    assert not is_secret("X", "x://" * 30_000)
    assert not is_secret("X", "x://" + "a" * 100_000)
