"""Nodes: which one is meant, and how the config file lists them."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

_ENTRY = 'write [[nodes]] with name = "…", kind = "local" and state = "/…"'

MESSAGES: dict[str, Message] = {
    "node.unreachable": Message("{error}"),
    "node.lost": Message("the connection to its agent was lost"),
    "node.removed": Message("it is no longer configured"),
    "node.away": Message("node {node} has been unreachable since {since}"),
    "node.away_removed": Message("node {node} is no longer configured"),
    "node.joining": Message("its agent is starting"),
    "node.unknown": Message("unknown node {node}", "choose one of these: {known:list none}"),
    "node.exists": Message(
        "a node named {node} already exists",
        "choose another name with --name, or change it with `tarmac node edit {node}`",
    ),
    "node.too_many": Message("there are {most} nodes already", "remove one with `tarmac node rm`"),
    "node.of_config": Message(
        "node {node} was not added by `tarmac node add`",
        "this machine itself, and nodes of the config file, are not changed here",
    ),
    "node.name_invalid": Message(
        "{name:quoted} is not a valid name of a node",
        "use at most 64 letters, digits, dots, hyphens and underscores; begin with a letter or digit",
    ),
    "node.host_invalid": Message(
        "{host:quoted} is not a host", "give it as for `ssh`, without options: a host name, an address or an alias"
    ),
    "node.user_invalid": Message("{user:quoted} is not a user name", "give the account on that machine"),
    "node.has_jobs": Message(
        "{jobs:jobs} {jobs:plural runs|run} on {node}",
        "run `tarmac node drain {node}` and wait for their end, or kill them; if the machine is gone for good, "
        "run `tarmac node forget {node} --yes`",
    ),
    "node.has_fetches": Message(
        "files of {jobs:jobs} are being copied from {node}", "wait until `tarmac show` says that they were copied"
    ),
    "node.another_machine": Message(
        "{host} is another machine than {node}, on which jobs run, or it was rebooted",
        "add it as another node, or wait until the jobs have ended",
    ),
    "node.is_connected": Message(
        "{node} can be reached, so it is not gone", "run `tarmac node rm {node}` to remove it once its jobs have ended"
    ),
    "node.address_invalid": Message("{address:quoted} is not an address", "give a host name or an IP address"),
    "node.variable_invalid": Message(
        "the variable {name:quoted} cannot be passed on", "use letters, digits and underscores, and no null bytes"
    ),
    "node.same_machine": Message(
        "{node} is the same machine as node {other}", "its GPUs would be given out twice, so nothing was added"
    ),
    "node.failed.login": Message(
        "{host} refused the log-in: {said}",
        "check that `ssh {host}` works without a password; for passwords and second factors, run `tarmac node login`",
    ),
    "node.failed.host_key_unknown": Message(
        "the host key of {host} is not known: {said}",
        "run the command in a terminal, where ssh asks about it, or with --accept-new",
    ),
    "node.failed.host_key_changed": Message(
        "the host key of {host} has changed: {said}",
        "the connection may be intercepted; after a reinstallation, remove the old key with `ssh-keygen -R {host}`",
    ),
    "node.failed.unreachable": Message(
        "{host} cannot be reached: {said}", "check the name and the network with `ssh {host}`"
    ),
    "node.failed.silent": Message(
        "{host} accepted the connection, but its shell did not answer within 20 s{said:prefixed : }",
        "check its login files: one may read input or start another program, such as tmux",
    ),
    "node.failed.ended": Message(
        "{host} ended the connection before the agent started{said:prefixed : }",
        "check its login files: one may exit or start another program, such as tmux",
    ),
    "node.failed.stuck": Message(
        "the agent on {host} did not start within 60 s{said:prefixed : }",
        "check whether the disk of the home directory there answers",
    ),
    "node.failed.quiet": Message(
        "nothing was heard from {host} for 15 s, so the connection was given up", "it is tried again; its jobs continue"
    ),
    "node.failed.same_machine": Message(
        "{host} is the same machine as node {other}", "remove one of the two: its GPUs would be given out twice"
    ),
    "node.failed.no_python": Message(
        "{host} has no Python 3.8 or newer{said:prefixed ; the newest there is }",
        "install python3 there; nothing else is needed",
    ),
    "node.failed.node": Message("the agent cannot be started on {host}: {said}", "fix that on {host}, then try again"),
    "node.failed.no_ssh": Message("this machine has no `ssh` program", "install the OpenSSH client"),
    "node.remove_ipc": Message(
        "{node}: when {user} logs out, systemd deletes shared memory that PyTorch's data loaders use (RemoveIPC); "
        "run `loginctl enable-linger {user}` there as root"
    ),
    "node.kills_processes": Message(
        "{node}: when {user} logs out, systemd kills all processes of {user}, jobs included (KillUserProcesses); "
        "run `loginctl enable-linger {user}` there as root"
    ),
    "node.other_controllers": Message(
        "{node} is also used by {others}; jobs of theirs count as foreign processes here"
    ),
    "node.not_named": Message("process {pid} could be on any of several nodes", "name its node: {known}"),
    "gpu.on_several_nodes": Message("GPU {word} exists on several nodes", "name the node as well: {choices}"),
    "gpu.pinned_to_several_nodes": Message(
        "the named GPUs are on several nodes ({nodes}), but a job runs on one", "name GPUs of one node"
    ),
    "gpu.range_reversed": Message("the range {word} ends before it begins", "write the smaller index first"),
    "config.nodes_not_a_list": Message("{path}: nodes is not a list of tables", _ENTRY),
    "config.node_key_missing": Message("{path}: nodes[{number}] has no {key}", 'add {key} = "{example}"'),
    "config.node_key_not_text": Message(
        "{path}: {key} of nodes[{number}] is not a string", 'write it in quotes: {key} = "{example}"'
    ),
    "config.node_key_unknown": Message(
        "{path}: nodes[{number}] has an unknown key {key}", "choose one of these: {known}"
    ),
    "config.node_kind_unknown": Message(
        "{path}: nodes[{number}] has an unknown kind {kind}", "choose one of these: {known}"
    ),
    "config.node_name_invalid": Message(
        "{path}: {name:quoted} of nodes[{number}] is not a valid name",
        "use at most 64 letters, digits, dots, hyphens and underscores; begin with a letter or digit",
    ),
    "config.node_environment_invalid": Message(
        "{path}: environment of nodes[{number}] is not a table of strings",
        'write environment = {{ TARMAC_FAKE_GPUS = "2x48G" }}',
    ),
    "config.node_watch_only_invalid": Message(
        "{path}: watch_only of nodes[{number}] is neither true nor false", "write watch_only = true"
    ),
    "config.node_state_relative": Message(
        "{path}: state {state} of node {node} is not absolute", "give an absolute path"
    ),
    "config.nodes_repeated": Message("{path}: two nodes have the {what} {value}", "give each node its own"),
    "config.node_is_home": Message(
        "the config file lists a node {node}, which is the name of this machine", "choose another name"
    ),
    "config.node_was_added": Message(
        "the config file lists a node {node}, which was already added with `tarmac node add`",
        "choose another name in the config file",
    ),
    "config.node_state_is_home": Message(
        "the state of node {node} is {state}, the state directory of this controller", "choose another directory"
    ),
}
