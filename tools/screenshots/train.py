"""What the jobs on the pictures run: prints a progress bar that began long ago, or fails. PLAYED_* say which."""

import json
import os
import sys
import time

PART = float(os.environ.get("PLAYED_PART", "0"))
HOURS = float(os.environ.get("PLAYED_HOURS", "2"))
STEPS = 20_000


def main():
    sys.stdout.reconfigure(line_buffering=True)
    print(
        "\033[2m%s\033[0m  model \033[1m%s\033[0m, 4,218 batches"
        % (time.strftime("%H:%M:%S"), given().get("--model", "vit-l"))
    )
    ending = os.environ.get("PLAYED_END")
    for epoch in range(1, 13):
        loss = 2.4 / (epoch + 0.6)
        print("epoch %2d  loss %.4f  \033[32mval acc %.4f\033[0m  lr 3.0e-04" % (epoch, loss, 0.93 - loss / 4))
    if ending == "oom":
        sys.exit(
            "Traceback (most recent call last):\n"
            '  File "/home/ann/vit/train.py", line 88, in <module>\n    loss.backward()\n'
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of"
            " 79.15 GiB of which 1.31 GiB is free."
        )
    if ending == "result":
        print(json.dumps({"acc": result(), "loss": round(1.1 - result(), 4)}))
        print("acc=%.4f loss=%.4f" % (result(), 1.1 - result()))
        return
    follow()


def given():
    return dict(zip(sys.argv[1::2], sys.argv[2::2]))


def result():
    rate, seed = float(given().get("--lr", "1e-3")), int(given().get("--seed", "1"))
    return round(0.91 - 0.06 * abs(rate * 1000 - 0.3) ** 0.5 + 0.004 * (seed % 3), 4)


def follow():
    began = time.time() - PART * HOURS * 3600
    while True:
        elapsed = time.time() - began
        part = min(0.999, elapsed / (HOURS * 3600))
        left = max(1, HOURS * 3600 - elapsed)
        bar = "█" * int(part * 10)
        said = (part * 100, bar, part * STEPS, STEPS, clock(elapsed), clock(left), part * STEPS / max(1, elapsed))
        sys.stderr.write("\r%3d%%|%-10s| %d/%d [%s<%s, %.2fit/s]" % said)
        sys.stderr.flush()
        time.sleep(1)


def clock(seconds):
    return "%d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)


if __name__ == "__main__":
    main()
