"""Every environment variable that Tarmac reads, or sets for a job, is documented."""

import re
from pathlib import Path

from tests.home import Home

ROOT = Path(__file__).parents[2]
SOURCE = sorted((ROOT / "src").rglob("*.py"))
DOCS = "\n".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md")))
OWN = re.compile(r"TARMAC_[A-Z][A-Z_]*[A-Z]")
READ = re.compile(r"env(?:iron|ironment)?(?:\.get\(|\[)\s*\"([A-Z][A-Z_]+)\"")
USUAL = {"PATH", "PWD", "TERM", "TZ"}  # with their usual meaning
OF_SHELLS = {"PWD", "OLDPWD", "SHLVL", "_"}


def is_documented(name: str) -> bool:
    return f"`{name}`" in DOCS or f"`{name}=" in DOCS


def test_variables_of_the_source_are_documented() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SOURCE]
    own = {name for text in texts for name in OWN.findall(text)}
    read = {name for text in texts for name in READ.findall(text)} - USUAL
    assert {"TARMAC_HOME", "TARMAC_MARK"} <= own
    assert {"TARMAC_CONTAINMENT", "NO_COLOR"} <= read
    assert not sorted(name for name in own | read if not is_documented(name))


def test_variables_of_a_job_are_documented(home: Home) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for options in (["-g", "1"], ["-g", "0"], ["-g", "0", "--array", "2"]):
        done = home.tarmac("add", *options, "--", "env", "-0")
        assert done.returncode == 0, done.stderr
        job = int(done.stdout.split("-")[0])
        assert home.tarmac("wait", str(job)).returncode == 0
        pairs = home.tarmac("log", "--raw", str(job)).stdout.split("\0")[:-1]
        given = {pair.partition("=")[0] for pair in pairs if pair.partition("=")[0] not in home.environment}
        assert "TARMAC_MARK" in given
        assert not sorted(name for name in given - OF_SHELLS if f"`{name}`" not in page)
