"""Sweeps and their groups as a user handles them."""

from __future__ import annotations

from pathlib import Path

from tests.home import Home


def test_a_sweep_from_its_submit_to_its_removal(home: Home, tmp_path: Path) -> None:
    odd = 'it\'s "x"\n{}'
    template = "python3 -c 'import sys; print(repr(sys.argv[1:]))' --x {x}"
    options = ["--group", "first", "--name", "n", "--log", f"{tmp_path}/{{name}}-{{id}}.log"]
    ids = home.tarmac("sweep", "-g", "0", template, f"x=a b,{odd},", *options).stdout.strip()
    assert home.tarmac("wait", "--group", "first").returncode == 0
    first, last = map(int, ids.split("-"))
    written = [(tmp_path / f"n-{number}.log").read_text() for number in range(first, last + 1)]
    assert written == [f"{['--x', 'a b']!r}\n", f"{['--x', odd]!r}\n", "[]\n"]
    listed = home.tarmac("ls").stdout
    assert "██████████   3/3" in listed
    assert f"{first}  succeeded" not in listed
    assert "x='a b'" in home.tarmac("ls", "--group", "first").stdout
    assert f"{first}  succeeded" in home.tarmac("ls", "--expand").stdout
    assert "3/3" in home.tarmac("ls", "--groups").stdout
    assert home.tarmac("rm", "--group", "last").returncode == 0
    assert home.tarmac("ls", "--group", "first").returncode == 3


def test_a_dry_run_of_a_sweep_refuses_what_a_submit_refuses(shared_home: Home) -> None:
    before = len([*shared_home.client().jobs()])
    for wrong in (["-g", "{x}"], ["--cwd", "/no/such/directory"], ["--after", "999999"]):
        line = ["sweep", "echo {x}", "x=1,9", *wrong]
        refused, tried = shared_home.tarmac(*line), shared_home.tarmac(*line, "--dry-run")
        assert (tried.returncode, tried.stderr) == (refused.returncode, refused.stderr)
        assert tried.returncode in {2, 3}
        assert tried.stdout == ""
    assert shared_home.tarmac("sweep", "echo {x}", "x=1,2", "--dry-run").stdout == "echo 1\necho 2\n"
    assert len([*shared_home.client().jobs()]) == before
