"""The last line about a job: the GPU memory it took beside what it had reserved."""

from __future__ import annotations

from tarmac.cli.term.terminal import err
from tarmac.errors import TarmacError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client import Client
    from tarmac.client.records import Job


def tell_use(client: Client, ended: Job) -> None:
    """Nothing for a job whose memory was not seen, such as one without GPUs."""
    if not ended.peak_gpu_memory_bytes:
        return
    from tarmac.cli.render.job import used

    try:
        err(f"tarmac: job {ended.id} used {used(client.job(ended.id))}\n")
    except TarmacError:
        pass  # it was removed meanwhile; its outcome is known
