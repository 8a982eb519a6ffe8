from tarmac.controller.gpus.usage import Integral, JobBook
from tarmac.controller.gpus.usage_kept import books_in, text_of
from tarmac.core.model.ids import JobId


def test_what_running_jobs_took_is_read_as_it_was_kept_and_that_of_ended_ones_is_left_out() -> None:
    work = Integral(seconds=7.0, utilization=300.0, energy_j=9.5, known_s=6.0, has_power=True)
    books = {JobId(1): JobBook(peak_bytes=5, work=work), JobId(2): JobBook()}
    assert books_in(text_of(books), {JobId(1), JobId(3)}) == {JobId(1): books[JobId(1)]}


def test_of_no_jobs_nothing_is_kept() -> None:
    assert text_of({}) is None
    assert books_in(None, {JobId(1)}) == {}
