"""`tarmac notify`, `--notify` and `--on`: what they refuse, show and hide."""

import json
import os
import site
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import Home, until
from tests.receivers import Webhook, configure, webhook

SECRET = "correct-horse"


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as found:
        yield found


def owner(home: Home) -> str:
    user: str = home.client().job(home.add("-g", "0", "true")).owner
    return user


def test_ls_marks_the_default_and_hides_secrets(home: Home, hook: Webhook) -> None:
    configure(
        home,
        {"hook": hook.url(SECRET), "team": f"slack://{SECRET}", "mail": f"mailtos://ann:{SECRET}@example.org"},
        '[notify]\ndefault = "team"',
    )
    shown = home.tarmac("notify")
    assert shown.stdout == home.tarmac("notify", "ls").stdout
    assert [line.split()[:3] for line in shown.stdout.splitlines()[1:]] == [
        ["hook", "all", f"json://127.0.0.1:{hook.port}/***"],
        ["team*", "all", "slack://***"],
        ["mail", "all", "mailtos://***@example.org"],
    ]


def test_a_target_with_a_wrong_name_is_shown_and_stops_nothing_else(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url(SECRET), '"büro"': f"slack://{SECRET}"})
    assert home.tarmac("ls").returncode == 0
    assert "'büro' in [notify.targets] cannot be the name of a target" in home.tarmac("notify", "ls").stdout
    assert "'büro' in [notify.targets] cannot be the name of a target" in home.tarmac("doctor").stdout
    refused = home.tarmac("add", "--notify", "büro", "true")
    assert (refused.returncode, SECRET in refused.stderr) == (2, False)
    assert "cannot be the name of a target" in refused.stderr
    assert home.tarmac("add", "-g", "0", "--notify", "hook", "true").returncode == 0


def test_without_targets_ls_says_where_they_belong(home: Home) -> None:
    assert "[notify.targets]" in home.tarmac("notify", "ls").stderr
    refused = home.tarmac("add", "--notify", "mail", "true")
    assert refused.returncode == 2
    assert "mail is not a target of notifications" in refused.stderr
    assert "[notify.targets]" in refused.stderr
    assert home.tarmac("notify", "test").returncode == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--notify", "hok"], "did you mean hook?"),
        (["--notify", f"slack://{SECRET}"], "--notify takes the name of a target, not a URL"),
        (["--notify", "bob@example.org"], "no target named mail"),
        (["--notify", "none,hook"], "none cannot be combined"),
        (["--notify", ","], "it must be the name of a target"),
        (["--notify", "hook", "--on", "ends"], "it must be one or more of start, end, fail, oom, idle, retry"),
        (["--notify", "hook", "--on", ""], "it must be one or more of start"),
        (["--on", "end"], "--on needs a target"),
        (["--notify", "none", "--on", "end"], "--on needs a target"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_queued(home: Home, hook: Webhook, words: list[str], message: str) -> None:
    configure(home, {"hook": hook.url()})
    for verb in ("add", "run"):
        refused = home.tarmac(verb, *words, "true")
        assert refused.returncode == 2, refused
        assert message in refused.stderr
    assert home.tarmac("ls", "-a").stdout == ""


def test_defaults_of_the_user_apply_unless_the_job_says_otherwise(home: Home, hook: Webhook) -> None:
    user = owner(home)
    home.tarmac("stop")
    configure(
        home,
        {"hook": hook.url()},
        f'[notify.users.{user}]\ndefault = "mine"\non = "fail"\n'
        f'[notify.users.{user}.targets]\nmine = "{hook.url("mine")}"',
    )
    client = home.client()

    def asked(*words: str) -> tuple[list[str], list[str]]:
        job = client.job(home.add("--hold", *words, "true"))
        return job.notify, job.notify_on

    assert asked() == (["mine"], ["fail"])
    assert asked("--on", "start,start,end") == (["mine"], ["start", "end"])
    assert asked("--notify", "hook") == (["hook"], ["fail"])
    assert asked("--notify", "none") == ([], [])
    home.add("-g", "0", "false")
    hook.gets(1)
    assert hook.paths == ["/mine"]


def test_edit_changes_and_clears_them(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url(), "other": hook.url()})
    job = home.add("--hold", "true")
    client = home.client()

    def edited(*words: str) -> tuple[list[str], list[str]]:
        done = home.tarmac("edit", str(job), *words)
        assert done.returncode == 0, done.stderr
        return client.job(job).notify, client.job(job).notify_on

    assert edited("--notify", "hook,other") == (["hook", "other"], ["end"])
    assert edited("--on", "fail") == (["hook", "other"], ["fail"])
    assert edited("--notify", "hook") == (["hook"], ["fail"])
    assert edited("--on", "none") == (["hook"], ["end"])
    assert edited("--notify", "none") == ([], [])
    for words in (["--notify", "huk"], ["--on", "fail"]):
        assert home.tarmac("edit", str(job), *words).returncode == 2
    assert client.job(job).notify == []


def test_the_client_takes_them(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()})
    client = home.client()
    client.submit(["false"], gpus=0, notify=["hook"], notify_on=["fail"])
    hook.gets(1)
    assert [target["name"] for target in client.notify_targets()] == ["hook"]
    assert client.notify_test("hook") == [{"target": "hook", "error": None}]


def test_a_test_message_says_who_sent_it(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url(), "closed": "json://127.0.0.1:9/"}, '[notify]\ndefault = "hook"')
    done = home.tarmac("notify", "test")
    assert (done.returncode, done.stdout) == (0, "hook: sent\n"), done
    assert "sent this with `tarmac notify test hook`" in hook.messages[0]["message"]
    both = home.tarmac("notify", "test", "hook", "closed")
    assert (both.returncode, both.stdout) == (1, "hook: sent\n")
    assert both.stderr.startswith("tarmac: closed: the message was not sent: ")
    results = json.loads(home.tarmac("notify", "test", "hook,closed", "--json").stdout)
    assert [(one["target"], one["error"] is None) for one in results] == [("hook", True), ("closed", False)]
    assert home.tarmac("notify", "test", "clsed").returncode == 2
    assert home.tarmac("notify", "tset").returncode == 2


def test_a_url_that_apprise_does_not_know_is_reported(home: Home) -> None:
    configure(home, {"odd": f"nosuch://{SECRET}", "half": "slack://x"})
    done = home.tarmac("notify", "test", "odd", "half")
    assert done.returncode == 1
    assert "odd: apprise does not accept the URL of this target" in done.stderr
    assert "half: apprise does not accept the URL of this target" in done.stderr
    assert SECRET not in done.stderr


def test_secrets_are_in_no_answer_log_or_database(home: Home, hook: Webhook) -> None:
    hook.answers = [500] * 100
    urls = {
        "hook": f"json://ann:{SECRET}@127.0.0.1:{hook.port}/{SECRET}?+X-Key={SECRET}",
        "closed": f"json://127.0.0.1:9/{SECRET}",
        "odd": f"nosuch://{SECRET}",
        "mail": f"mailto://ann:{SECRET}@127.0.0.1:9?from=a@b.cd&to=e@f.gh",
    }
    configure(home, urls)
    job = home.add("-g", "0", "--notify", ",".join(urls), "false")
    client = home.client()
    assert until(lambda: all(target["error"] for target in client.notify_targets()), 60)
    shown = [home.tarmac(*words) for words in (["notify", "ls"], ["notify", "ls", "--json"], ["status"], ["set"])]
    shown += [home.tarmac(*words) for words in (["status", "--json"], ["show", str(job)], ["show", str(job), "--json"])]
    shown += [home.tarmac("notify", "test", *urls), home.tarmac("doctor")]
    answers = [client.call("GET", path) for path in ("/notify", "/status", "/settings", f"/jobs/{job}", "/jobs")]
    told = "".join(one.stdout + one.stderr for one in shown) + json.dumps(answers)
    assert SECRET not in told
    assert SECRET not in "".join(home.processes().values())
    assert SECRET.encode() not in b"".join(home.environments())
    home.tarmac("stop")
    for path in [*home.path.rglob("*")]:
        if path.is_file() and path.name != "config.toml":
            assert SECRET.encode() not in path.read_bytes(), path


def test_targets_that_left_the_config_file_are_listed_and_lose_nothing(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url(), "old": hook.url()}, settings="notify_digest_s = 3600")
    home.tarmac("wait", str(home.add("-g", "0", "--notify", "old", "true")))
    home.tarmac("stop")
    configure(home, {"hook": hook.url()})
    with sqlite3.connect(home.path / "tarmac.db") as database:
        database.execute("UPDATE outbox SET due_at = 0")
    database.close()
    client = home.client()
    assert until(lambda: any(target["error"] for target in client.notify_targets()))
    old = client.notify_targets()[-1]
    assert (old["name"], old["url"], old["waiting"]) == ("old", None, 1)
    assert old["error"] == "the config file has no such target"
    assert "not in the config file" in home.tarmac("notify", "ls").stdout
    home.tarmac("stop")
    configure(home, {"old": hook.url()})
    home.tarmac("status")
    hook.gets(1)


# Without the extra


def hide_apprise(home: Home, folder: Path) -> None:
    """Let Tarmac's processes see all installed packages but apprise."""
    packages = next(path for path in site.getsitepackages() if os.path.isdir(os.path.join(path, "apprise")))
    seen = folder / "packages"
    seen.mkdir()
    for name in os.listdir(packages):
        if not name.startswith("apprise"):
            (seen / name).symlink_to(os.path.join(packages, name))
    start = folder / "start"
    start.mkdir()
    (start / "sitecustomize.py").write_text(
        f"import sys\nsys.path[:] = [{str(seen)!r} if path == {packages!r} else path for path in sys.path]\n"
    )
    home.environment["PYTHONPATH"] = str(start)


def test_without_apprise_a_submit_says_what_to_install(home: Home, hook: Webhook, tmp_path: Path) -> None:
    hide_apprise(home, tmp_path)
    configure(home, {"hook": hook.url()})
    for words in (["add", "--notify", "hook", "true"], ["notify", "test", "hook"]):
        refused = home.tarmac(*words)
        assert refused.returncode == 2, refused
        assert "apprise, which is not installed" in refused.stderr
        assert "pip install 'tarmac-gpu[notify]'" in refused.stderr
    job = home.add("--hold", "true")
    assert home.tarmac("edit", str(job), "--notify", "hook").returncode == 2
    assert home.client().call("GET", "/notify")["installed"] is False


def test_without_apprise_default_targets_refuse_no_job_and_status_says_why(
    home: Home, hook: Webhook, tmp_path: Path
) -> None:
    hide_apprise(home, tmp_path)
    configure(home, {"hook": hook.url()}, '[notify]\ndefault = "hook"')
    home.add("-g", "0", "true")
    assert until(lambda: "apprise is not installed" in home.tarmac("status").stdout)
    home.tarmac("stop")
    del home.environment["PYTHONPATH"]
    home.tarmac("status")
    hook.gets(1)


def test_a_test_without_any_target_says_where_to_add_one(home: Home) -> None:
    done = home.tarmac("notify", "test")
    assert done.returncode == 2
    assert "add one to the config file, under [notify.targets]" in done.stderr
