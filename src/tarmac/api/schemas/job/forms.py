"""Jobs as people type them into a form, and the declaration that a form is built from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from tarmac.api.schemas.job.jobs import StartView

LONGEST_TEXT = 2 << 20  # characters; a form is read again and again while it is typed
Word = Annotated[str, Meta(max_length=LONGEST_TEXT)]
FieldValue = Word | list[Word] | bool
Fields = Annotated[dict[Annotated[str, Meta(max_length=100)], FieldValue], Meta(max_length=200)]


class JobOptionView(Struct, kw_only=True):
    """One option. `kind`: what a form shows for it; `list` for one that may be repeated.

    `name` is its name in a form, `wire` in a submit. `for_admins`: values that only an admin may set. `is_local`: it
    needs the machine of the user, so that only the command line has it.
    """

    name: str
    flag: str
    wire: str
    kind: Literal["switch", "choice", "choices", "number", "list", "text"]
    metavar: str
    help: str
    group: str
    choices: list[str]
    for_admins: list[str]
    can_edit: bool
    can_clear: bool
    can_default: bool
    is_secret: bool
    is_local: bool


class JobOptionList(Struct, kw_only=True):
    """`environment`: names of the variables that a job from a form gets. `home`: what `~` stands for."""

    options: list[JobOptionView]
    environment: list[str]
    home: str


class FormRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """`options`: by the names of flags, as typed after the flag. `shell` null: by a shell if the command needs one."""

    kind: Literal["job", "sweep", "batch"] = "job"
    command: Word = ""
    shell: bool | None = None
    options: Fields = {}
    group: Word | None = None
    parameters: Annotated[list[Word], Meta(max_length=100)] = []  # of a sweep: lr=1e-3,3e-4
    zip: bool = False
    where: Word | None = None
    sample: Word | None = None
    seed: Word | None = None
    batch: Word = ""  # lines, CSV, JSON lines or GPUPeasy's format
    format: Word | None = None  # of the batch; null: as it looks
    dry_run: bool = False
    token: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class ChangesRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """What changed in the form of a job. Empty text, an empty list or false resets an option."""

    command: Word | None = None
    shell: bool | None = None
    options: Fields = {}
    dry_run: bool = False


class FormMistake(Struct, kw_only=True):
    """`field`: the name of an option, or of another field of the form; null if it is about all of it."""

    field: str | None
    line: int | None
    column: int | None
    message: str
    hint: str | None


class FormJob(Struct, kw_only=True):
    """`command`: quoted for a shell, as it is split. `line`: of a batch."""

    command: str
    params: dict[str, str]
    line: int | None


class FormAnswer(Struct, kw_only=True):
    """`jobs`: the first of the `count` jobs. `mistakes` is empty unless it is a dry run; a submit is refused.

    `more_mistakes`: how many there are besides the first 100.
    """

    ids: list[int]
    hints: list[str]
    count: int
    jobs: list[FormJob]
    command_line: str
    mistakes: list[FormMistake]
    more_mistakes: int
    start: StartView | None


class JobForm(Struct, kw_only=True):
    """The form of a job: its options as one would type them.

    `unresettable`: the values of options that an edit cannot reset, which an undo needs.
    """

    command: str
    shell: bool
    options: dict[str, Any]
    unresettable: dict[str, str]
