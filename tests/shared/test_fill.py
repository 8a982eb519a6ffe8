import pytest

from tarmac.shared.fill import Trouble, fill, trouble, values_of

VALUES = {"gpus": "0,2", "gpu_count": "2", "job_id": "7", "port": "20001"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("--gpus={gpus}", "--gpus=0,2"),
        ("{gpu_count}x{job_id}:{port}", "2x7:20001"),
        ("{gpus}{gpus}", "0,20,2"),
        ("{{gpus}}", "{gpus}"),
        ("{{{gpus}}}", "{0,2}"),
        ("${{HOME}}/{job_id}", "${HOME}/7"),
        ("{{}}", "{}"),
        ("nothing", "nothing"),
        ("", ""),
    ],
)
def test_placeholders_are_filled_in(text: str, filled: str) -> None:
    assert trouble([text]) is None
    assert fill(text, VALUES) == filled


@pytest.mark.parametrize("text", ["{gpu}", "{}", "{ gpus }", "{GPUS}", "{gpus:d}", "{0}", "${HOME}", "a {{ b {x}"])
def test_unknown_placeholders_are_found(text: str) -> None:
    found = trouble(["{gpus}", text])
    assert found is not None
    assert found.text == text
    assert found.placeholder == text[text.rindex("{") :]


@pytest.mark.parametrize("text", ["{", "}", "{gpus", "gpus}", "{{}", "{gpus}}"])
def test_a_single_brace_is_found(text: str) -> None:
    assert trouble([text]) == Trouble(text, None)


def test_values_come_from_the_variables_of_the_job() -> None:
    assert values_of({"TARMAC_GPUS": "0,2", "TARMAC_JOB_ID": "7"}, 20001) == VALUES
    assert values_of({"TARMAC_GPUS": "", "TARMAC_JOB_ID": "7"}, 1)["gpu_count"] == "0"
