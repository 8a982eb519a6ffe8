"""No secret of a URL is shown."""

import pytest

from tarmac.controller.notify.masking import masked, without_secrets

URLS = {
    "mailtos://ann:correct-horse@smtp.example.org:587?to=bob@example.org": "mailtos://***@smtp.example.org:587/***",
    "mailto://localhost:25?from=a@b.c&pass=correct-horse": "mailto://localhost:25/***",
    "jsons://hooks.example.org/correct-horse": "jsons://hooks.example.org/***",
    "json://localhost:8080/?+X-Key=correct-horse": "json://localhost:8080/***",
    "json://localhost:8080/": "json://localhost:8080",
    "json://localhost#correct-horse": "json://localhost/***",
    "JSON://ann:correct-horse@localhost": "JSON://***@localhost",
    "slack://T1/A1/correct-horse/#general": "slack://***",
    "tgram://123:correct-horse/1": "tgram://***",
    "feishu://correct-horse": "feishu://***",
    "wecombot://correct-horse": "wecombot://***",
    "dingtalk://correct-horse@token/139": "dingtalk://***",
    "https://hooks.slack.com/services/T1/A1/correct-horse": "https://hooks.slack.com/***",
    "ntfy://correct-horse": "ntfy://***",
    "ntfys://correct-horse/another": "ntfys://***",
    "matrix://correct-horse": "matrix://***",
    "mailtos://ann:correct-horse#1@smtp.example.org": "mailtos://***",
    "mailtos://ann:correct-horse/1@smtp.example.org?to=b@c.d": "mailtos://***",
    "mailtos://ann:12?correct-horse@smtp.example.org": "mailtos://***",
    "mailtos://ann:correct-horse@x/y@smtp.example.org": "mailtos://***",
    "json://[::1]:8080/correct-horse": "json://[::1]:8080/***",
    "unheard-of://correct-horse": "unheard-of://***",
}


@pytest.mark.parametrize("url", URLS)
def test_a_masked_url_has_the_scheme_and_the_server_at_most(url: str) -> None:
    assert masked(url) == URLS[url]


@pytest.mark.parametrize("url", [url for url in URLS if "horse" in url])
def test_a_message_about_it_has_no_secret(url: str) -> None:
    for text in (f"cannot send to {url}", "wrong: correct-horse", "Token (correct-horse) at http://h/correct-horse"):
        assert "horse" not in without_secrets(text, url)


def test_a_secret_is_found_in_each_of_its_spellings() -> None:
    url = "mailtos://ann:a%40b%2Fsecret@smtp.example.org"
    for spelled in ("a%40b%2Fsecret", "a@b/secret", "a%40b%2fsecret"):
        assert "secret" not in without_secrets(f"bad login {spelled} at smtp.example.org", url).lower()
    assert "smtp.example.org" in without_secrets("no route to smtp.example.org", url)


def test_a_word_of_the_url_is_not_hidden_within_other_words() -> None:
    url = "json://localhost:18765/fail/deploy"
    text = "Failed to send JSON POST notification: redeployed, error=500."
    assert without_secrets(text, url) == text
    assert without_secrets("token fail, 'deploy'", url) == "token ***, '***'"
    assert without_secrets("xabc123x", "json://localhost/abc123") == "x***x"
