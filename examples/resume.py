"""A training that can be stopped at any moment and continues where it was.

Run it with `tarmac add --time 6h --requeue python resume.py`.

It saves its state every few steps, when it is warned (SIGUSR1), and when it is asked to stop (SIGTERM). However often
it is preempted, reaches its time limit or is killed, it ends with the same loss as an undisturbed run.
Needs PyTorch, not a GPU.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGUSR1, signal.SIGTERM)
asked: set[int] = set()  # signals that arrived since the last step


def note(signum: int, _: FrameType | None) -> None:
    """Only record the signal: the state is consistent between steps, not within one."""
    asked.add(signum)


for signum in SIGNALS:
    signal.signal(signum, note)  # before the next import, which takes seconds: a signal without a handler kills

import torch  # noqa: E402
from torch import nn  # noqa: E402


def main() -> int:
    options = parse()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    inputs, targets = dataset()
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    done = load(options.checkpoint, model, optimizer)
    print(f"start {os.environ.get('TARMAC_RESTART_COUNT', '0')} begins with step {done + 1}", flush=True)
    for step in range(done + 1, options.steps + 1):
        time.sleep(options.step_s)
        batch = torch.randint(len(inputs), (16,))
        loss = nn.functional.mse_loss(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}/{options.steps}", flush=True)
        if asked or step % options.save_every == 0 or step == options.steps:
            save(options.checkpoint, model, optimizer, step)
        if signal.SIGTERM in asked:
            print("saved; stopping", flush=True)
            return 128 + signal.SIGTERM  # not 0: it is not done
        asked.clear()
    for signum in SIGNALS:
        signal.signal(signum, signal.SIG_IGN)  # nothing is left to save
    with torch.no_grad():
        print(f"final loss {nn.functional.mse_loss(model(inputs), targets).item():.17g}", flush=True)
    return 0


def dataset() -> tuple[torch.Tensor, torch.Tensor]:
    inputs = torch.randn(512, 8)
    return inputs, torch.sin(inputs.sum(dim=1, keepdim=True))


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Replace the file atomically: killed in between, the job still finds the previous state."""
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),  # decides which batches come next
        "step": step,
    }
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def load(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Restore the saved state, if there is one. Returns the steps that are done."""
    if not path.exists():
        return 0
    state: dict[str, Any] = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return int(state["step"])


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--step-s", type=float, default=0.0, help="seconds to wait before each step")
    parser.add_argument("--save-every", type=int, default=20, help="steps")
    parser.add_argument("--checkpoint", type=Path, default=Path("resume.pt"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
