"""What each format makes of its lines, and where it places mistakes."""

import pytest

from tarmac.typed.batch.formats import read_batch
from tarmac.typed.batch.source import Format, Source, format_of


def cells(form: Format, *lines: str) -> list[dict[str, object]]:
    batch = read_batch(lines, form)
    assert not batch.mistakes
    return [{cell.name: cell.value for cell in entry.cells} for entry in batch.entries]


def mistakes(form: Format, *lines: str) -> list[tuple[int, int, str]]:
    return [tuple(mistake) for mistake in read_batch(lines, form).mistakes]  # type: ignore[misc]


def test_lines_are_commands_without_blank_lines_and_comments() -> None:
    assert cells("lines", "# first", "", "a b", "   ", "  # x", " c") == [{"command": "a b"}, {"command": "c"}]


def test_shell_lines_stay_as_they_are() -> None:
    assert cells("shell", "a | b > c", "# no") == [{"shell": "a | b > c"}]


def test_a_table_has_a_cell_for_each_named_column() -> None:
    assert cells("csv", "command,gpus,gpu-mem", "a b,2,8G", "c,,", "d") == [
        {"command": "a b", "gpus": "2", "gpu_mem": "8G"},
        {"command": "c"},
        {"command": "d"},
    ]


def test_quoted_cells_may_contain_separators_quotes_and_newlines() -> None:
    lines = ("name,shell", '"a, ""b""","echo 1', 'echo 2"', "c,d")
    assert cells("csv", *lines) == [{"name": 'a, "b"', "shell": "echo 1\necho 2"}, {"name": "c", "shell": "d"}]


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_the_separator_is_that_of_the_header(separator: str) -> None:
    assert cells("csv", f"command{separator}gpus", f"a{separator}2") == [{"command": "a", "gpus": "2"}]


def test_comments_and_blank_lines_of_a_table_are_skipped() -> None:
    assert cells("csv", "# made by hand", "", "command", "a", "", "# b") == [{"command": "a"}]


def test_a_cell_after_a_newline_in_quotes_is_placed_in_its_own_line() -> None:
    batch = read_batch(["shell,gpus", '"one', 'two",x'], "csv")
    assert [(cell.name, cell.line, cell.column) for cell in batch.entries[0].cells] == [("shell", 2, 1), ("gpus", 3, 6)]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("command,gpsu", "a,2"), (1, 9, "unknown column 'gpsu'; did you mean gpus?")),
        (("command,gpus,gpus",), (1, 14, "the column gpus is there twice")),
        (("command,shell",), (1, 1, "the header has both command and shell; leave out one of them")),
        (("command,gpus", 'a,"2'), (2, 3, 'the quote " is not closed')),
        (("command,gpus", 'a,"2"x'), (2, 6, 'text after the closing quote; write "" for a quote inside a cell')),
        (
            ("command,gpus", "a,2,3"),
            (2, 5, "the row has 3 cells, but the header has 2; quote a cell with commas"),
        ),
    ],
)
def test_mistakes_of_a_table(lines: tuple[str, ...], found: tuple[int, int, str]) -> None:
    assert mistakes("csv", *lines) == [found]


def test_a_column_that_may_be_repeated_is_repeated() -> None:
    [entry] = read_batch(["command,tag,tag", "a,x,y"], "csv").entries
    assert [cell.value for cell in entry.cells if cell.name == "tag"] == ["x", "y"]


def test_json_lines_take_names_of_options_and_of_the_api() -> None:
    batch = read_batch(['{"command": ["a", "b"], "time": "6h"}', '{"shell": "c", "time_limit_s": 60}'], "jsonl")
    assert [[(cell.name, cell.value, cell.is_wire) for cell in entry.cells] for entry in batch.entries] == [
        [("command", ["a", "b"], False), ("time", "6h", False)],
        [("shell", "c", False), ("time", 60, True)],
    ]


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ('{"command": "a", "gpsu": 2}', 26, "unknown key 'gpsu'; did you mean gpus?"),
        ('{"command": "a", "time": "6h", "time_limit_s": 1}', 48, "time is given twice"),
        ('{"command": "a" "gpus": 2}', 17, "it is not JSON: expecting ',' delimiter"),
        ("[1, 2]", 1, 'each line must be an object: {"command": …}'),
        ("[{", 3, "a JSON array is not JSON lines; write each object on its own line"),
    ],
)
def test_mistakes_of_json_lines(line: str, column: int, message: str) -> None:
    assert mistakes("jsonl", '{"command": "ok"}', line) == [(2, column, message)]


def test_gpupeasy() -> None:
    assert cells("gpupeasy", "big;;out/big.log;;python -u train.py ;; x") == [
        {"name": "big", "log": "out/big.log", "command": "python -u train.py ;; x"}
    ]
    assert mistakes("gpupeasy", "a;;b", ";;x;;c") == [
        (1, 5, "expected name;;outfile;;command, but found 2 of these 3"),
        (2, 1, "the name is empty"),
    ]


@pytest.mark.parametrize(
    ("name", "first", "form"),
    [
        ("jobs.csv", "a", "csv"),
        ("jobs.tsv", "command\tgpus", "csv"),
        ("jobs.JSONL", "a", "jsonl"),
        ("jobs.sh", "a", "shell"),
        ("jobs", "command,gpus", "csv"),
        ("jobs.txt", "--gpus;shell", "csv"),
        ("stdin", '{"command": "a"}', "jsonl"),
        ("stdin", "a;;b;;c", "gpupeasy"),
        ("stdin", "python a.py", "lines"),
        ("stdin", "command,line", "lines"),
        ("jobs.txt", "", "lines"),
    ],
)
def test_a_format_is_recognized(name: str, first: str, form: Format) -> None:
    assert format_of(Source(name, ["# comment", "", first])) == form
