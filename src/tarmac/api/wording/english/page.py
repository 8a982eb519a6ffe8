"""The page: log-in, and requests that do not come from it."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "page.link_used_up": Message(
        "this link was used before, or is older than 5 minutes", "run `tarmac web` again to get a new one"
    ),
    "page.too_many_attempts": Message(
        "too many wrong attempts to log in from this address", "wait a moment, then try again"
    ),
    "page.not_logged_in": Message("you are not logged in", "run `tarmac web` on the machine of the queue to log in"),
    "page.foreign_host": Message(
        "{host:quoted} is not an address of this page", "open the address that `tarmac web` prints"
    ),
    "page.foreign_origin": Message(
        "this request comes from another site: {origin}", "open the address that `tarmac web` prints"
    ),
    "page.wrong_token": Message("this request does not come from the page", "reload the page, then try again"),
    "page.not_served": Message("this controller does not serve the page", "run `tarmac stop`, then `tarmac web`"),
    "page.not_installed": Message(
        "the JavaScript packages of the page are not installed",
        "run `make install` in the clone, with access to the npm registry",
    ),
    "page.other_port": Message(
        "the page is already served on port {port}", "leave out --port, or run `tarmac stop` first"
    ),
    "page.cannot_listen": Message(
        "the page cannot be served{port:prefixed  on port }: {error}", "choose another port with --port"
    ),
}
