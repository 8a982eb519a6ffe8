"""Ended jobs: listing, cleaning, exporting and importing them."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "history.not_ended": Message(
        "{state:quoted} is not a state of ended jobs", "choose one of {known}; `tarmac ls` lists the others"
    ),
    "history.wrong_cursor": Message(
        "after {text:quoted} is not the end of a page", "pass `next` of the last page, or leave it out"
    ),
    "history.owner_and_all": Message("owner cannot be used together with all_owners", "leave out one of them"),
    "history.cannot_dump": Message(
        "nothing was removed: {path} cannot be written: {error}",
        "run `tarmac set history_dump` to see or change the file",
    ),
    "history.not_a_dump": Message(
        "nothing was removed: {path} is not a file of exported jobs",
        "set history_dump to a new file, or to one that Tarmac wrote",
    ),
    "history.not_an_export": Message(
        "this is not a file of exported jobs", "give a file that `tarmac export` or history_dump wrote"
    ),
    "history.newer_export": Message(
        "the file was written by a newer Tarmac{version:prefixed  }", "upgrade Tarmac, then import it"
    ),
    "history.wrong_record": Message(
        "line {line} {what:select damaged=is not a job of this version|not_ended=is a job that has not ended|"
        "unstorable=cannot be stored}: {detail}",
        "remove the line, or export the jobs again",
    ),
    "history.others_job": Message(
        "line {line}: the job belongs to {owner}, not to {caller}", "only admins may import jobs of other users"
    ),
    "history.not_imported": Message(
        "job {job} has no imported attempt {attempt}", "import the job first; logs of other jobs are not changed"
    ),
    "history.log_not_written": Message(
        "the log of job {job} cannot be written: {error}", "free some space on the disk, and import the file again"
    ),
    "history.unindexed": Message(
        "the index of the history is being rebuilt and lacks {jobs} of its jobs", "try again in a minute"
    ),
    "history.no_index": Message(
        "the history cannot be searched: {path}: {error}", "free some space on the disk; `tarmac ls -a` lists all jobs"
    ),
}
