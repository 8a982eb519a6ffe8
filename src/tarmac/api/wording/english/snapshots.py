"""What is wrong with a snapshot, or with a request for its files."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "snapshot.not_a_hash": Message(
        "{tree:quoted} does not name a tree", "name it by the hash of its top directory, 64 hexadecimal digits"
    ),
    "snapshot.cut_off": Message("the list of hashes is cut off", "send 32 bytes for each object"),
    "snapshot.not_in_tree": Message("an object is not part of the job's snapshot", "name objects of its tree only"),
    "snapshot.malformed": Message(
        "the snapshot is malformed: {trouble}", "take it again, with a client as new as the controller"
    ),
    "snapshot.too_large": Message(
        "the snapshot takes {size:size}; the limit is {limit:size}",
        "leave out directories with .gitignore or --link, or raise the setting snapshot_limit",
    ),
    "snapshot.too_many": Message(
        "the snapshot has {entries} files and directories; the limit is {most}",
        "leave out directories with .gitignore or --link",
    ),
    "snapshot.unknown": Message(
        "the snapshot {tree} is not stored", "upload its objects, then the tree, then submit the job"
    ),
    "snapshot.expected": Message(
        "the setting snapshot is on, but this job has no snapshot", "take one with --snapshot, or give --no-snapshot"
    ),
    "snapshot.no_such_index": Message(
        "snapshot {index} is not among the {count} snapshots of this submit", "list it in `snapshots`, counted from 0"
    ),
    "snapshot.not_for_each": Message(
        "`snapshot` does not name exactly the selected jobs", "give an index for each of them, by its id, or false"
    ),
    "snapshot.unused": Message(
        "`snapshots` are given, but `snapshot` does not refer to them", "leave them out, or name an index for each job"
    ),
    "snapshot.bad_path": Message(
        "{path} is not below the directory of the snapshot", "give a relative path, without `..`"
    ),
    "snapshot.root_not_absolute": Message("the root {path} of the snapshot is not absolute", "give an absolute path"),
    "snapshot.none": Message(
        "job {job} has no snapshot: it runs what is in its directory when it starts",
        "add --snapshot when you submit the next one",
    ),
    "snapshot.removed": Message(
        "the snapshot of job {job} is not stored: it was removed or damaged, or the job was imported",
        "submit the job again from the original files; snapshot_keep_s and snapshot_keep_size say when one is removed",
    ),
    "snapshot.broken": Message(
        "the snapshot cannot be read: {trouble}", "submit the job again from the original files"
    ),
    "snapshot.too_much": Message("the answer would exceed {most:size}", "ask for fewer objects at once"),
    "snapshot.store": Message(
        "snapshots cannot be stored in {path}: {trouble}", "free some space, or move the file away if it is damaged"
    ),
}
