"""Prints the decisions for a fixed artificial load, and the simulator's result for one.

Run as a program by the test of determinism, under different hash seeds.
"""

from __future__ import annotations

from random import Random

from tarmac.core.model.job import Request
from tarmac.core.model.names import Order, Policy
from tarmac.core.model.rules import PerName, Rules
from tarmac.sim.comparison import Variant, as_data, played
from tarmac.sim.synthetic import made_up
from tests.core.support.builders import a_node, a_spec
from tests.core.support.clockwork import Clockwork
from tests.sim.scene import nodes as nodes_of_trace

SHARES = PerName(0.7, (("ann", 0.1), ("bob", 0.3), ("cat", 0.2)))  # their sum depends on the order of the addends
EXPECTED: tuple[tuple[Policy, Order], ...] = (("fifo", "expected"), ("balance", "expected"))


def main() -> None:
    for policy, order in (("fifo", "submitted"), ("balance", "submitted"), ("fairshare", "submitted"), *EXPECTED):
        random = Random(7)
        rules = Rules(policy=policy, order=order, shares=SHARES, starvation_s=40.0)
        nodes = [a_node(gpus=random.choice([2, 4]), name=f"node-{number}") for number in range(6)]
        works = Clockwork(nodes, rules, [random.random() for _ in range(50)])
        for _ in range(60):
            works.submit(*(_spec(random) for _ in range(5)))
            while works.ends and random.random() < 0.8:
                works.end_next()
        while works.ends:
            works.end_next()
        for line in works.log:
            print(policy, order, *line)
    machines = nodes_of_trace(4, 8)
    print(as_data(played(made_up(300, machines, 7), machines, Variant(policy="balance"))))


def _spec(random: Random) -> object:
    spec = a_spec(
        owner=random.choice(["ann", "bob", "cat", "dan"]),
        project=random.choice([None, "lab", "thesis"]),
        tier=random.choice(["urgent", "normal", "normal"]),
        time_limit_s=random.choice([None, 10.0, 100.0]),
        name=f"run {random.random()}",
    )
    ask = random.choice([Request(gpus=1), Request(gpus=2), Request(gpus=4), Request(gpus=1, gpu_share=0.5)])
    return type(spec)(**{**{name: getattr(spec, name) for name in spec.__dataclass_fields__}, "request": ask})


if __name__ == "__main__":
    main()
