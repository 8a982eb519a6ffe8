import os
from typing import get_args

import pytest

from tarmac.api.wording.catalogue.catalogue import say
from tarmac.controller.requests import permissions
from tarmac.controller.requests.permissions import (
    AdminAction,
    Caller,
    account,
    caller_with,
    is_admin,
    need_admin,
    refuse_others_jobs,
)
from tarmac.controller.settings.settings import Settings
from tarmac.refusal import Refused
from tests.core.support.builders import a_job

NOBODY_ELSE = Settings({}, {})
ANN = Settings({}, {"admins": "ann, eve"})
BOB, EVE = Caller(name="bob", uid=1001, is_admin=False), Caller(name="eve", uid=1002, is_admin=True)


def test_root_and_the_user_running_it_are_admins() -> None:
    assert is_admin(account(0), NOBODY_ELSE)
    assert is_admin(account(os.getuid()), NOBODY_ELSE)
    assert not is_admin("somebody else", NOBODY_ELSE)


def test_the_setting_names_more() -> None:
    assert not is_admin("ann", NOBODY_ELSE)
    assert is_admin("ann", ANN)


def test_a_caller_is_named_by_the_account_of_the_uid() -> None:
    assert caller_with(0, NOBODY_ELSE) == Caller(name=account(0), uid=0, is_admin=True)


def test_admin_actions_are_refused_to_others() -> None:
    need_admin(EVE, "queue")
    with pytest.raises(Refused) as caught:
        need_admin(BOB, "queue")
    assert (caught.value.kind, caught.value.values) == ("not_allowed", {"action": "queue"})


@pytest.mark.parametrize("action", get_args(AdminAction))
def test_every_admin_action_has_words(action: str) -> None:
    assert say("permission.admin_only", action=action) != f"only admins may {action}"


def test_users_act_on_their_own_jobs_and_admins_on_all() -> None:
    mine, hers = a_job(1, owner="bob"), a_job(2, owner="ann")
    refuse_others_jobs([mine], BOB)
    refuse_others_jobs([mine, hers], EVE)
    with pytest.raises(Refused) as caught:
        refuse_others_jobs([mine, hers], BOB)
    assert (caught.value.kind, caught.value.values["job"]) == ("not_allowed", 2)


def test_an_account_without_a_name_is_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(permissions.pwd, "getpwuid", unknown)
    assert account.__wrapped__(4711) == "4711"
