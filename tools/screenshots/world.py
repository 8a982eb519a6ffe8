"""A home that looks like a lab in the middle of a week: a past, people, jobs of every kind."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from socket import AF_UNIX, socket

import lab
import past

HERE = os.path.dirname(os.path.abspath(__file__))
TARMAC = os.path.join(os.path.dirname(sys.executable), "tarmac")
PATH = "/usr/local/bin:/usr/bin:/bin"
NODE = "gpu01"
GPUS, GPU_BYTES = 8, 80 << 30
IMPORTED = 400
FIRST_IMPORTED = 300
WAITED_S = 90  # between a submit and its start

# Who runs what, on how many GPUs; how far it is, of how many hours; seconds since it started.
RUNNING = [
    ("ann", "vit-l-lr3e-4", 1, 0.61, 3.1, 6800, ["--model", "vit-l", "--lr", "3e-4"]),
    ("ann", "vit-l-lr1e-3", 1, 0.34, 3.4, 4200, ["--model", "vit-l", "--lr", "1e-3"]),
    ("chen", "llm-7b-sft", 2, 0.78, 11.0, 30900, ["--model", "llama-7b", "--stage", "sft"]),
    ("bob", "ddpm-celeba", 1, 0.12, 6.0, 2600, ["--config", "celeba-256.yaml"]),
    ("li", "whisper-ft", 1, 0.93, 2.2, 7400, ["--model", "whisper-small"]),
]
# Who waits for what. The last one is held.
WAITING = [
    ("chen", "llm-7b-dpo", 4, ["--model", "llama-7b", "--stage", "dpo"]),
    ("bob", "ddpm-lsun", 1, ["--config", "lsun-256.yaml"]),
    ("li", "whisper-medium", 2, ["--model", "whisper-medium"]),
    ("maria", "esm2-650m", 1, ["--model", "esm2-650m"]),
    ("ann", "vit-l-final", 2, ["--model", "vit-l", "--epochs", "300"]),
]


class World:
    def __init__(self, folder, home):
        """`home`: where the people have their directories."""
        self.folder = folder
        self.state = os.path.join(folder, "state")
        self.project = os.path.join(home, "ann", "vit")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TARMAC_")},
            "TARMAC_HOME": self.state,
            "TARMAC_FAKE_GPUS": "%dx80G" % GPUS,
            "TARMAC_FAKE_LOAD": "1",
            "PATH": PATH,
        }
        self.jobs = {}
        os.makedirs(self.project)
        shutil.copy(os.path.join(HERE, "train.py"), self.project)

    def tarmac(self, *words, **played):
        environment = {**self.environment, **{"PLAYED_" + name.upper(): str(value) for name, value in played.items()}}
        done = subprocess.run(
            [TARMAC, *words],
            env=environment,
            cwd=self.project,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            raise RuntimeError("tarmac %s: %s" % (" ".join(words), done.stdout.decode()))
        return done.stdout.decode()

    def ask(self, method, path, body=None, owner=lab.SELF):
        connection = HTTPConnection("tarmac")
        connection.sock = socket(AF_UNIX)
        connection.sock.connect(os.path.join(self.state, "tarmac.sock"))
        headers = {"Content-Type": "application/json", lab.OWNER: owner}
        connection.request(method, "/api/v1" + path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status >= 400:
            raise RuntimeError(text)
        return json.loads(text)

    def submit(self, owner, name, gpus, words, **played):
        environment = {"PATH": PATH, "TARMAC_HOME": self.state, "LANG": "C.UTF-8"}
        environment.update(("PLAYED_" + key.upper(), str(value)) for key, value in played.items() if key != "options")
        job = {"command": ["python3", "train.py", *words], "gpus": gpus, "name": name, "project": past.PROJECTS[owner]}
        job.update(played.get("options", {}))
        body = {"cwd": self.project, "environment": environment, "jobs": [job]}
        self.jobs[name] = self.ask("POST", "/jobs", body, owner)["ids"][0]

    # The controller

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "lab.py"), "--state", self.state],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(lambda: self._answers() and len(self.ask("GET", "/gpus")["gpus"]) == GPUS)

    def _answers(self):
        try:
            return self.ask("GET", "/status")
        except (OSError, RuntimeError):
            return None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        for words in (["kill", "all", "--grace", "0"], ["wait", "--state", "active", "--timeout", "20"], ["stop"]):
            subprocess.run([TARMAC, *words], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process.wait(30)

    # What is in it

    def fill(self):
        self.start()
        self._write_past()
        for owner, name, gpus, part, hours, _, words in RUNNING:
            self.submit(owner, name, gpus, words, part=part, hours=hours, options={"tags": [words[-1]]})
        sweep = ["--lr", "{lr}", "--seed", "{seed}"]
        words = ("--name", "lr-search", "--project", "vit", "python3 train.py " + " ".join(sweep))
        self.tarmac("sweep", *words, "lr=1e-4,3e-4,1e-3", "seed=1,2,3", end="result")
        self.jobs["sweep"] = self.ask("GET", "/groups?limit=1")["groups"][0]["id"]
        self.tarmac("wait", "--group", "lr-search", "--timeout", "60")
        self.submit("ann", "vit-h-lr3e-4", 1, ["--model", "vit-h"], end="oom")
        until(lambda: self.ask("GET", "/jobs/%d" % self.jobs["vit-h-lr3e-4"])["state"] == "failed")
        self.tarmac("gpu", "drain", "7", "--reason", "Xid 79: fell off the bus")
        self.submit("ann", "eval-server", 1, ["--serve", "8000"], part=0.02, hours=40, options={"note": "until Friday"})
        for owner, name, gpus, words in WAITING:
            self.submit(owner, name, gpus, words, hours=2)
        words = ("--name", "augment", "--project", "vit", "python3 train.py --mix {mix} --drop {drop}")
        self.tarmac("sweep", *words, "mix=0.0,0.2,0.4", "drop=0.0,0.1")
        self.tarmac("hold", str(self.jobs["vit-l-final"]))
        for count, begin, lasts, user in (("4", "tomorrow 9:00", "8h", "chen"), ("2", "in 3d", "20h", "maria")):
            self.tarmac("reserve", count, "--from", begin, "--for", lasts, "--user", user)
        self.tarmac(
            "notice", "Driver update on Friday at 18:00: jobs that run then are stopped and continue afterwards."
        )

    def _write_past(self):
        self.tarmac("run", "--name", "first", "--", "true")
        exported = self.tarmac("export", "-")
        head, record = exported.splitlines()[:2]
        uuids = [gpu["uuid"] for gpu in self.ask("GET", "/gpus")["gpus"]]
        self.kill()
        past.write(os.path.join(self.state, "tarmac.db"), os.uname().nodename, uuids, GPU_BYTES)
        self.start()
        jobs = past.ended_jobs(json.loads(record), FIRST_IMPORTED, IMPORTED)
        path = os.path.join(self.folder, "past.jsonl")
        with open(path, "w") as f:
            f.write("\n".join([head, *map(json.dumps, jobs), ""]))
        self.tarmac("import", path)

    def age(self):
        """Let jobs have run for hours: stop the controller and the agent, and move the times in their files back."""
        self._let_memory_fill()
        gpus = self.ask("GET", "/gpus")["gpus"]
        agent = self.ask("GET", "/status")["agent_pid"]
        self.kill()
        os.kill(agent, signal.SIGKILL)
        connection = sqlite3.connect(os.path.join(self.state, "tarmac.db"))
        with connection:
            past.write_samples(connection, os.uname().nodename, gpus)
            for _, name, _, _, _, seconds, _ in RUNNING:
                move_times(connection, self.jobs[name], seconds, seconds)
                self._move_start(self.jobs[name], seconds)
            move_times(connection, self.jobs["vit-h-lr3e-4"], 2700 + 7500, 2700)
            for number in range(self.jobs["sweep"], self.jobs["sweep"] + 9):
                ended_s = random.uniform(3600, 9000)
                move_times(connection, number, ended_s + random.uniform(900, 1500), ended_s)
        connection.close()
        self.start()

    def _let_memory_fill(self):
        """Simulated jobs take their memory within half a minute."""
        time.sleep(25)

    def _move_start(self, number, seconds):
        """The agent's own record. It identifies a job by its id and the time of its submit."""
        path = os.path.join(self.state, "agent", "runs", "%d.1" % number, "start.json")
        with open(path) as f:
            record = json.load(f)
        submitted_at = json.loads(record["origin"]["body"])["submitted_at"]
        moved = json.loads(json.dumps(record).replace(repr(submitted_at), repr(submitted_at - seconds - WAITED_S)))
        moved["started_at"] -= seconds
        del moved["started_s"]  # by the boot clock, which began later
        with open(path, "w") as f:
            json.dump(moved, f, separators=(",", ":"))


def move_times(connection, number, start_s, end_s):
    """Move the start and the end of a job back. It was submitted a little earlier."""
    read = "SELECT submitted_at, status FROM jobs WHERE id = ?"
    submitted_at, status = connection.execute(read, (number,)).fetchone()
    status = json.loads(status)
    moved = {"started_at": start_s, "ended_at": end_s}
    status.update((name, status[name] - seconds) for name, seconds in moved.items() if status.get(name))
    connection.execute(
        "UPDATE jobs SET submitted_at = ?, status = ? WHERE id = ?",
        (submitted_at - start_s - WAITED_S, json.dumps(status), number),
    )
    for table, keys in (("attempts", moved), ("events", {"at": start_s})):
        for key, seconds in keys.items():
            connection.execute("UPDATE %s SET %s = %s - ? WHERE job = ?" % (table, key, key), (seconds, number))
    connection.execute("UPDATE events SET at = at + ? WHERE job = ? AND kind = 'JobExited'", (start_s - end_s, number))
    connection.execute("UPDATE events SET at = at - ? WHERE job = ? AND kind = 'JobSubmitted'", (WAITED_S, number))
    connection.execute("UPDATE usage SET held_s = ?, measured_s = ?, used_s = ? WHERE job = ?",
                       (start_s - end_s, start_s - end_s, (start_s - end_s) * 0.86, number))  # fmt: skip


def until(condition, within_s=30):
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError("nothing happened within %d s" % within_s)
        time.sleep(0.05)


@contextmanager
def a_lab(home=None):
    """`home`: an empty directory that pictures may show, such as /home. It is not removed."""
    random.seed(13)
    folder = tempfile.mkdtemp(prefix="tarmac-pictures-")
    world = World(folder, home or os.path.join(folder, "home"))
    try:
        world.fill()
        world.age()
        yield world
    finally:
        world.stop()
        shutil.rmtree(folder, ignore_errors=True)
