"""The declaration of job options, for clients that build a form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tarmac.api.deps import Context
from tarmac.api.schemas.job.forms import JobOptionList, JobOptionView
from tarmac.api.wording.catalogue.catalogue import say_declared
from tarmac.controller.submit.environment.form_environment import form_environment, home_of
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.shared.names import JOB_EVENTS, ON_OOM, RETRY_KINDS, TIERS
from tarmac.typed.option_groups import OPTION_GROUPS

if TYPE_CHECKING:
    from tarmac.shared.job_options import JobOption

ONE_OF = {"tier": TIERS, "on_oom": ON_OOM}
SOME_OF = {"events": JOB_EVENTS, "retry_kinds": RETRY_KINDS}
GROUP_OF = {flag: heading for heading, flags in OPTION_GROUPS for flag in flags}
ORDER = [flag for _, flags in OPTION_GROUPS for flag in flags]
NOT_IN_FORMS = ("--shell",)  # is the command


async def list_job_options(context: Context) -> JobOptionList:
    """List the options of a job, in the order and under the headings of `tarmac add --help`."""
    shown = [option for option in JOB_OPTIONS if "add" in option.verbs and option.flag not in NOT_IN_FORMS]
    return JobOptionList(
        options=[_view(option) for option in sorted(shown, key=lambda option: ORDER.index(option.flag))],
        environment=sorted(form_environment(context.caller.uid)),
        home=home_of(context.caller.uid),
    )


def _view(option: JobOption) -> JobOptionView:
    return JobOptionView(
        name=option.name.replace("_", "-"),
        flag=option.flag,
        wire=option.wire,
        kind=_kind(option),
        metavar=option.metavar,
        help=say_declared(f"option.{option.name}", option.help),
        group=say_declared(f"heading.{GROUP_OF[option.flag]}", GROUP_OF[option.flag]),
        choices=list(ONE_OF.get(option.read) or SOME_OF.get(option.read) or ()),
        for_admins=[str(value) for value in option.admin_values],
        can_edit="edit" in option.verbs,
        can_clear=option.can_clear,
        can_default=option.can_default,
        is_secret=option.is_secret,
        is_local=option.is_local,
    )


def _kind(option: JobOption) -> Literal["switch", "choice", "choices", "number", "list", "text"]:
    if not option.metavar:
        return "switch"
    if option.read in ONE_OF:
        return "choice"
    if option.read in SOME_OF:
        return "choices"
    if option.is_many:
        return "list"
    return "number" if option.metavar == "N" else "text"
