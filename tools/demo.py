"""`make demo`: Tarmac in a temporary home, with more jobs than GPUs. Leaves nothing behind, even after Ctrl-C."""

import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARMAC = os.path.join(ROOT, ".venv", "bin", "tarmac")
SIMULATED = "4x24G"
RATES = ["0.01", "0.03", "0.1", "0.3"]
NEXT = """
Try it with your own work:

  source .venv/bin/activate
  tarmac add -- python train.py          queue a job (--gpus 2 for two GPUs)
  tarmac run -- python train.py          the same, and watch its output here
  tarmac ls -w                           the queue, live
  tarmac log -f last                     its output
  tarmac web                             all of it in a browser
  tarmac --help                          everything else
"""


def main() -> int:
    home = tempfile.mkdtemp(prefix="tarmac-demo-")
    environment = world(home)
    try:
        return show(home, environment)
    except KeyboardInterrupt:
        print()
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        clean(home, environment)


def world(home: str) -> dict[str, str]:
    environment = {**os.environ, "TARMAC_HOME": home, "PATH": os.path.dirname(TARMAC) + ":" + os.environ["PATH"]}
    if not glob.glob("/dev/nvidia[0-9]*") and "TARMAC_FAKE_GPUS" not in environment:
        environment.update(TARMAC_FAKE_GPUS=SIMULATED, TARMAC_FAKE_LOAD="1")
        print(f"No NVIDIA GPU found; simulating four with TARMAC_FAKE_GPUS={SIMULATED}\n")
    return environment


def show(home: str, environment: dict[str, str]) -> int:
    for number, line in enumerate(jobs()):
        if not submitted(environment, ["add", *line], is_shown=number < 3):
            return 1
    print(f"… {len(jobs())} jobs are queued. Now: $ tarmac ls -w\n", flush=True)
    watch(environment)
    print("\n$ tarmac log last -n 1", flush=True)
    run(environment, "log", "last", "-n", "1")
    print(f"\nEach job's output was a file in {home}/logs, which is removed at the end;")
    print("without TARMAC_HOME it is ~/.local/state/tarmac/logs, and `tarmac show ID` names it.")
    if sys.stdin.isatty() and sys.stdout.isatty():
        offer_page(environment)
    print(NEXT)
    return 0


def submitted(environment: dict[str, str], words: list[str], *, is_shown: bool = True) -> bool:
    """Submit quietly: only the command line is shown, and what it says if it fails."""
    if is_shown:
        print("$ tarmac " + " ".join(f"'{word}'" if " " in word else word for word in words), flush=True)
    done = subprocess.run([TARMAC, *words], env=environment, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr, end="", file=sys.stderr)
    return done.returncode == 0


def offer_page(environment: dict[str, str]) -> None:
    """Serve the page until Enter, with jobs that keep the GPUs busy."""
    if ask("\nSee it in a browser? Jobs keep running until you press Enter. [y/N] ").lower() not in {"y", "yes"}:
        return
    for words in page_jobs():
        if not submitted(environment, words):
            return
    print("$ tarmac web", flush=True)
    if subprocess.run([TARMAC, "web"], env=environment, cwd=ROOT).returncode == 0:
        ask("Press Enter to end the demo. ")


def ask(question: str) -> str:
    """What is typed; nothing after Ctrl-D."""
    try:
        return input(question).strip()
    except EOFError:
        print()
        return ""


def page_jobs() -> list[list[str]]:
    """Enough for a quarter of an hour: some run, more wait, one fails, one is held."""
    train = ["--", "python", "examples/train.py", "--seconds"]
    swept = "python examples/train.py --seconds {seconds} --lr {lr}"
    return [
        ["add", "--name", "typo", "--", "python", "examples/trian.py"],
        ["sweep", "--name", "lr-search", swept, f"lr={','.join(RATES)}", "seconds=60,80,100,120,140"],
        ["add", "--gpus", "2", "--name", "wide", *train, "120"],
        ["add", "--hold", "--name", "later", *train, "60"],
    ]


def jobs() -> list[list[str]]:
    """Eight small jobs, one that needs two GPUs, and one without GPUs."""
    train = ["--", "python", "examples/train.py", "--seconds"]
    one = [["--name", f"lr-{rate}-{seed}", *train, f"{3 + (i + seed) % 3}", "--lr", rate, "--seed", f"{seed}"]
           for i, rate in enumerate(RATES) for seed in (1, 2)]  # fmt: skip
    wide = ["--gpus", "2", "--name", "wide", *train, "4"]
    report = ["--gpus", "0", "--name", "report", *train, "6"]
    return [*one[:3], wide, report, *one[3:]]


def watch(environment: dict[str, str]) -> None:
    """Show the live table while a job is active; without a terminal, print the table at the end."""
    live = subprocess.Popen([TARMAC, "ls", "-w"], env=environment, cwd=ROOT) if sys.stdout.isatty() else None
    try:
        subprocess.run([TARMAC, "wait", "all"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if live:
            time.sleep(0.5)  # let the last change be drawn
    finally:
        if live:
            live.send_signal(signal.SIGINT)
            live.wait()
    if not live:
        run(environment, "ls")


def run(environment: dict[str, str], *words: str) -> None:
    subprocess.run([TARMAC, *words], env=environment, cwd=ROOT)


def clean(home: str, environment: dict[str, str]) -> None:
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([TARMAC, "kill", "--state", "active", "--grace", "0"], **quiet)
    subprocess.run([TARMAC, "wait", "all"], **quiet)
    subprocess.run([TARMAC, "stop"], **quiet)
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
