"""Nodes: which one is meant, and how the config file lists them."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

_ENTRY = 'write [[nodes]] with name = "…", kind = "local" and state = "/…"'

MESSAGES: dict[str, Message] = {
    "node.unreachable": Message("{error}"),
    "node.lost": Message("the connection to its agent was lost"),
    "node.joining": Message("its agent is starting"),
    "node.unknown": Message("unknown node {node}", "choose one of these: {known:list none}"),
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
    "config.node_state_relative": Message(
        "{path}: state {state} of node {node} is not absolute", "give an absolute path"
    ),
    "config.nodes_repeated": Message("{path}: two nodes have the {what} {value}", "give each node its own"),
    "config.node_is_home": Message(
        "the config file lists a node {node}, which is the name of this machine", "choose another name"
    ),
    "config.node_state_is_home": Message(
        "the state of node {node} is {state}, the state directory of this controller", "choose another directory"
    ),
}
