"""The metric that results are sorted by."""

from __future__ import annotations

from tarmac.errors import UserError
from tarmac.typed.suggest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client.answers import Results


def sorting_metric(answer: Results, wanted: str | None) -> str | None:
    if wanted is None:
        return answer["metrics"][0] if answer["metrics"] else None
    if wanted not in answer["metrics"]:
        meant = nearest(wanted, answer["metrics"])
        hint = f"did you mean {meant}?" if meant else f"the metrics are {', '.join(answer['metrics']) or 'none'}"
        raise UserError(f"results: no metric is named {wanted}", hint)
    return wanted
