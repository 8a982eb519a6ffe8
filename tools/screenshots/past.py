"""What happened in the weeks before: ended jobs, GPU hours and readings, written into the database."""

import math
import random
import sqlite3
import time
from datetime import datetime, timedelta

from tarmac.store import accounts, node_hours
from tarmac.store.accounts import Account
from tarmac.store.node_hours import NodeHour

DAYS = 56
SAMPLED_DAYS = 7
UNCHANGED_S = 2.5 * 3600
HOUR_S = 3600
OWNERS = {"ann": 1.0, "bob": 0.7, "chen": 1.3, "li": 0.9, "maria": 0.35}
PROJECTS = {"ann": "vit", "bob": "diffusion", "chen": "llm", "li": "speech", "maria": "protein"}
GOODNESS = {"ann": 0.88, "bob": 0.54, "chen": 0.93, "li": 0.79, "maria": 0.66}  # used of what was held


def write(database, node, uuids, total_bytes):
    connection = sqlite3.connect(database)
    with connection:
        accounts.add_accounts(connection, _accounts(node, uuids, total_bytes))
        node_hours.add(connection, _hours(node, len(uuids)))
    connection.close()


def _pressure(moment):
    """How busy the lab is, from 0 to 1: by day more than at night, less at weekends."""
    local = time.localtime(moment)
    daily = 0.62 + 0.3 * math.sin((local.tm_hour - 9) / 24 * 2 * math.pi)
    return daily * (0.55 if local.tm_wday >= 5 else 1.0)


def _accounts(node, uuids, total_bytes):
    today = datetime.now().date()  # noqa: DTZ005 - the controller's own zone
    for back in range(1, DAYS):
        day = today - timedelta(days=back)
        busy = 0.45 if day.weekday() >= 5 else 1.0
        for owner, weight in OWNERS.items():
            hours = len(uuids) * 24 * 0.7 * busy * weight / sum(OWNERS.values()) * random.uniform(0.6, 1.2)
            for uuid in random.sample(uuids, 3):
                held_s = hours * HOUR_S / 3
                yield Account(
                    day=day.isoformat(),
                    owner=owner,
                    project=PROJECTS[owner],
                    node=node,
                    gpu=uuid,
                    held_s=held_s,
                    measured_s=held_s,
                    used_s=held_s * GOODNESS[owner] * random.uniform(0.9, 1.05),
                    energy_j=held_s * 260,
                    peak_bytes=int(total_bytes * random.uniform(0.5, 0.97)),
                )
            yield Account(day=day.isoformat(), owner=owner, project=PROJECTS[owner], jobs=random.randint(2, 18))


def _hours(node, count):
    first = int(time.time()) // HOUR_S * HOUR_S - DAYS * 24 * HOUR_S
    for at in range(first, int(time.time()) // HOUR_S * HOUR_S, HOUR_S):
        present_s = count * HOUR_S
        held_s = present_s * min(1.0, _pressure(at) * random.uniform(0.85, 1.1))
        used_s = held_s * min(0.97, (0.25 + 0.85 * _pressure(at)) * random.uniform(0.8, 1.15))
        yield NodeHour(at=at, node=node, present_s=present_s, held_s=held_s, measured_s=held_s, used_s=used_s)


def write_samples(connection, node, gpus):
    """The readings of a week. In the last hours, the GPUs were used as they are now."""
    connection.execute("DELETE FROM samples")
    connection.executemany(
        "INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?)", (row for gpu in gpus for row in _samples(node, gpu))
    )


def _samples(node, gpu):
    now, total = int(time.time()) // 60 * 60, gpu["memory_total_bytes"]
    first = run_ends = now - SAMPLED_DAYS * 86400
    memory = load = 0.0
    for at in range(first, now + 60, 60):
        if at >= now - UNCHANGED_S:
            memory, load = gpu["memory_used_bytes"] / total, 82.0 if gpu["memory_used_bytes"] else 0.0
        elif at >= run_ends:
            is_idle = random.random() > _pressure(at) + 0.15
            run_ends = at + random.randint(1200, 4 * HOUR_S)
            memory, load = (0.0, 0.0) if is_idle else (random.uniform(0.35, 0.95), random.uniform(60, 96))
        swing = random.uniform(-9, 9) if load else 0
        yield at, node, gpu["uuid"], int(total * memory), max(0.0, min(100.0, load + swing)), 60 + load * 2.5


def ended_jobs(record, first_id, count):
    """Records to import, in the form of an exported one. Newest last."""
    states = ["succeeded"] * 15 + ["failed"] * 3 + ["cancelled"] * 2
    for number in range(count):
        owner = random.choices(list(OWNERS), list(OWNERS.values()))[0]
        ended_at = time.time() - 5400 - (count - number) * 86400 * 20 / count * random.uniform(0.9, 1)
        yield _ended(record, first_id + number, owner, random.choice(states), ended_at)


def _ended(record, number, owner, state, ended_at):
    runs_s = random.uniform(600, 5 * HOUR_S)
    name = "%s-%s" % (PROJECTS[owner], random.choice(["base", "large", "ablate", "seed%d" % random.randint(1, 9)]))
    spec = {**record["job"]["spec"], "owner": owner, "name": name, "project": PROJECTS[owner]}
    spec["command"] = ["python", "train.py", "--lr", random.choice(["1e-4", "3e-4", "1e-3"])]
    spec["cwd"] = "/home/%s/%s" % (owner, PROJECTS[owner])
    times = {"started_at": ended_at - runs_s, "ended_at": ended_at}
    status = {**record["job"]["status"], **times}
    attempt = {**record["attempts"][0], **times, "outcome": state}
    if state == "failed":
        attempt.update(exit_code=1, error_line="ValueError: loss is nan at step 1400")
        status.update(exit_code=1, signal=None, reason="exit", error_line=attempt["error_line"], message=None)
    elif state == "cancelled":
        attempt.update(exit_code=None, signal=15)
    job = {**record["job"], "id": number, "owner": owner, "name": name, "state": state, "spec": spec, "status": status}
    job["submitted_at"] = times["started_at"] - random.uniform(5, 4000)
    usage = {"peak_gpu_memory_bytes": random.randint(20, 78) << 30, "utilization": random.uniform(45, 97)}
    return {**record, "job": job, "attempts": [{**attempt, **usage}], "usage": [{**record["usage"][0], **usage}]}
