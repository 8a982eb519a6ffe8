from pathlib import Path

from tests.docs.console import examples, keeps_promise

PAGE = """
```console
$ tarmac add \\
> -- true
1
$ tarmac ls
ID  STATE
…
```
```sh
$ rm -rf /
```
"""


def test_commands_and_their_promised_output_are_found(tmp_path: Path):
    (tmp_path / "page.md").write_text(PAGE)
    found = examples(tmp_path / "page.md")
    assert [(e.command, e.promised) for e in found] == [
        ("tarmac add \\\n-- true", ["1"]),
        ("tarmac ls", ["ID  STATE", "…"]),
    ]


def test_output_must_be_as_promised_but_for_the_ellipses():
    assert keeps_promise(["job … ended", "…", "end"], "job 7 ended\na\nb\nend\n")
    assert keeps_promise(["a  b"], "a b")
    assert keeps_promise([], "anything")
    assert not keeps_promise(["job … ended"], "job 7 failed")
    assert not keeps_promise(["one"], "one\ntwo")
    assert not keeps_promise(["one", "two"], "one")
