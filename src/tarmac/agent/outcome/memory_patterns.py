"""What frameworks print when memory runs out: one row per message, with the memory that is meant.

A row matches the message itself, with its numbers or its error code, and not prose that mentions it. Whether a matching
line is the reason of a failure is decided by `error_lines`: a program may recover.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Optional, Pattern, Tuple

if TYPE_CHECKING:
    from tarmac.shared.frames.reports import Memory


class Row(NamedTuple):
    source: str  # who prints it; a test has a sample of each
    memory: Memory
    pattern: Pattern[str]


def _row(source: str, memory: Memory, pattern: str) -> Row:
    return Row(source, memory, re.compile(pattern))


_SIZE = r"[\d.,]+ ?[KMGTP]?i?(?:B|bytes)\b"
_ERROR = r"(?:^|[\s.:(\[])[A-Za-z_]*(?:Error|Exception)(?: \[[^\]]*\])?: "  # the name of an exception

ROWS: Tuple[Row, ...] = (
    _row("PyTorch", "gpu", rf"\b(?:CUDA|HIP|XPU|MPS) out of memory\. ?Tried to allocate {_SIZE}"),
    _row("PyTorch", "gpu", r"\bMPS backend out of memory \(MPS allocated: "),
    _row("PyTorch", "gpu", rf"{_ERROR}(?:CUDA|HIP) out of memory\.?\s*$"),
    _row("PyTorch CPU", "host", r"DefaultCPUAllocator: (?:can't allocate memory|not enough memory)"),
    _row("JAX/XLA", "gpu", rf"\bRESOURCE_EXHAUSTED: Out of memory (?:while trying to allocate|allocating) {_SIZE}"),
    _row("JAX/XLA", "gpu", rf"\bRESOURCE_EXHAUSTED: .*?\bFailed to allocate request for {_SIZE}"),
    _row("TensorFlow CPU", "host", r"\bOOM when allocating tensor with shape ?\[[\d,]*\].*?\bdevice:CPU:\d"),
    _row("TensorFlow", "gpu", r"\bOOM when allocating tensor with shape ?\[[\d,]*\](?!.*device:CPU)"),
    _row("CuPy", "gpu", r"\bOutOfMemoryError: Out of memory allocating [\d,]+ bytes \(allocated so far: "),
    _row("CuPy", "gpu", r"\bstd::bad_alloc: out_of_memory: (?:CUDA|RMM|HIP) (?:error|failure)"),  # RMM, cuDF
    _row("CUDA runtime", "gpu", r"\bcudaErrorMemoryAllocation\b.*?\bout of memory|\bcuda(?:Malloc\w*|MemPool\w*)\b.*?: "
                                r"out of memory\b"),
    _row("CUDA runtime", "gpu", r"\bCUDA (?:runtime |driver |Runtime API |Driver API |Exception )*(?:[Ee]rror|failure)"
                                r"[^:']{0,40}[:'] ?(?:\d+ ?)?['(\"]?out of memory"),
    _row("CUDA driver", "gpu", r"\bCUDA_ERROR_OUT_OF_MEMORY\b"),
    _row("CUDA libraries", "gpu", r"\b(?:CUBLAS|CUDNN|CUSPARSE|CUSOLVER|CUFFT)_(?:STATUS_)?ALLOC_FAILED\b"),
    _row("HIP runtime", "gpu", r"\bhipErrorOutOfMemory\b|\bhipErrorMemoryAllocation\b"),
    _row("HIP runtime", "gpu", r"\bHIP (?:runtime )?[Ee]rror[^:']{0,40}: ?['\"]?out of memory"),
    _row("HIP libraries", "gpu", r"\b(?:HIPBLAS|MIOPEN|ROCBLAS)_STATUS_(?:ALLOC_FAILED|MEMORY_ERROR)\b"),
    _row("NCCL", "gpu", r"\bNCCL WARN (?:\S+ )*?(?:Cuda|HIP) failure (?:\d+ )?'out of memory'"),
    _row("NCCL", "gpu", r"(?:^|\bLast error:)\s*(?:Cuda|HIP) failure (?:\d+ )?'out of memory'"),  # unhandled
    _row("vLLM", "gpu", r"\bNo available memory for the cache blocks\b"),
    _row("vLLM", "gpu", r"\bFree memory on device \S*? ?\([\d.]+/[\d.]+ GiB\) on startup is less than desired"),
    _row("vLLM", "gpu", r"KV cache is needed, which is larger than the available KV cache memory"),
    _row("vLLM", "gpu", r"max seq len \(\d+\) is larger than the maximum number of tokens that can be stored in"),
    _row("PaddlePaddle", "gpu", rf"\bOut of memory error on GPU \d+\. Cannot allocate {_SIZE}"),
    _row("NumPy", "host", r"\b_?ArrayMemoryError: Unable to allocate "),
    _row("Python", "host", r"^MemoryError\b(?:: |$)"),
    _row("C++", "host", r"^terminate called after throwing an instance of 'std::bad_alloc'"),
    _row("PyTorch DataLoader", "host", r"unable to allocate shared memory\(shm\) for file"),
    _row("PyTorch DataLoader", "host", r"DataLoader worker \(pid\S* [^)]*\) is killed by signal: (?:Bus|Killed)\b"),
)  # fmt: skip
# Every row needs one of these words. Most lines of a log have none, so they cost one look.
_HINTS = ("memory", "bad_alloc", "ALLOC_FAILED", "MEMORY", "OOM ", "Memory", "DataLoader")


def row_of(line: str) -> Optional[Row]:
    """The first row that matches a line without escapes and prefixes."""
    if not any(hint in line for hint in _HINTS):
        return None
    for row in ROWS:
        if row.pattern.search(line):
            return row
    return None
