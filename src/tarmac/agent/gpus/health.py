"""What is wrong with which card. Remembers every card that was ever seen: one that is gone or mute stays in the frame.

A trouble that the driver tells once (an Xid, errors counted) is kept until the card has been well for ten minutes.
All of it outlives the agent (see card_file): that somebody started it anew has mended no card.
"""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Collection, Dict, Iterable, List, Optional, Tuple

from tarmac.agent.gpus import xid
from tarmac.agent.gpus.gpu_history import CardFile
from tarmac.agent.gpus.heartbeat import DriverSpot

MUTE = "does not answer"
VANISHED = "vanished from the driver"

Card = Dict[str, Any]
_ONLY_FOR_US = ("fault", "repair", "ecc_errors")
_OF_THE_MOMENT = {"utilization": None, "temperature": None, "power_w": None}


class GpuHealth:
    def __init__(self, path: Optional[str] = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._well_s = float(os.environ.get("TARMAC_GPU_WELL_S", "600"))
        self._file = CardFile(path)
        learned = self._file.read()
        self._known: Dict[str, Card] = {uuid: _unread(card) for uuid, card in learned.cards.items()}
        self._ecc: Dict[str, int] = learned.ecc
        # Words, when. The ten minutes begin anew: nobody watched the card meanwhile.
        self._troubles: Dict[str, Tuple[str, float]] = {
            uuid: (words, clock()) for uuid, words in learned.troubles.items()
        }

    def note_xid(self, uuid: str, number: int) -> None:
        words = xid.words(number)
        if words is not None:
            self._troubles[uuid] = (words, self._clock())

    def uuid_of(self, make: str, index: Optional[int]) -> Optional[str]:
        """Of the card that had this number last."""
        for uuid, card in self._known.items():
            if card["make"] == make and card["index"] == index and card["health"] != VANISHED:
                return uuid
        return None

    def judge(self, frame: Dict[str, Any], mute: Collection[DriverSpot]) -> Tuple[List[Card], Optional[str]]:
        """All cards with their health, and why there are none or fewer than there should be."""
        for uuid in frame["divided"]:
            self._known.pop(uuid, None)
        listed, nameless = self._name(frame["gpus"])
        for uuid, card in listed.items():
            self._known[uuid] = self._judge_listed(uuid, card)
        for uuid, card in self._known.items():
            if uuid not in listed:
                self._known[uuid] = self._judge_missing(card, frame["absent"], mute)
        self._keep()
        cards = sorted(self._known.values(), key=lambda card: (card["index"], card["health"] or "", card["uuid"]))
        return cards, _error(frame["absent"], nameless, cards, mute)

    def forget(self, uuids: Iterable[str]) -> None:
        """Those of them that are gone."""
        for uuid in uuids:
            if uuid in self._known and self._known[uuid]["gone_since"] is not None:
                del self._known[uuid]
                self._ecc.pop(uuid, None)
                self._troubles.pop(uuid, None)
        self._keep()

    def pardon(self, uuids: Iterable[str]) -> List[str]:
        """A person says that these are well again. What the driver still tells of them counts more."""
        known = [uuid for uuid in uuids if uuid in self._known]
        pardoned = [uuid for uuid in known if (self._known[uuid]["parent"] or uuid) in self._troubles]
        for uuid in pardoned:
            self._troubles.pop(self._known[uuid]["parent"] or uuid, None)
        return pardoned

    def covered(self, uuids: Iterable[str], place: DriverSpot) -> List[str]:
        return [uuid for uuid in uuids if uuid in self._known and place.covers(self._known[uuid])]

    def _keep(self) -> None:
        self._file.write(self._known, self._ecc, {uuid: words for uuid, (words, _) in self._troubles.items()})

    def _name(self, cards: Iterable[Card]) -> Tuple[Dict[str, Card], List[str]]:
        """One that does not even tell its uuid is the one that had its number, unless that turned up elsewhere."""
        listed = {card["uuid"]: card for card in cards if card["uuid"] is not None}
        nameless = []
        for card in cards:
            if card["uuid"] is None:
                uuid = self.uuid_of(card["make"], card["index"])
                if uuid is None or uuid in listed:
                    nameless.append(f"GPU {card['index']} {card['fault']}")
                else:
                    listed[uuid] = {**card, "uuid": uuid}
        return listed, nameless

    def _judge_listed(self, uuid: str, card: Card) -> Card:
        told = {name: value for name, value in card.items() if name not in _ONLY_FOR_US}
        if card["fault"] is not None:
            last = _with_living_holders(self._known.get(uuid) or told)
            return {**last, **_OF_THE_MOMENT, "index": card["index"], "health": card["fault"], "gone_since": None}
        self._count_errors(card["parent"] or uuid, card["ecc_errors"])
        health = card["repair"] or self._trouble(card["parent"] or uuid)
        return {**told, "health": health, "gone_since": None}

    def _count_errors(self, uuid: str, count: Optional[int]) -> None:
        if count is None:
            self._ecc.setdefault(uuid, 0)  # should it tell of any later, they are new
            return
        before = self._ecc.get(uuid, count)
        rise = count - before if count >= before else count  # less: the driver was loaded anew and counts from 0
        self._ecc[uuid] = count
        if rise > 0:
            errors = "an uncorrectable memory error" if rise == 1 else f"{rise} uncorrectable memory errors"
            self._troubles[uuid] = (f"{errors} (ECC)", self._clock())

    def _trouble(self, uuid: str) -> Optional[str]:
        words, at = self._troubles.get(uuid, (None, 0.0))
        if words is not None and self._clock() - at >= self._well_s:
            del self._troubles[uuid]
            return None
        return words

    def _judge_missing(self, card: Card, absent: Dict[str, str], mute: Collection[DriverSpot]) -> Card:
        last = {**_with_living_holders(card), **_OF_THE_MOMENT}
        if any(place.covers(card) for place in mute):
            return {**last, "health": MUTE}
        why = absent.get(card["make"])
        health = f"its driver is gone: {why}" if why else VANISHED
        since = card["gone_since"]
        return {**last, "health": health, "gone_since": time.time() if since is None else since}


def _unread(card: Card) -> Card:
    """As the file has it, before the driver was asked."""
    health = None if card["gone_since"] is None else VANISHED
    return {**card, **_OF_THE_MOMENT, "memory_used_bytes": None, "processes": [], "health": health}


def _with_living_holders(card: Card) -> Card:
    """Of a card that cannot be asked: who was on it last and has not ended since."""
    if not card["processes"]:
        return card
    return {**card, "processes": [one for one in card["processes"] if os.path.exists(f"/proc/{one['pid']}")]}


def _error(
    absent: Dict[str, str], nameless: List[str], cards: List[Card], mute: Collection[DriverSpot]
) -> Optional[str]:
    makes = {card["make"] for card in cards}
    lines = [why for make, why in absent.items() if not cards or make in makes]
    for place in mute:
        if place.number is None:
            lines.append(f"the {place.make} driver does not answer")
        elif place.uuid is None:
            lines.append(f"GPU {place.number} does not answer")
    return "; ".join(lines + nameless) or None
