"""给任务提交者的提示。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "memory.this_command": Message("这条命令"),
    "memory.named": Message("{name:quoted} "),
    "memory.one_run": Message("{what}上次运行的显存峰值为 {peak:size}"),
    "memory.runs": Message("{what}最近 {runs} 次运行的显存峰值为 {peak:size}"),
    "memory.too_much": Message("{runs}；本次申请了 {reserved:size}（--gpu-mem auto 会申请 {auto:size}）"),
    "memory.too_little": Message("{runs}；本次只申请了 {reserved:size}，可能会显存不足"),
    "memory.whole_gpu": Message("{runs}；本次独占 {reserved:size} 的整张 GPU（用 --gpu-mem auto 可与其他任务共享）"),
    "memory.booked": Message("{runs}；--gpu-mem auto 在每张 GPU 上申请 {auto:size}"),
    "memory.nothing_known": Message("{what}没有以前的运行记录，所以本次独占整张 GPU；下次会按本次的用量申请显存"),
    "memory.no_room": Message("{runs}；没有 GPU 能共享出这么多显存，本次独占整张 GPU"),
}
