"""What a job requested, in words and as fields."""

from dataclasses import replace

from tarmac.api.schemas.job.why import Requested
from tarmac.api.wording.requested import OPTIONS, requested_fields, requested_words
from tarmac.core.model.gpu import NamedGpu
from tarmac.core.model.ids import GpuUuid
from tarmac.shared.job_options import JOB_OPTIONS
from tests.core.support.builders import a_job, a_node

LEFT_OUT = {
    "tags",
    "fetch",
    "project",
    "signal",
    "grace_s",
    "notify",
    "notify_on",
    "fill",
    "retries",
    "retry_on",
    "retry_delay_s",
    "on_oom",
    "requeue",
    "warn",
    "venv",
    "conda",
    "note",
}  # they say nothing about when and where a job starts


def test_every_option_that_show_mentions_is_among_the_requested_ones() -> None:
    shown = {option.wire for option in JOB_OPTIONS if option.label and option.view}
    assert {option.wire for option in OPTIONS} == shown - LEFT_OUT | {"gpus"} == Requested.__annotations__.keys()


def test_gpus_are_named_by_their_current_index_or_by_uuid() -> None:
    node, spec = a_node(gpus=4), a_job(1).spec
    there, gone = [*node.gpus][3], GpuUuid("GPU-gone")
    pins = (NamedGpu(uuid=there, index=0), NamedGpu(uuid=gone, index=1))
    asked = replace(spec, request=replace(spec.request, gpus_on=pins, exclude_gpus=(NamedGpu(uuid=there, index=0), 2)))
    words = requested_words(asked, [node], 0.0)
    assert f"only GPU 3, {gone}" in words
    assert "not GPU 3, 2" in words
    fields = requested_fields(asked, [node])
    assert (fields["gpus_on"], fields["exclude_gpus"]) == ([3, gone], [3, 2])


def test_idle_below_and_nice_are_mentioned_where_they_were_given() -> None:
    spec = a_job(1).spec
    asked = replace(spec, nice=7, request=replace(spec.request, idle_below=20))
    plain, more = (requested_words(one, [], 0.0) for one in (spec, asked))
    assert [words for words in more if words not in plain] == ["GPUs less than 20% busy", "nice 7"]
    assert requested_fields(asked, []) == requested_fields(spec, []) | {"nice": 7, "idle_below": 20}


def test_a_job_that_gave_nothing_has_the_defaults_that_matter() -> None:
    spec = a_job(1).spec
    assert requested_words(spec, [], 0.0) == ["1 GPU", "priority 10", "no time limit"]
    assert requested_fields(spec, []) == {"gpus": 1, "priority": 10, "tier": "normal"}
