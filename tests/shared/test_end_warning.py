import pytest

from tarmac.shared.end_warning import EndWarning, is_warning, parse_warning


@pytest.mark.parametrize(
    ("text", "signal", "before_s", "main_only"),
    [
        ("USR1@120", 10, 120.0, False),
        ("SIGUSR1@120", 10, 120.0, False),
        ("usr2@2m", 12, 120.0, False),
        ("10@0.5", 10, 0.5, False),
        ("B:USR1@90s", 10, 90.0, True),
        ("b:INT@1:00:00", 2, 3600.0, True),
    ],
)
def test_warnings_are_read(text: str, signal: int, before_s: float, main_only: bool) -> None:
    assert is_warning(text)
    assert parse_warning(text) == EndWarning(signal, before_s, main_only)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("USR1", "SIGNAL@TIME"),
        ("B:USR1", "SIGNAL@TIME"),
        ("R:USR1@60", "SIGNAL@TIME"),
        ("@60", "a signal"),
        ("NONE@60", "a signal"),
        ("99@60", "a signal"),
        ("0@60", "a signal"),
        ("KILL@60", "no process can catch"),
        ("STOP@60", "no process can catch"),
        ("9@60", "no process can catch"),
        ("USR1@", "a time"),
        ("USR1@soon", "a time"),
        ("USR1@0", "more than 0"),
        ("USR1@-5", "a time"),
        ("USR1@60@60", "a time"),
    ],
)
def test_a_malformed_warning_is_refused_with_the_mistake(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_warning(text)


@pytest.mark.parametrize("text", ["USR1", "SIGINT", "15"])
def test_plain_signals_are_not_warnings(text: str) -> None:
    assert not is_warning(text)
