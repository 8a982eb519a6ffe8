"""Results of jobs as a table: which columns it has, in which order its rows are, and the same as CSV."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from tarmac.shared.tables.cells import csv_text

SMALLER_IS_BETTER = (
    "loss", "error", "err", "ppl", "perplexity", "rmse", "mse", "mae", "nll", "wer", "cer", "fid", "time", "latency",
    "memory", "bpc", "bpb",
)  # fmt: skip
Result = Mapping[str, Any]


def is_smaller_better(metric: str) -> bool:
    """By its name: a loss and an error, unlike an accuracy."""
    words = metric.lower().replace("/", "_").replace(".", "_").replace("-", "_").replace(" ", "_").split("_")
    return any(word in SMALLER_IS_BETTER or word.endswith(("loss", "error")) for word in words)


def best_first(jobs: Sequence[Result], metric: Optional[str], *, smaller_first: bool) -> List[Any]:
    """By the metric. Texts follow the numbers, and jobs without a value come last."""
    if metric is None:
        return list(jobs)

    def rank(job: Result) -> Tuple[int, float, str, int]:
        value = job["metrics"].get(metric)
        if isinstance(value, (int, float)):
            return 0, value if smaller_first else -value, "", job["id"]
        return (2, 0.0, "", job["id"]) if value is None else (1, 0.0, value, job["id"])

    return sorted(jobs, key=rank)


def columns_of(metrics: Sequence[str], jobs: Sequence[Result]) -> Dict[str, List[str]]:
    """Titles and texts: the job, what it was made of, and its metrics. What is the same for all jobs is left out."""
    found: Dict[str, List[str]] = {"id": [str(job["id"]) for job in jobs], "state": [job["state"] for job in jobs]}
    if any(job["index"] is not None for job in jobs):
        found["index"] = ["" if job["index"] is None else str(job["index"]) for job in jobs]
    names = list(dict.fromkeys(name for job in jobs for name in job["params"]))
    for name in names:
        found[name] = [job["params"].get(name, "") for job in jobs]
    if not names and any(job["name"] for job in jobs):
        found["name"] = [job["name"] or "" for job in jobs]
    for metric in metrics:
        title = metric if metric not in found else f"metric {metric}"
        found[title] = [in_words(job["metrics"].get(metric)) for job in jobs]
    return found


def in_words(value: Union[float, str, None]) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.10g}"


def results_csv(metrics: Sequence[str], jobs: Sequence[Result]) -> str:
    found = columns_of(metrics, jobs)
    return csv_text([list(found), *zip(*found.values())])
