"""Notifications: what they say, and why one was refused or could not be sent."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

_INSTALL = "run `pip install 'tarmac-gpu[notify]'`, then `tarmac stop`; or leave out --notify"
_EXAMPLE = '[notify.targets] mail = "mailtos://USER:PASSWORD@smtp.example.org?to=ann@example.org"'

MESSAGES: dict[str, Message] = {
    # at submit
    "notify.not_installed": Message("notifications need apprise, which is not installed", _INSTALL),
    "notify.none_configured": Message(
        "{target} is not a target of notifications; the config file has no targets",
        "add one to the config file: " + _EXAMPLE + "; see docs/notifications.md",
    ),
    "notify.unknown": Message(
        "{target} is not a target of notifications", "use {known:or}, or add it to [notify.targets] in the config file"
    ),
    "notify.misspelled": Message("{target} is not a target of notifications", "did you mean {near}?"),
    "notify.url": Message(
        "--notify takes the name of a target, not a URL, which may contain a secret",
        "add the URL to the config file under a name: [notify.targets]",
    ),
    "notify.no_mail": Message(
        "cannot send mail to {address}: the config file has no target named mail", "add one: " + _EXAMPLE
    ),
    "notify.unknown_event": Message("{event:quoted} is not an event of a job", "use {known:or}"),
    "notify.on_without_target": Message(
        "--on needs a target of notifications, but the job has none", "add --notify TARGET"
    ),
    # the config file
    "config.notify_not_a_table": Message(
        "{path}: notify is not a table", "write [notify.targets] with a line such as mail = URL"
    ),
    "config.notify_users": Message(
        "{path}: notify.users is not a table of users",
        "write [notify.users.ann.targets] with a line such as mail = URL",
    ),
    "config.notify_proxy": Message(
        "{path}: notify.proxy is not a URL", 'write proxy = "http://proxy.example.org:3128"'
    ),
    "config.notify_key": Message(
        "{path}: unknown key {key} in [{table}]",
        "{near:prefixed did you mean }{near:select None=use targets, default, on, queue or queue_on}?",
    ),
    "config.notify_targets": Message(
        "{path}: {table}.targets is not a table", "write [{table}.targets] with a line such as mail = URL"
    ),
    "config.notify_name": Message(
        "{path}: {name:quoted} in [{table}.targets] cannot be the name of a target",
        "use up to 64 letters of a to z, digits, dots, hyphens and underscores; `none` is taken",
    ),
    "config.notify_url": Message(
        "{path}: {name} in [{table}.targets] is not a URL", "write " + _EXAMPLE + "; see docs/notifications.md"
    ),
    "config.notify_words": Message(
        "{path}: {key} in [{table}] is not a list of words", 'write {key} = ["mail", "slack"] or {key} = "mail,slack"'
    ),
    "config.notify_no_target": Message(
        "{path}: {key} in [{table}] names {target:quoted}, which is not a target", "add it to [{table}.targets]"
    ),
    "config.notify_event": Message("{path}: {key} in [{table}]: {event:quoted} is not an event", "use {known:or}"),
    # why a message was not sent
    "send.failed": Message("the message was not sent{text:prefixed : }"),
    "send.timeout": Message("the server did not answer within {text} s"),
    "send.bad_url": Message("apprise does not accept the URL of this target{text:prefixed : }"),
    "send.not_installed": Message("apprise is not installed; run `pip install 'tarmac-gpu[notify]'`"),
    "send.no_target": Message("the config file has no such target"),
    "send.broken": Message("the process that sends ended unexpectedly{text:prefixed : }"),
    "send.unreadable": Message("this version of Tarmac cannot describe the event: {text}"),
    # events
    "event.job": Message("job {job}{index:prefixed , copy }{name:parenthesized}"),
    "event.start": Message("{job} started"),
    "event.succeeded": Message("{job} succeeded"),
    "event.failed": Message("{job} failed: {reason}"),
    "event.cancelled": Message("{job} was cancelled"),
    "event.unknown": Message("{job} ended, but its outcome is unknown{reason:prefixed : }"),
    "event.retry": Message("{job} failed and will be retried: {reason}"),
    "event.idle": Message("{job} is idle: {warning}"),
    "event.queue_empty": Message("the queue is empty: no job waits or runs"),
    "event.gpu_idle": Message(
        "{gpus:plural GPU|GPUs} {gpus:list } {gpus:plural has|have} been free for {idle_s:in_words}, "
        "although {waiting:n job} {waiting:plural waits|wait}"
    ),
    "event.reason": Message(
        "{reason:select exit=exit code|signal=ended by|killed=killed from outside by|"
        "oom-gpu=out of GPU memory|oom-host=out of memory|timeout=it reached its time limit|"
        "launch=it could not be started|dependency=a job that it depends on did not end as required|"
        "disk-full=a disk was full|no-cwd=its working directory is gone|"
        "no-interpreter=its interpreter is gone|suspend=the machine was suspended|reboot=the machine was rebooted}"
        "{code:prefixed  }"
    ),
    # the lines of a message
    "line.ran": Message("run time: {run_s:in_words}"),
    "line.gpus": Message("{gpus:plural GPU|GPUs}: {gpus:list } on {node}"),
    "line.node": Message("host: {node}"),
    "line.attempt": Message("attempt: {attempt}"),
    "line.next": Message("next: attempt {attempt}{wait_s}"),
    "line.next_wait": Message(", in {wait_s:in_words}"),
    "line.owner": Message("owner: {owner}"),
    "line.message": Message("note: {message}"),
    "line.error": Message("error: {line}"),
    "line.last": Message("last line: {line}"),
    "line.at": Message("time: {at}"),
    "line.brief": Message("{event}{run_s}{error:prefixed : }"),
    "line.brief_ran": Message(", after {run_s:in_words}"),
    "line.more": Message("… and {more} more"),
    "digest.ends": Message("{count:n job} ended: {parts:join , }"),
    "digest.part": Message("{count} {state:select unknown=with unknown outcome}"),
    "digest.events": Message("{count:n event}"),
    "notify.on_host": Message("{title} [{host}]"),
    "notify.test_title": Message("test message"),
    "notify.test_body": Message("{by} sent this with `tarmac notify test {target}`; notifications to this target work"),
}
