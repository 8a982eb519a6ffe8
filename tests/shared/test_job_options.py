"""The table of job options, and everything that is made from it."""

from typing import get_type_hints

import msgspec
import pytest

from tarmac.api.schemas.job.job import JobView, WholeJobView
from tarmac.cli.args.local_values import READERS
from tarmac.cli.args.selectors import FILTERS
from tarmac.cli.main import verb_named
from tarmac.cli.parser import JSON
from tarmac.cli.render.show.job_options import RENDERERS
from tarmac.client.records import Job
from tarmac.controller.submit.request import EditRequest, JobRequest
from tarmac.core.model.job import JobSpec, Request
from tarmac.shared.job_options import JOB_OPTIONS, REQUEST, SPEC, JobOption, passed_to
from tarmac.typed import values
from tests.shared.write_job_options import PLACES, ROOT, rewritten

ON_THE_WIRE = [option for option in JOB_OPTIONS if option.wire]
BY_HAND = {"params", "command", "shell", "fill_paths", "origins"}
ABOUT_SUBMITS = {
    "--batch",
    "--batch-format",
    "--dry-run",
    "--template",
    "--command",
    "--group",
}  # options that are not those of a job


@pytest.mark.parametrize("place", PLACES)
def test_what_is_generated_is_up_to_date(place: str) -> None:
    assert (ROOT / place).read_text(encoding="utf-8") == rewritten(place), "python -m tests.shared.write_job_options"


@pytest.mark.parametrize("option", JOB_OPTIONS, ids=lambda o: o.flag)
def test_each_value_of_a_row_has_the_type_of_a_declared_field(option: JobOption) -> None:
    rest = {name: value for name, value in vars(option).items() if name not in {"flag", "help", "name", "default"}}
    assert {name: type(value) for name, value in rest.items()} == {name: type(vars(JobOption)[name]) for name in rest}


def test_a_request_has_the_options_of_the_table_and_no_others() -> None:
    assert {option.wire for option in ON_THE_WIRE} == set(JobRequest.__struct_fields__) - BY_HAND


def test_an_edit_has_the_editable_options_and_no_others() -> None:
    editable = {option.wire: option for option in JOB_OPTIONS if "edit" in option.verbs}
    by_hand = {"command", "shell", "warn", "fill_paths", "origins"}
    assert set(editable) - {""} == set(EditRequest.__struct_fields__) - by_hand


@pytest.mark.parametrize("option", [option for option in JOB_OPTIONS if "edit" in option.verbs], ids=lambda o: o.flag)
def test_null_clears_an_option_where_the_table_says_so(option: JobOption) -> None:
    empty = b"[]" if option.type == "texts" else b"null"
    body = b'{"%s": %s}' % (option.wire.encode(), empty)
    if option.can_clear:
        assert not getattr(msgspec.json.decode(body, type=EditRequest), option.wire)
    else:
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(body, type=EditRequest)


@pytest.mark.parametrize(("record", "kind"), [(SPEC, JobSpec), (REQUEST, Request)])
def test_what_is_passed_on_has_a_field_in_the_core(record: str, kind: type) -> None:
    assert set(passed_to(record)) <= set(get_type_hints(kind))


def test_every_option_that_is_shown_is_served_and_typed() -> None:
    served = {option.view for option in JOB_OPTIONS if option.view}
    assert served <= set(WholeJobView.__struct_fields__)
    assert served <= set(Job.__annotations__)
    assert {option.view for option in JOB_OPTIONS if option.view and option.in_list} <= set(JobView.__struct_fields__)


@pytest.mark.parametrize("option", JOB_OPTIONS, ids=lambda option: option.flag)
def test_each_option_has_a_reader_and_a_renderer(option: JobOption) -> None:
    assert not option.read or callable(READERS.get(option.read) or getattr(values, option.read))
    assert option.render in RENDERERS


@pytest.mark.parametrize("verb", ["add", "run", "edit"])
def test_each_verb_takes_the_options_of_the_table(verb: str) -> None:
    of_the_verb = {JSON, *FILTERS} | {one for one in verb_named(verb).options if one.long in ABOUT_SUBMITS}
    flags = [option.long for option in verb_named(verb).options if option not in of_the_verb]
    assert flags == [option.flag for option in JOB_OPTIONS if verb in option.verbs]


def test_a_secret_is_not_shown() -> None:
    assert JobOption("--token", "…", wire="token", record=SPEC, is_secret=True).view == ""


@pytest.mark.parametrize("fact", ["flag", "short", "wire"])
def test_flags_and_names_are_unique(fact: str) -> None:
    names = [getattr(option, fact) for option in JOB_OPTIONS if getattr(option, fact)]
    assert len(set(names)) == len(names)
