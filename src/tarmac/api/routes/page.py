"""Log in to the page with a one-time link, and log out of it everywhere."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.schemas.page import PageLink, PageLinkRequest, PageLogout
from tarmac.controller.page_sessions import LINK_LASTS_S
from tarmac.refusal import unavailable


async def create_link(context: Context, body: PageLinkRequest) -> PageLink:
    """Serve the page, if it is not served yet, and make a link that logs the caller in once.

    The word after `#` stays in the browser until the page sends it, so that nothing that merely looks at the address
    uses it up.
    """
    controller = context.controller
    if controller.page is None:
        raise unavailable("page.not_served")
    address = await controller.page.address(body.port)
    word = controller.page_sessions.new_link(context.caller.uid)
    return PageLink(url=f"{address}/login#{word}", lasts_s=LINK_LASTS_S)


async def log_out(context: Context) -> PageLogout:
    """End all sessions of the caller in browsers."""
    await context.controller.page_sessions.end_all(context.caller.uid)
    return PageLogout(user=context.caller.name)
