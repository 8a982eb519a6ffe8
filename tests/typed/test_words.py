"""Commands in files are split as a shell splits them."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.typed.words import NotWords, split_words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("python train.py --lr 0.1", ["python", "train.py", "--lr", "0.1"]),
        ("  a\tb  ", ["a", "b"]),
        ("a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]),
        ("a ''", ["a", ""]),
        ("a x'y'\"z\"", ["a", "xyz"]),
        ('a "say \\"hi\\" for \\$5"', ["a", 'say "hi" for $5']),
        ("a '$HOME | x'", ["a", "$HOME | x"]),
        ("a # a comment", ["a"]),
        ("\n a 'b\nc'\n", ["a", "b\nc"]),
        ("a b#c", ["a", "b#c"]),
        ("a \\\n  --lr 1 \\\n b\\\nc", ["a", "--lr", "1", "bc"]),
        ("a \"b\\\nc\" 'd\\\ne'", ["a", "bc", "d\\\ne"]),
        ("a \\\n", ["a"]),
        ("a costs$ 5", ["a", "costs$", "5"]),
        ("a x~ a=[1,2] '*.jpg' \\?", ["a", "x~", "a=[1,2]", "*.jpg", "?"]),
        ("训练 '数据 集' a\u3000b", ["训练", "数据 集", "a\u3000b"]),
    ],
)
def test_words(line: str, words: list[str]) -> None:
    assert split_words(line) == words


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("a 'b", 2, "the quote ' is not closed"),
        ('a x"b', 3, 'the quote " is not closed'),
        ("a b\\", 3, "ends with a backslash"),
        ("a > out.log", 2, "> needs a shell"),
        ("a && b", 2, "& needs a shell"),
        ("a | b", 2, "| needs a shell"),
        ("cd x; a", 4, "; needs a shell"),
        ("a $HOME/x", 2, "$ needs a shell"),
        ('a "${X}"', 3, "$ needs a shell"),
        ("a `date`", 2, "` needs a shell"),
        ("a ~/data", 2, "~ needs a shell"),
        ("a *.ckpt", 2, "* needs a shell"),
        ("a x?", 3, "? needs a shell"),
        ("a\nb", 2, "the command has a second line"),
    ],
)
def test_what_needs_a_shell_is_refused_where_it_stands(line: str, column: int, message: str) -> None:
    with pytest.raises(NotWords) as refused:
        split_words(line)
    assert message in str(refused.value)
    assert refused.value.column == column


@given(st.lists(st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0")), min_size=1))
def test_what_a_shell_quotes_is_split_into_the_same_words(words: list[str]) -> None:
    assert split_words(shlex.join(words)) == words
