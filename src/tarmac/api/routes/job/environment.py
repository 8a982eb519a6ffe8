"""The environment of a job, without its secrets; and how its Python changed since it ran."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.routes.job.jobs import find_job
from tarmac.api.schemas.job.environment import EnvironmentView, Variable
from tarmac.api.schemas.job.python import PackageChangeView, PythonChanges
from tarmac.api.views.python import python_view
from tarmac.controller.fingerprints import changes
from tarmac.controller.requests.permissions import refuse_others_jobs


async def show_environment(context: Context, word: str) -> EnvironmentView:
    """List the variables that a job was submitted with. Secrets have no value here, not even for their owner."""
    job = find_job(context, word)
    refuse_others_jobs([job], context.caller)
    variables = context.controller.store.reader.public_environment(job.spec.environment)
    return EnvironmentView(
        variables=[
            Variable(name=name, value=value, is_secret=value is None) for name, value in sorted(variables.items())
        ]
    )


async def python_changes(context: Context, word: str) -> PythonChanges:
    """Compare the Python and the packages that a job was started with and those that it would find now.

    A job that has not started yet is compared with the one that it repeats.
    """
    job = find_job(context, word)
    refuse_others_jobs([job], context.caller)
    then = context.controller.fingerprints.before(job)
    now = None if then is None else await context.controller.fingerprints.today(job)
    found = [] if then is None or now is None else changes(then, now)
    return PythonChanges(
        then=python_view(then),
        now=python_view(now),
        changes=[PackageChangeView(name=one.name, then=one.then, now=one.now) for one in found],
    )
