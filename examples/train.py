"""Pretends to train a network: standard library only, needs no GPU, prints progress as real training does."""

import argparse
import math
import os
import random
import sys
import time

BLOCKS = "▏▎▍▌▋▊▉█"


def main() -> None:
    options = parse()
    print(f"training on GPU {os.environ.get('CUDA_VISIBLE_DEVICES') or 'none'}, learning rate {options.lr}", flush=True)
    random.seed(options.seed)
    started = time.monotonic()
    loss = 2.3
    for step in range(1, options.steps + 1):
        time.sleep(options.seconds / options.steps)
        loss = 2.3 * math.exp(-options.lr * 30 * step / options.steps) + random.uniform(0.0, 0.05)
        sys.stderr.write("\r" + bar(step, options.steps, time.monotonic() - started) + f" loss {loss:.3f}")
        sys.stderr.flush()
    print(f"\ndone: loss {loss:.3f} after {options.steps} steps")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long the training takes")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def bar(step: int, steps: int, elapsed_s: float) -> str:
    """One line as tqdm draws it."""
    eighths = 80 * step // steps
    drawn = "█" * (eighths // 8) + (BLOCKS[eighths % 8 - 1] if eighths % 8 else "")
    left_s = elapsed_s / step * (steps - step)
    rate = step / elapsed_s
    return f"{100 * step // steps:3d}%|{drawn:10}| {step}/{steps} [{clock(elapsed_s)}<{clock(left_s)}, {rate:.2f}it/s]"


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


if __name__ == "__main__":
    main()
