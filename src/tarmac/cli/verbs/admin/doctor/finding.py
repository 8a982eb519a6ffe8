"""What one check of `tarmac doctor` found."""

from __future__ import annotations


class Finding:
    """`verdict` is ok, warning or bad; `advice` says what to do."""

    __slots__ = ("advice", "name", "text", "verdict")

    def __init__(self, verdict: str, name: str, text: str, advice: str | None = None) -> None:
        self.verdict = verdict
        self.name = name
        self.text = text
        self.advice = advice

    def as_json(self) -> dict[str, str | None]:
        return {"check": self.name, "verdict": self.verdict, "text": self.text, "advice": self.advice}
