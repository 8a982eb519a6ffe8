"""The command line of `tarmac simulate`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tarmac.cli.main import run_line
from tarmac.cli.verbs.admin.simulate.nodes import machines
from tarmac.cli.verbs.admin.simulate.past import History, history, machines_here
from tarmac.cli.verbs.admin.simulate.table import tables
from tarmac.cli.verbs.admin.simulate.trace_file import trace_of
from tarmac.client.records import Gpu, Job
from tarmac.errors import UserError
from tarmac.shared.clocks import epoch
from tarmac.sim.comparison import ALL_POLICIES, Variant, compare
from tarmac.sim.limits import Limits
from tarmac.sim.machines import Machine, SimulatedGpu
from tarmac.sim.past import PastRun
from tarmac.sim.synthetic import made_up
from tests.sim.scene import a_row

HEADER = "submit_s,owner,gpus,duration_s,limit_s\n"
ROWS = HEADER + "0,ann,1,100,100\n0,ann,2,50,50\n10,bob,1,50,50\n20,bob,1,500,60\n"


def asked(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_line(["simulate", *words])
    return code, *capfd.readouterr()


def traced(folder: Path, text: str) -> str:
    path = folder / "jobs.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_comparison_of_policies_fits_80_columns(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    code, printed, _ = asked(capfd, "--trace", traced(tmp_path, ROWS), "--nodes", "1x2", "--no-backfill")
    lines = [line.split() for line in printed.splitlines()]
    assert code == 0
    assert printed.startswith("4 jobs of 2 owners on 1 node with 2 GPUs\n")
    assert ["fifo", "yes", "73.8%", "11.9%", "27.8%", "0.936", "3.5m", "1"] in lines
    assert ["all", "jobs", "4", "fifo", "yes", "58s", "0.62×", "50s", "2.2m", "2.2m", "2.04"] in lines
    assert ["4", "fifo", "no", "1.5m", "1.00×", "1.9m", "2.3m", "2.3m", "2.74"] in lines
    assert {"balance", "fairshare"} <= {word for line in lines for word in line}
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("backfill", [(True,), (True, False)], ids=["with backfill", "with and without"])
@pytest.mark.parametrize("limits", [("none",), ("as-given", "none")], ids=["one kind of limits", "two"])
def test_figures_are_whole_on_any_terminal(width: int, backfill: tuple[bool, ...], limits: tuple[Limits, ...]):
    variants = [
        Variant(policy=policy, is_backfilling=is_backfilling, limits=kind)
        for policy in ALL_POLICIES
        for is_backfilling in backfill
        for kind in limits
    ]
    trace = [*made_up(60, machines("1x8", cpus=0, memory_bytes=0), seed=1), a_row(0, "an-owner-with-a-long-name", 1, 9)]
    printed = tables(compare(trace, machines("1x8", cpus=0, memory_bytes=0), variants), width)
    assert max(map(len, printed)) <= width
    titles = [line.split("  ") for line in printed if line.startswith(("POLICY", "WAITED"))]
    shown = {title.strip() for line in titles for title in line}
    assert {"POLICY", "IN USE", "IDLE", "SHORT", "WAITED", "MEAN", "VS FIFO"} <= shown
    assert ("BACKFILL" in shown, "LIMITS" in shown, "ORDER" in shown) == (len(backfill) > 1, True, False)
    assert not any("…" in word for line in printed for word in line.split()[-5:]), "only names are cut"
    if width == 200:
        assert {"FAIRNESS", "MAKESPAN", "JOBS", "MEDIAN", "P95", "P99", "SLOWDOWN"} <= shown


def test_the_same_arguments_give_the_same_bytes(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    answers, pictures = [], []
    for name in ("a.svg", "b.svg"):
        words = ("--trace", "synthetic:60", "--nodes", "2x4", "--seed", "5", "--svg", str(tmp_path / name))
        answers.append(asked(capfd, *words))
        pictures.append((tmp_path / name).read_bytes())
    assert answers[0] == answers[1]
    assert pictures[0] == pictures[1]
    assert asked(capfd, "--trace", "synthetic:60", "--nodes", "2x4", "--seed", "6") != answers[0]


def test_the_output_does_not_depend_on_set_order():
    command = [sys.executable, "-m", "tarmac", "simulate", "--trace", "synthetic:300", "--nodes", "4x8", "--json"]
    answers = [
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2")
    ]
    assert answers[0] == answers[1]


def test_other_verbs_do_not_import_the_simulator():
    code = "import sys; import tarmac.cli.main as m; [m.verb_named(name) for name in m.VERBS]; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert "tarmac.cli.verbs.admin.simulate" in loaded
    assert not [name for name in loaded if name.startswith(("tarmac.sim", "tarmac.core", "csv"))]


def test_json_has_every_figure(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    words = ("--trace", traced(tmp_path, ROWS), "--nodes", "1x2", "--policy", "fifo,balance", "--json")
    _, printed, _ = asked(capfd, *words)
    data = json.loads(printed)
    assert [one["policy"] for one in data] == ["fifo", "balance"]
    assert data[0]["wait"]["mean_s"] == 57.5


def test_several_kinds_of_limits_are_compared(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    words = ("--trace", traced(tmp_path, ROWS), "--nodes", "1x2", "--policy", "fifo", "--limits", "none,as-given,none")
    _, printed, _ = asked(capfd, *words)
    assert [line.split()[:2] for line in printed.splitlines()[2:5]] == [
        ["POLICY", "LIMITS"],
        ["fifo", "none"],
        ["fifo", "as-given"],
    ]
    data = json.loads(asked(capfd, *words, "--json")[1])
    assert [(one["limits"], one["timeouts"]) for one in data] == [("none", 0), ("as-given", 1)]


def test_orders_are_compared(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    text = HEADER + "0,ann,1,100,100\n0,ann,1,1000,1000\n0,ann,1,10,10\n"
    words = ("--trace", traced(tmp_path, text), "--nodes", "1x1", "--policy", "balance", "--order")
    data = json.loads(asked(capfd, *words, "submitted,expected", "--json")[1])
    assert [(one["order"], one["wait"]["mean_s"]) for one in data] == [("submitted", 400), ("expected", 40)]
    assert [one["wait"]["vs_plain_fifo"] for one in data] == [1, 0.1]
    _, printed, _ = asked(capfd, *words, "expected")
    assert [line.split()[:2] for line in printed.splitlines()[2:4]] == [["POLICY", "ORDER"], ["balance", "expected"]]


def test_columns_may_be_in_any_order_and_optional(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    header = "tier,duration_s,gpu_memory,gpus,owner,submit_s,gpu_model\n"
    text = header + "preemptible,100,8G,1,ann,0,a100|h100\n,100,,1,bob,0,\n"
    _, printed, _ = asked(capfd, "--trace", traced(tmp_path, text), "--nodes", "1x1:80G:H100", "--json")
    assert json.loads(printed)[0]["wait"]["jobs"] == 2
    _, printed, _ = asked(capfd, "--trace", traced(tmp_path, text), "--nodes", "1x1:80G:L4", "--json")
    assert json.loads(printed)[0]["refused"] == 1


def test_a_limit_may_be_a_multiple_of_the_duration():
    rows = ("submit_s,owner,gpus,duration_s,factor,share", "0,ann,1,100,1.5,", "0,ann,1,100,0.5,0.25", "0,ann,1,0,2,")
    assert trace_of([*rows, "0,ann,1,9,,"], "stdin") == [
        a_row(0, "ann", 1, 100, 150),
        a_row(0, "ann", 1, 100, 50, gpu_share=0.25),
        a_row(0, "ann", 1, 0, 1),
        a_row(0, "ann", 1, 9),
    ]


def test_a_trace_is_read_from_stdin(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", ROWS.splitlines(keepends=True))
    assert asked(capfd, "--trace", "-", "--nodes", "1x2")[1].startswith("4 jobs")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: missing column submit_s, owner, gpus, duration_s"),
        (HEADER, "contains no jobs"),
        ("submit_s,owner,gpus\n", "line 1: missing column duration_s"),
        ("submit_s,owner,gpus,duration_s,when\n", "line 1: unknown column when"),
        ("submit_s,owner,gpus,duration_s,gpus\n", "line 1: column gpus occurs twice"),
        (HEADER + "0,ann,1,100,\n0,ann,one,100,\n", "line 3: gpus one: it must be a whole number"),
        (HEADER + "0,ann,-1,100,\n", "line 2: gpus -1: it must be 0 or more"),
        (HEADER + "0,ann,1,nan,\n", "line 2: duration_s nan: it must be a duration"),
        (
            HEADER + "0,ann,1,100,\n0,ann,1,100,0\n",
            "line 3: limit_s 0: it must be more than 0; leave it empty",
        ),
        (HEADER + "0,,1,100,\n", "line 2: owner is empty"),
        (HEADER + "0,ann,1,100\n", "line 2: has 4 values for 5 columns"),
        (HEADER + '0,"ann,1,100,\n', "line 2: unexpected end of data"),
        (
            "submit_s,owner,gpus,duration_s,tier\n0,ann,1,9,vip\n",
            "tier vip: it must be one of urgent, normal",
        ),
        ("submit_s,owner,gpus,duration_s,factor\n0,ann,1,9,0\n", "line 2: factor 0: it must be a number above 0"),
        ("submit_s,owner,gpus,duration_s,factor\n0,ann,1,9,-1\n", "line 2: factor -1: it must be a number above 0"),
        ("submit_s,owner,gpus,duration_s,factor,limit_s\n0,ann,1,9,2,8\n", "line 2: limit_s and factor exclude"),
        (
            "submit_s,owner,gpus,duration_s,share,gpu_share\n0,ann,1,9,,\n",
            "line 1: columns share and gpu_share are the same",
        ),
        ("submit_s,owner,gpus,duration_s,share,gpu_memory\n0,ann,1,9,0.5,8G\n", "line 2: gpu_memory and share exclude"),
        ("submit_s,owner,gpus,duration_s,share\n0,ann,1,9,1.5\n", "line 2: share 1.5: it must be a part of one GPU"),
        ("submit_s,owner,gpus,duration_s,gpu_memory,gpu_share\n0,ann,1,9,8G,0.5\n", "line 2: gpu_memory and gpu_share"),
    ],
)
def test_a_bad_trace_is_refused_as_a_whole(capfd: pytest.CaptureFixture[str], tmp_path: Path, text: str, told: str):
    picture = tmp_path / "p.svg"
    code, printed, complaint = asked(capfd, "--trace", traced(tmp_path, text), "--nodes", "1x2", "--svg", str(picture))
    assert (code, printed, picture.exists()) == (2, "", False)
    assert told in complaint


def test_a_trace_that_is_not_text_is_refused(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    (tmp_path / "jobs.csv").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8" in asked(capfd, "--trace", str(tmp_path / "jobs.csv"), "--nodes", "1x2")[2]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--nodes 1x2", "no jobs given"),
        ("--trace synthetic:9 --from-history --nodes 1x2", "no jobs given"),
        ("--trace synthetic:9", "no machines given"),
        ("--trace synthetic:9 --nodes 4", "--nodes 4: it must be such as 4x8"),
        ("--trace synthetic:9 --nodes 0x8", "--nodes 0x8: it must be such as 4x8"),
        ("--trace synthetic:9 --nodes 1x8:80", "--nodes 1x8:80: it must be such as 4x8"),
        ("--trace synthetic:9 --nodes 9999999x8", "more than 1,000,000 GPUs"),
        ("--trace synthetic:0 --nodes 1x2", "from 1 to 1,000,000 jobs"),
        ("--trace synthetic:many --nodes 1x2", "from 1 to 1,000,000 jobs"),
        ("--trace synthetic:9 --nodes 1x2 --policy fifo,lottery", "it must be one or more of fifo, balance, fairshare"),
        ("--trace synthetic:9 --nodes 1x2 --limits x3", "it must be one or more of as-given, none, x2"),
        ("--trace synthetic:9 --nodes 1x2 --order longest", "it must be one or more of submitted, expected"),
        ("--trace synthetic:9 --nodes 1x2 --limits", "--limits"),
        (f"--trace {os.devnull} --nodes 1x2 --seed 1", "--seed applies only to generated traces"),
        ("--trace synthetic:9 --nodes 1x2 --last 7d", "--last applies only to --from-history"),
        ("--from-history --last 7", "which unit?"),
        ("--from-history --seed 1", "--seed applies only to generated traces"),
    ],
)
def test_bad_arguments_are_refused(capfd: pytest.CaptureFixture[str], line: str, told: str):
    code, printed, complaint = asked(capfd, *line.split())
    assert (code, printed) == (2, "")
    assert told in complaint


def test_machines_are_parsed():
    big, small = SimulatedGpu(memory_bytes=80 << 30, model="H100"), SimulatedGpu(memory_bytes=24 << 30)
    found = machines("1x2:80G:H100, 2x1:24G", cpus=4, memory_bytes=1 << 40)
    host = {"cpus": 4, "memory_bytes": 1 << 40}
    assert found == [Machine(gpus=(big, big), **host), *[Machine(gpus=(small,), **host)] * 2]


class Remembering:
    """A client of a controller with these ended jobs and GPUs."""

    def __init__(self, *jobs: dict[str, Any]) -> None:
        self.ended = jobs

    def jobs(self, *, state: str, fields: tuple[str, ...]) -> Iterator[Job]:
        assert state == "ended"
        return (Job({name: job.get(name) for name in fields}) for job in self.ended)

    def gpus(self) -> list[Gpu]:
        gpus = (("a", 80 << 30, "H100"), ("a", 80 << 30, "H100"), ("b", None, None))
        return [Gpu({"node": node, "memory_total_bytes": size, "model": model}) for node, size, model in gpus]


RAN = {
    "id": 7,
    "owner": "ann",
    "state": "succeeded",
    "command": ["python", "train.py"],
    "gpus_asked": 2,
    "priority": 5,
    "after": [],
    "submitted_at": "2026-11-15T10:00:00Z",
    "started_at": "2026-11-15T10:01:00Z",
    "ended_at": "2026-11-15T10:03:00.5Z",
}
TRAIN = {"priority": 5, "command": ("python", "train.py")}


def remembered(*jobs: dict[str, Any], last_s: float | None = None) -> History:
    return history(Remembering(*jobs), last_s)  # type: ignore[arg-type]


def test_history_becomes_a_trace_of_started_jobs():
    later = {**RAN, "submitted_at": "2026-11-15T10:00:30Z", "time_limit_s": 3600, "tier": "urgent", "gpu_share": 0.5}
    named = {**RAN, "name": "train"}
    never = {**RAN, "started_at": None}
    assert remembered(RAN, later, named, never) == (
        [
            a_row(0, "ann", 2, 120.5, **TRAIN),
            a_row(30, "ann", 2, 120.5, 3600, **TRAIN, tier="urgent", gpu_share=0.5),
            a_row(0, "ann", 2, 120.5, **TRAIN, name="train"),
        ],
        [],
    )
    with pytest.raises(UserError, match="no job has ended yet"):
        remembered(never)


@pytest.mark.parametrize(
    ("state", "reason", "ending"),
    [
        ("failed", "exit", "failed"),
        ("failed", "signal", "failed"),
        ("cancelled", None, "cancelled"),
        ("unknown", "lost", "cancelled"),
    ],
)
def test_a_job_that_did_not_succeed_ends_as_it_did(state: str, reason: str | None, ending: str):
    (job,), _ = remembered({**RAN, "state": state, "reason": reason})
    assert job == a_row(0, "ann", 2, 120.5, **TRAIN, ending=ending)


@pytest.mark.parametrize("limit_s", [120, 120.5, 121], ids=["ran longer", "ran as long", "seems to have run shorter"])
def test_a_job_that_reached_its_limit_reaches_it_again(limit_s: float):
    (job,), _ = remembered({**RAN, "state": "failed", "reason": "timeout", "time_limit_s": limit_s})
    assert (job.limit_s, job.run_s, job.is_cut_short) == (limit_s, limit_s, True)


def test_a_job_that_ended_by_itself_does_not_reach_its_limit():
    (job,), _ = remembered({**RAN, "time_limit_s": 120})
    assert (job.run_s, job.is_cut_short) == (120.5, False)


def test_a_job_is_submitted_once_nothing_but_its_turn_keeps_it_back():
    begun = {**RAN, "id": 8, "begin_at": "2026-11-15T10:00:45Z"}
    dependent = {**RAN, "id": 9, "after": ["7:ok", "5:any"], "started_at": "2026-11-15T10:05:00Z"}
    dependent["ended_at"] = "2026-11-15T10:06:00Z"
    trace, _ = remembered(RAN, begun, dependent)
    assert [job.submit_s for job in trace] == [0, 45, 180.5]


def test_earlier_jobs_are_not_simulated_but_known(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tarmac.cli.verbs.admin.simulate.past.time", lambda: epoch("2026-11-15T11:00:00Z"))
    later = {**RAN, "submitted_at": "2026-11-15T10:30:00Z", "started_at": "2026-11-15T10:31:00Z"}
    later["ended_at"] = "2026-11-15T10:32:00Z"
    trace, past = remembered(RAN, later, last_s=3599)
    assert trace == [a_row(1800, "ann", 2, 60, **TRAIN)]
    assert past == [PastRun(job=a_row(0, "ann", 2, 120.5, **TRAIN), starts_at=60, ends_at=180.5)]
    assert remembered(RAN, later, last_s=7200) == remembered(RAN, later)
    with pytest.raises(UserError, match="no job that has ended was submitted in the last 5 min"):
        remembered(RAN, later, last_s=300)


def test_history_is_simulated_on_the_local_gpus():
    big = SimulatedGpu(memory_bytes=80 << 30, model="H100")
    found = machines_here(Remembering(), cpus=0, memory_bytes=0)  # type: ignore[arg-type]
    assert found == [Machine(gpus=(big, big)), Machine(gpus=(SimulatedGpu(),))]


def test_a_chart_overwrites_only_an_svg(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    trace = traced(tmp_path, ROWS)
    code, printed, said = asked(capfd, "--trace", trace, "--nodes", "1x2", "--svg", trace)
    assert (code, printed) == (2, "")
    assert "the file exists and is not an SVG" in said
    assert Path(trace).read_text(encoding="utf-8") == ROWS
    drawn = tmp_path / "a.svg"
    for _ in range(2):
        assert asked(capfd, "--trace", trace, "--nodes", "1x2", "--svg", str(drawn))[0] == 0
    assert drawn.read_text(encoding="utf-8").startswith("<svg")


def test_it_is_said_if_a_chart_does_not_show_everything(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    words = ("--trace", traced(tmp_path, ROWS), "--nodes", "1x2", "--svg", str(tmp_path / "a.svg"), "--no-backfill")
    assert "the chart shows" not in asked(capfd, *words)[2]
    assert "the chart shows the first 6 of 12 rows" in asked(capfd, *words, "--limits", "none,x2")[2]


def test_a_chart_is_not_written_among_the_files_of_tarmac(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TARMAC_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "new.svg"
    code, _, said = asked(capfd, "--trace", traced(tmp_path, ROWS), "--nodes", "1x2", "--svg", str(path))
    assert code == 2
    assert "reserved for Tarmac" in said
    assert not path.exists()


def test_an_unwritable_chart_is_refused_before_the_simulation(capfd: pytest.CaptureFixture[str], tmp_path: Path):
    for path in (tmp_path / "none" / "a.svg", tmp_path, Path("")):
        code, printed, said = asked(capfd, "--trace", traced(tmp_path, ROWS), "--nodes", "1x2", "--svg", str(path))
        assert (code, printed) == (2, ""), said
