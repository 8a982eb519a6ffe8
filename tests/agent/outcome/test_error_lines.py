"""The line that says why a program failed, and the memory that ran out."""

from time import process_time

import pytest

from tarmac.agent.outcome.error_lines import SHOWN_CHARS, find_failure, split
from tarmac.agent.outcome.memory_patterns import ROWS
from tests.agent.outcome.samples import KEY_ERROR, LOOK_ALIKES, OUT_OF_MEMORY, PYTHON, STEPS, Sample


@pytest.mark.parametrize("sample", OUT_OF_MEMORY, ids=lambda sample: f"{sample.source}: {sample.line[:60]}")
@pytest.mark.parametrize("before", ["", STEPS, KEY_ERROR + STEPS], ids=["alone", "after steps", "after another error"])
def test_it_recognizes_what_frameworks_print_when_memory_runs_out(sample: Sample, before: str) -> None:
    failure = find_failure(split(before + sample.log))
    assert failure.memory == sample.memory
    assert failure.error_line is not None
    assert sample.line.strip().startswith(failure.error_line.rstrip("…")[:100])


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_it_is_not_deceived_by_look_alikes(name: str) -> None:
    assert find_failure(split(LOOK_ALIKES[name])).memory is None


def test_every_row_of_the_table_has_a_sample() -> None:
    missing = [row.pattern.pattern for row in ROWS if not any(_matches(row.pattern, one) for one in OUT_OF_MEMORY)]
    assert missing == []
    assert {row.source for row in ROWS} >= {"PyTorch", "JAX/XLA", "TensorFlow", "CuPy", "NCCL", "vLLM"}


def _matches(pattern: object, sample: Sample) -> bool:
    return any(pattern.search(line.removeprefix("[rank1]: ")) for line in sample.log.split("\n"))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (KEY_ERROR, "KeyError: 'lr'"),
        (KEY_ERROR + STEPS, "KeyError: 'lr'"),
        ("\x1b[31m" + PYTHON + "\x1b[1;31mKeyError\x1b[0m: 'lr'\n", "KeyError: 'lr'"),
        (PYTHON + "AssertionError\n", "AssertionError"),
        (PYTHON + "Key: 1\n\nDuring handling of the above exception, another exception occurred:\n\n" + KEY_ERROR,
         "KeyError: 'lr'"),
        (KEY_ERROR + PYTHON + "subprocess.CalledProcessError: Command 'x' returned non-zero exit status 1.\n",
         "KeyError: 'lr'"),
        (KEY_ERROR.replace("KeyError: 'lr'", "my.pkg.Stop: two\nlines"), "my.pkg.Stop: two"),
        ("step 1\nerror: --lr is required\nerror: second\n", "error: --lr is required"),
        ("train.py: error: unrecognized arguments: --lrr\n", "train.py: error: unrecognized arguments: --lrr"),
        ("run.sh: line 3: 4034 Segmentation fault      (core dumped) ./sim\n",
         "run.sh: line 3: 4034 Segmentation fault      (core dumped) ./sim"),
        ("bash: line 1: pyhton: command not found\n", "bash: line 1: pyhton: command not found"),
        ("thread 'main' panicked at src/main.rs:3:5:\nboom\n", "thread 'main' panicked at src/main.rs:3:5:"),
        ("2026-11-17 11:02:13,118 - trainer - ERROR - no data in /data\n", "no data in /data"),
        ("10%|#   | 1/10\r20%|##  | 2/10\rerror: disk gone\n", "error: disk gone"),
        ("all is well\n0 errors\n", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_error_line(log: str, line: str | None) -> None:
    assert find_failure(split(log)).error_line == line


def test_a_long_line_is_cut_and_control_characters_are_removed() -> None:
    line = find_failure(split(PYTHON + "ValueError: \x07\x1b]0;title\x07" + "x" * 5000 + "\n")).error_line
    assert line is not None
    assert len(line) == SHOWN_CHARS
    assert line.isprintable()


def test_it_takes_linear_time() -> None:
    """A hostile log: 128 KiB without a newline, and as many tiny lines."""
    begin = process_time()
    for hostile in (
        "a" * 131072,
        "memory " * 18000,
        "Error\n" * 20000,
        " : ERROR" * 16000,
        "CUDA error" * 13000,
        "[" * 131072,
    ):
        find_failure(split(hostile))
    assert process_time() - begin < 10, "quadratic time would be minutes"


SYNTAX = '  File "/x/train.py", line 2\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'


@pytest.mark.parametrize(
    ("log", "begins"),
    [
        ("a\nb\n" + SYNTAX, 2),
        ("a\n" + SYNTAX.replace("SyntaxError", "IndentationError"), 1),
        (SYNTAX.replace("          ^\n", ""), 0),
        ("a\n" + "".join(f"[rank0]: {line}\n" for line in SYNTAX.splitlines()), 1),
        ("a\nSyntaxError: of another language\n", 1),
        ('  File "x", line 1\na\nSyntaxError: far from it\n', 2),
        ("a\n" + KEY_ERROR, 1),
    ],
)
def test_where_to_begin_reading(log: str, begins: int) -> None:
    assert find_failure(split(log)).begins == begins
