"""Arrays, sweeps and batches, with the numbers of their jobs in each state."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.schemas.groups import GroupPage, GroupsQuery, GroupView
from tarmac.api.views.group import group_views
from tarmac.controller.requests.selectors import group_named


async def list_groups(context: Context, query: GroupsQuery) -> GroupPage:
    """List groups, the newest first. Pass `next` of one page as `after` to get the next page."""
    if query.group is not None:
        return GroupPage(groups=[await show_group(context, query.group)], next=None)
    is_active = None if query.state is None else query.state == "active"
    found = context.controller.store.reader.groups.listed(
        is_active=is_active, owner=query.owner, before=query.after, limit=query.limit + 1
    )
    page = found[: query.limit]
    next_id = page[-1].id if len(found) > query.limit else None
    return GroupPage(groups=group_views(context.controller, page), next=next_id)


async def show_group(context: Context, word: str) -> GroupView:
    """Show one group, by its id or name; `last` is the caller's newest one."""
    group = group_named(context.controller.store.reader, context.caller.name, word)
    return group_views(context.controller, [group])[0]
