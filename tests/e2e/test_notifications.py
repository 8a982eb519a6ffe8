"""Notifications about jobs, received by real servers on loopback."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.home import Home, until
from tests.receivers import MailServer, Webhook, configure, mail_server, webhook

PASSWORD = "correct-horse"


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as found:
        yield found


class Hooked(NamedTuple):
    home: Home
    hook: Webhook


@pytest.fixture(scope="module")
def hooked_home(shared_home: Home) -> Iterator[Hooked]:
    with webhook() as hook:
        configure(shared_home, {"hook": hook.url()})
        yield Hooked(shared_home, hook)


@pytest.fixture
def hooked(hooked_home: Hooked) -> Hooked:
    """One home with one target for several tests. Each begins without messages."""
    hooked_home.hook.messages.clear()
    return hooked_home


def of_home(home: Home) -> dict[int, str]:
    return {pid: line for pid, line in home.processes().items() if "send_process" in line}


# Messages


def test_the_end_of_a_job_is_reported_with_its_outcome_run_time_gpus_and_last_line(hooked: Hooked) -> None:
    home, hook = hooked
    job = home.add(
        "-n", "train", "-g", "2", "--notify", "hook", "-c", "echo first; echo '\x1b[31mloss is nan\x1b[0m'; exit 3"
    )
    (message,) = hook.gets(1)
    assert re.fullmatch(rf"job {job} \(train\) failed: exit code 3 \[.+\]", message["title"])
    lines = message["message"].splitlines()
    assert "last line: loss is nan" in lines
    assert any(line.startswith("run time: ") for line in lines)
    assert any(line.startswith("GPUs: 0, 1 on ") for line in lines)
    assert any(line.startswith("owner: ") for line in lines)
    assert message["type"] == "failure"


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        (["--on", "start,end", "--", "true"], ["started", "succeeded"]),
        (["--on", "fail", "--", "false"], ["failed: exit code 1"]),
        (["--on", "end,fail,oom", "--", "false"], ["failed: exit code 1"]),  # one message, not two
        (["--on", "end", "-c", "kill -9 $$"], ["failed: killed from outside by SIGKILL"]),
        (["--on", "end", "--", "/no/such/program"], ["failed: it could not be started"]),
        (["--on", "end", "--time", "1s", "--", "sleep", "60"], ["failed: it reached its time limit"]),
    ],
)  # fmt: skip
def test_each_event_is_reported_once(hooked: Hooked, words: list[str], titles: list[str]) -> None:
    home, hook = hooked
    job = home.add("-g", "0", "--notify", "hook", *words)
    home.tarmac("wait", str(job))
    assert until(lambda: all(f"job {job} {title}" in text_of(hook) for title in titles)), text_of(hook)
    home.add("-g", "0", "--notify", "hook", "-n", "later", "true")
    assert until(lambda: "later" in text_of(hook))
    assert [text_of(hook).count(f"job {job} {title}") for title in titles] == [1] * len(titles)


def text_of(hook: Webhook) -> str:
    """Everything it got. A message about several events has their headlines in its body."""
    return "\n".join(f"{message['title']}\n{message['message']}" for message in hook.messages)


def test_nothing_is_sent_about_what_was_not_asked_for(hooked: Hooked) -> None:
    home, hook = hooked
    home.add("-g", "0", "--notify", "hook", "--on", "fail,oom,start", "-n", "one", "true")
    home.add("-g", "0", "-n", "two", "false")
    home.tarmac("wait", "all")
    home.add("-g", "0", "--notify", "hook", "-n", "three", "true")
    assert until(lambda: "three) succeeded" in text_of(hook))
    assert "one) started" in text_of(hook)
    assert "one) succeeded" not in text_of(hook)
    assert "two" not in text_of(hook)


def test_a_killed_job_and_one_whose_dependency_failed_are_reported(hooked: Hooked) -> None:
    home, hook = hooked
    first = home.add("-g", "0", "-n", "first", "--notify", "hook", "sleep", "600")
    home.add("-g", "0", "-n", "second", "--after", str(first), "--notify", "hook", "--on", "fail", "true")
    home.tarmac("kill", str(first))
    assert until(lambda: "first) was cancelled" in text_of(hook))
    assert until(lambda: "second) failed: a job that it depends on" in text_of(hook))


def test_an_idle_job_is_reported(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()}, settings='notify_digest_s = 0\nidle_warn_s = 1\nidle_action = "warn"')
    home.add("--notify", "hook", "--on", "idle", "-n", "lazy", "sleep", "600")
    (message,) = hook.gets(1, within_s=60)
    assert "(lazy) is idle: its GPUs did nothing for" in message["title"]
    assert message["type"] == "warning"


def test_retries_and_memory_that_ran_out_are_reported(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()}, settings="notify_digest_s = 0\nretry_delay_s = 0")
    job = home.add("-n", "again", "--retry", "1", "--notify", "hook", "--on", "retry,fail", "false")
    assert until(lambda: "(again) failed: exit code 1" in text_of(hook)), text_of(hook)
    assert text_of(hook).count(f"job {job} (again) failed and will be retried: exit code 1") == 1
    line = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB."
    home.add("-n", "big", "--retry", "1", "--notify", "hook", "--on", "oom", "-c", f"echo '{line}' >&2; exit 1")
    assert until(lambda: "(big) failed: out of GPU memory" in text_of(hook)), text_of(hook)
    assert text_of(hook).count("(big) failed and will be retried: out of GPU memory") == 1
    assert f"error: {line}" in text_of(hook)


def test_an_adopted_process_has_the_default_targets(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()}, '[notify]\ndefault = "hook"')
    process = subprocess.Popen(["sleep", "600"])
    try:
        assert home.tarmac("adopt", str(process.pid), "-n", "mine").returncode == 0
    finally:
        process.kill()
        process.wait()
    assert until(lambda: "(mine) ended, but its outcome is unknown" in text_of(hook)), text_of(hook)


def test_a_server_that_never_answers_fails_a_test_in_the_end(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()})
    hook.hold()
    done = home.tarmac("notify", "test", "hook", timeout_s=100)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tarmac: hook: ")
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_several_targets_get_each_event(home: Home, hook: Webhook) -> None:
    with webhook() as other:
        configure(home, {"one": hook.url(), "two": other.url()})
        home.add("-g", "0", "--notify", "one,two", "--notify", "one", "true")
        hook.gets(1)
        other.gets(1)
        assert (len(hook.messages), len(other.messages)) == (1, 1)


def test_jobs_that_end_together_make_one_message_with_failures_first(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()}, settings="notify_digest_s = 3")
    home.tarmac("queue", "pause")
    home.tarmac("add", "--array", "20", "-g", "0", "--notify", "hook", "-n", "sweep", "true")
    home.add("-g", "0", "--notify", "hook", "-n", "broken", "false")
    home.tarmac("queue", "resume")
    home.tarmac("wait", "all")
    (message,) = hook.gets(1)
    assert message["title"].startswith("21 jobs ended: 1 failed, 20 succeeded")
    lines = message["message"].splitlines()
    assert len(lines) == 21
    assert "(broken) failed: exit code 1" in lines[0]


def test_the_rest_of_a_long_digest_is_counted(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()}, settings="notify_digest_s = 2")
    home.tarmac("add", "--array", "80", "-g", "0", "--hold", "--notify", "hook", "true")
    home.tarmac("kill", "all")
    (message,) = hook.gets(1)
    assert message["title"].startswith("80 jobs ended: 80 cancelled")
    assert message["message"].splitlines()[-1] == "… and 30 more"


# Mail


@pytest.fixture
def mail() -> Iterator[MailServer]:
    with mail_server(PASSWORD) as found:
        yield found


def mail_url(mail: MailServer, password: str = PASSWORD, to: str = "ann@example.org") -> str:
    return f"mailto://ann:{password}@127.0.0.1:{mail.port}?from=tarmac@example.org&to={to}&mode=insecure"


def test_mail_is_sent_with_a_login(home: Home, mail: MailServer) -> None:
    configure(home, {"mail": mail_url(mail)})
    home.add("-g", "0", "-n", "größe <b>", "--notify", "mail", "-c", "echo '<i>& last'")
    (received,) = mail.gets(1)
    assert "(größe <b>) succeeded" in received["Subject"]
    body = received.get_body(("plain", "html"))
    assert body is not None
    assert "last" in body.get_content()
    assert mail.recipients == [["ann@example.org"]]


def test_mail_is_sent_without_a_login_as_the_documentation_says(home: Home) -> None:
    with mail_server() as open_server:
        more = "?from=tarmac@example.org&to=ann@example.org,bob@example.org"
        configure(home, {"mail": f"mailto://localhost:{open_server.port}{more}"})
        home.add("-g", "0", "--notify", "mail", "true")
        open_server.gets(2)
        assert sorted(open_server.recipients) == [["ann@example.org"], ["bob@example.org"]]
        assert "tarmac@example.org" in open_server.mails[0]["From"]


def test_the_name_of_a_job_cannot_add_a_header_to_a_mail(home: Home, mail: MailServer) -> None:
    configure(home, {"mail": mail_url(mail)})
    home.add("-g", "0", "-n", "x\r\nBcc: eve@example.org\r\n\r\nbody", "--notify", "mail", "true")
    (received,) = mail.gets(1)
    assert received["Bcc"] is None
    assert "x Bcc: eve@example.org body" in received["Subject"]
    assert mail.recipients == [["ann@example.org"]]


def test_an_address_is_sent_by_the_target_named_mail(home: Home, mail: MailServer) -> None:
    configure(home, {"mail": mail_url(mail)})
    home.add("-g", "0", "--notify", "bob@example.org,mail", "true")
    mail.gets(2)
    assert sorted(mail.recipients) == [["ann@example.org"], ["bob@example.org"]]


def test_a_wrong_password_is_reported_without_the_password(home: Home, mail: MailServer) -> None:
    configure(home, {"mail": mail_url(mail, "wrong-horse")})
    done = home.tarmac("notify", "test", "mail")
    assert done.returncode == 1
    assert done.stderr.startswith("tarmac: mail: the message was not sent")
    assert "wrong-horse" not in done.stderr
    assert mail.mails == []


# Failures


def test_a_message_that_was_not_accepted_is_sent_again(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()})
    hook.answers = [500, 503]
    home.add("-g", "0", "--notify", "hook", "-n", "steady", "true")
    hook.gets(1)
    assert hook.asked == 3
    assert until(lambda: home.client().status()["notifications"] is None)


def test_status_and_ls_say_what_could_not_be_sent_until_it_is(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()})
    hook.answers = [500] * 4
    home.add("-g", "0", "--notify", "hook", "true")
    line = until(lambda: next((line for line in home.tarmac("status").stdout.splitlines() if "hook:" in line), None))
    assert re.match(r"notify +1 message waiting; hook: the message was not sent: .*500", line), line
    (target,) = json.loads(home.tarmac("notify", "ls", "--json").stdout)["targets"]
    assert (target["name"], target["waiting"], target["failed"]) == ("hook", 1, 0)
    assert "500" in target["error"]
    hook.gets(1)
    assert until(lambda: "notify" not in home.tarmac("status").stdout)
    (target,) = json.loads(home.tarmac("notify", "--json").stdout)["targets"]
    assert (target["waiting"], target["error"]) == (0, None)


def test_a_failed_target_delays_no_other(home: Home, hook: Webhook) -> None:
    with webhook() as other:
        configure(home, {"stuck": hook.url(), "fine": other.url()})
        hook.hold()
        home.add("-g", "0", "--notify", "stuck,fine", "true")
        other.gets(1)
        assert until(lambda: hook.asked)
        assert home.add("-g", "0", "true")


def test_after_a_restart_a_failed_message_is_sent_at_once(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()}, settings="notify_digest_s = 0\nnotify_retry_s = 3600")
    hook.answers = [500]
    home.add("-g", "0", "--notify", "hook", "true")
    assert until(lambda: "hook:" in home.tarmac("status").stdout)
    home.tarmac("stop")
    home.tarmac("status")
    hook.gets(1)


# Crashes


def test_a_server_that_hangs_delays_neither_jobs_nor_the_stop(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()})
    hook.hold()
    home.add("-g", "0", "--notify", "hook", "true")
    assert until(lambda: hook.asked)
    assert home.tarmac("run", "-g", "0", "true", timeout_s=20).returncode == 0
    assert home.tarmac("stop", timeout_s=20).returncode == 0
    assert until(lambda: not of_home(home), 20), of_home(home)
    hook.release()
    before = len(hook.messages)  # the one that hung may have been accepted; it was never answered
    home.tarmac("status")
    hook.gets(before + 1)


def test_a_killed_controller_loses_no_message(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()}, settings="notify_digest_s = 5")
    job = home.add("-g", "0", "--notify", "hook", "true")
    home.tarmac("wait", str(job))
    os.kill(home.pid_of("controller"), signal.SIGKILL)
    assert hook.messages == []
    home.tarmac("status")
    (message,) = hook.gets(1)
    assert f"job {job} succeeded" in message["title"]


def test_what_was_sent_while_the_controller_died_is_not_sent_again(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()})
    hook.hold()
    job = home.add("-g", "0", "--notify", "hook", "true")
    assert until(lambda: hook.asked)
    os.kill(home.pid_of("controller"), signal.SIGKILL)
    hook.release()  # the message is accepted while nobody listens to the sender
    hook.gets(1)
    assert until(lambda: not of_home(home), 20)
    later = home.add("-g", "0", "--notify", "hook", "true")
    assert until(lambda: f"job {later} succeeded" in text_of(hook))
    assert text_of(hook).count(f"job {job} succeeded") == 1
    assert until(lambda: home.client().status()["notifications"] is None)
    assert until(lambda: (home.path / "outbox.sent").read_bytes() == b"")


def test_a_killed_sender_is_replaced(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()})
    hook.hold()
    home.add("-g", "0", "--notify", "hook", "true")
    assert until(lambda: hook.asked)
    for pid in of_home(home):
        os.kill(pid, signal.SIGKILL)
    hook.release()
    assert until(lambda: hook.asked >= 2)
    hook.gets(1)


def test_the_controller_does_not_import_apprise(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()})
    home.add("-g", "0", "--notify", "hook", "true")
    hook.gets(1)
    mapped = Path(f"/proc/{home.pid_of('controller')}/maps").read_text()
    assert "_yaml" not in mapped  # a library of apprise
    assert of_home(home)
