# ruff: noqa: E501  what programs print
"""The ends of real logs: what frameworks print when memory runs out, and what only looks like it."""

from typing import NamedTuple

PYTHON = """Traceback (most recent call last):
  File "/home/ada/exp/train.py", line 88, in <module>
    main()
  File "/home/ada/exp/train.py", line 61, in main
    loss = model(batch)
           ^^^^^^^^^^^^
"""
TORCH_LINE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of "
    "which 1.19 GiB is free. Including non-PyTorch memory, this process has 22.44 GiB memory in use. Of the allocated "
    "memory 21.43 GiB is allocated by PyTorch, and 562.57 MiB is reserved by PyTorch but unallocated. If reserved but "
    "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  "
    "See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
)
OLD_TORCH_LINE = (
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.72 GiB already "
    "allocated; 16.44 MiB free; 9.81 GiB reserved in total by PyTorch)"
)


class Sample(NamedTuple):
    source: str
    memory: str
    line: str  # the line that says so, or its beginning
    log: str


def last(source: str, memory: str, line: str, before: str = PYTHON, after: str = "") -> Sample:
    return Sample(source, memory, line, f"{before}{line}\n{after}")


OUT_OF_MEMORY = [
    last("PyTorch", "gpu", TORCH_LINE),
    last("PyTorch", "gpu", OLD_TORCH_LINE),
    last("PyTorch", "gpu", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 192.00 MiB (GPU 3; 79.15 GiB "
         "total capacity; 77.40 GiB already allocated; 100.19 MiB free; 77.54 GiB reserved in total by PyTorch)"),
    last("PyTorch", "gpu", "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total "
         "capacity of 63.98 GiB of which 2.61 GiB is free."),
    last("PyTorch", "gpu", "RuntimeError: MPS backend out of memory (MPS allocated: 17.98 GB, other allocations: 1.07 MB, "
         "max allowed: 18.13 GB). Tried to allocate 256.00 MB on private pool."),
    last("PyTorch", "gpu", "RuntimeError: CUDA out of memory."),
    Sample("PyTorch", "gpu", TORCH_LINE, "  3%|▎         | 31/1000 [00:12<06:10,  2.61it/s]" + PYTHON + TORCH_LINE + "\n"
           "  3%|▎         | 31/1000 [00:12<06:28,  2.49it/s]"),
    Sample("PyTorch", "gpu", TORCH_LINE, "".join(f"[rank1]: {line}\n" for line in (PYTHON + TORCH_LINE).split("\n"))
           + "[rank0]:[W1117 11:02:13.118 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been "
           "destroyed before we destruct ProcessGroupNCCL.\n"
           "W1117 11:02:14.392000 4031 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 4033 closing "
           "signal SIGTERM\n"
           "E1117 11:02:14.760000 4031 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) "
           "local_rank: 1 (pid: 4034) of binary: /opt/venv/bin/python\n"
           'Traceback (most recent call last):\n  File "/opt/venv/bin/torchrun", line 8, in <module>\n    sys.exit(main())\n'
           "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
           "============================================================\ntrain.py FAILED\n"
           "------------------------------------------------------------\nFailures:\n  <NO_OTHER_FAILURES>\n"
           "------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n"
           "  time      : 2026-11-17_11:02:14\n  host      : gpu1\n  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: "
           "4034)\n  error_file: <N/A>\n  traceback : To enable traceback see: "
           "https://pytorch.org/docs/stable/elastic/errors.html\n"
           "============================================================\n"),
    last("PyTorch", "gpu", TORCH_LINE, after='Traceback (most recent call last):\n  File "/opt/venv/bin/accelerate", line 8, '
         "in <module>\n    sys.exit(main())\nsubprocess.CalledProcessError: Command '['/opt/venv/bin/python', 'train.py']' "
         "returned non-zero exit status 1.\n"),
    last("PyTorch", "gpu", "Error: " + OLD_TORCH_LINE.partition(": ")[2], before="epoch 1\n"),
    last("PyTorch CPU", "host", "RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't "
         "allocate memory: you tried to allocate 400000000000 bytes. Error code 12 (Cannot allocate memory)"),
    last("PyTorch DataLoader", "host", "RuntimeError: unable to allocate shared memory(shm) for file "
         "</torch_4713_1876509_0>: Resource temporarily unavailable (11)"),
    last("PyTorch DataLoader", "host", "RuntimeError: DataLoader worker (pid(s) 4713) is killed by signal: Bus error. It is "
         "possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit."),
    last("PyTorch DataLoader", "host", "RuntimeError: DataLoader worker (pid 4713) is killed by signal: Killed. "),
    last("PyTorch", "gpu", TORCH_LINE, after=PYTHON + "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] "
         "Connection closed by peer [10.0.0.2]:30211\n"),
    last("JAX/XLA", "gpu", "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate "
         "17179869184 bytes.", after="--------------------\nFor simplicity, JAX has removed its internal frames from the "
         "traceback of the following exception. Set JAX_TRACEBACK_FILTERING=off to include these.\n"),
    last("JAX/XLA", "gpu", "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 34359738368 bytes."),
    last("JAX/XLA", "gpu", "XlaRuntimeError: RESOURCE_EXHAUSTED: CUDA_ERROR_OUT_OF_MEMORY: out of memory: Failed to allocate "
         "request for 2.50GiB (2684354560B) on device ordinal 0"),
    last("TensorFlow", "gpu", "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error: OOM when "
         "allocating tensor with shape[256,512,56,56] and type float on "
         "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Conv2D]",
         before="2026-11-17 11:02:13.118123: W tensorflow/core/common_runtime/bfc_allocator.cc:497] Allocator (GPU_0_bfc) ran "
         "out of memory trying to allocate 1.53GiB (rounded to 1644167168)requested by op Conv2D\n" + PYTHON),
    last("TensorFlow CPU", "host", "tensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node "
         "__wrapped__Mul}} OOM when allocating tensor with shape[100000,100000] and type double on "
         "/job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu [Op:Mul]"),
    last("CuPy", "gpu", "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 80,000,000,000 bytes (allocated so far: "
         "12,582,912 bytes)."),
    last("CuPy", "gpu", "MemoryError: std::bad_alloc: out_of_memory: CUDA error at: /opt/conda/include/rmm/mr/device/"
         "cuda_memory_resource.hpp:69: cudaErrorMemoryAllocation out of memory"),
    last("CUDA runtime", "gpu", "RuntimeError: CUDA error: out of memory", after="CUDA kernel errors might be asynchronously "
         "reported at some other API call, so the stacktrace below might be incorrect.\nFor debugging consider passing "
         "CUDA_LAUNCH_BLOCKING=1\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"),
    last("CUDA runtime", "gpu", "CUDA error: out of memory (code 2) at sim.cu:118", before="step 3\n"),
    last("CUDA runtime", "gpu", "GPUassert: cudaMalloc(&data, bytes) failed: out of memory sim.cu 118", before="step 3\n"),
    last("CUDA runtime", "gpu", "  what():  parallel_for failed: cudaErrorMemoryAllocation: out of memory",
         before="terminate called after throwing an instance of 'thrust::THRUST_200500_NS::system::system_error'\n",
         after="Aborted (core dumped)\n"),
    last("CUDA runtime", "gpu", "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 16384.00 MiB on device 0: cudaMalloc "
         "failed: out of memory", before="llm_load_tensors: offloading 33 repeating layers to GPU\n",
         after="llama_model_load: error loading model: unable to allocate CUDA0 buffer\nllama_load_model_from_file: failed to "
         "load model\nmain: error: unable to load model\n"),
    last("CUDA driver", "gpu", "numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in "
         "CUDA_ERROR_OUT_OF_MEMORY"),
    last("CUDA libraries", "gpu", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    last("CUDA libraries", "gpu", "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    last("HIP runtime", "gpu", "RuntimeError: HIP error: out of memory"),
    last("HIP runtime", "gpu", "error: 'out of memory'(2) hipErrorOutOfMemory at main.cpp:77", before="step 3\n"),
    last("HIP libraries", "gpu", "RuntimeError: CUDA error: HIPBLAS_STATUS_ALLOC_FAILED when calling `hipblasCreate(handle)`"),
    last("NCCL", "gpu", "gpu1:4034:4301 [1] enqueue.cc:1402 NCCL WARN Cuda failure 2 'out of memory'", before="step 3\n",
         after="gpu1:4034:4301 [1] NCCL INFO group.cc:420 -> 1\n"),
    Sample("NCCL", "gpu", "Cuda failure 'out of memory'", PYTHON + "torch.distributed.DistBackendError: NCCL error in: "
           "../torch/csrc/distributed/c10d/NCCLUtils.hpp:268, unhandled cuda error (run with NCCL_DEBUG=INFO for details), "
           "NCCL version 2.21.5\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\n"
           "Cuda failure 'out of memory'\n"),
    last("NCCL", "gpu", "torch.distributed.DistBackendError: NCCL error: unhandled cuda error, Last error: Cuda failure 2 "
         "'out of memory'"),
    last("vLLM", "gpu", "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "
         "initializing the engine."),
    Sample("vLLM", "gpu", TORCH_LINE[:100], "".join(
        f"(EngineCore_0 pid=4034) ERROR 11-17 11:02:13 [core.py:700] {line}\n" for line in (PYTHON + TORCH_LINE).split("\n"))
        + 'Traceback (most recent call last):\n  File "/opt/venv/bin/vllm", line 8, in <module>\n    sys.exit(main())\n'
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_0': 1}\n"),
    last("vLLM", "gpu", "ValueError: Free memory on device (3.14/23.64 GiB) on startup is less than desired GPU memory "
         "utilization (0.9, 21.27 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."),
    last("vLLM", "gpu", "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache "
         "is needed, which is larger than the available KV cache memory (3.52 GiB)."),
    last("vLLM", "gpu", "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be "
         "stored in KV cache (13504). Try increasing `gpu_memory_utilization` or decreasing `max_model_len`"),
    last("PaddlePaddle", "gpu", "ResourceExhaustedError: Out of memory error on GPU 0. Cannot allocate 1.250000GB memory on "
         "GPU 0, 10.500000GB memory has been allocated and available memory is only 512.000000MB."),
    last("NumPy", "host", "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 745. GiB for an array with shape "
         "(100000000000,) and data type float64"),
    last("Python", "host", "MemoryError"),
    last("C++", "host", "terminate called after throwing an instance of 'std::bad_alloc'", before="step 3\n",
         after="  what():  std::bad_alloc\nAborted (core dumped)\n"),
]  # fmt: skip

STEPS = "".join(f"step {number}/1000 loss {1 / number:.4f}\n" for number in range(1, 200))
KEY_ERROR = PYTHON + "KeyError: 'lr'\n"
LOOK_ALIKES = {
    "prose": "Hint: if you run out of memory, lower --batch-size. CUDA out of memory errors are common.\n" + KEY_ERROR,
    "a warning": "WARNING: large batch, this may cause a CUDA out of memory error\nerror: --lr is required\n",
    "survived, then another failure": PYTHON + TORCH_LINE + "\nretrying with batch size 8\n" + STEPS + KEY_ERROR,
    "survived, then another failure soon": f"caught: {OLD_TORCH_LINE}\nretrying with batch size 8\n" + KEY_ERROR,
    "survived, then exit code 3": PYTHON + TORCH_LINE + "\nretrying with batch size 8\n" + STEPS,
    "TensorFlow's allocator, not a failure": "2026-11-17 11:02:13.118123: W tensorflow/core/common_runtime/bfc_allocator.cc:296] "
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.20GiB with freed_by_count=0. The caller indicates that this "
    "is not a failure, but this may mean that there could be performance gains if more memory were available.\n" + KEY_ERROR,
    "a quota": PYTHON + "grpc._channel._InactiveRpcError: RESOURCE_EXHAUSTED: Received message larger than max (5 vs. 4)\n",
    "a test's name": "tests/test_memory.py::test_cuda_out_of_memory_is_raised FAILED\nAssertionError: no OutOfMemoryError\n",
    "a count": "summary: 0 CUDA out of memory, 3 other errors\n",
    "source code": 'File "train.py", line 3\n    except torch.OutOfMemoryError: # CUDA out of memory\nSyntaxError: invalid syntax\n',
    "a config dump": "{'on_oom': 'raise', 'message': 'CUDA out of memory'}\n" + KEY_ERROR,
    "disk": PYTHON + "OSError: [Errno 28] No space left on device\n",
    "another CUDA error": PYTHON + "RuntimeError: CUDA error: device-side assert triggered\n",
    "another NCCL error": "gpu1:4034:4301 [1] enqueue.cc:1402 NCCL WARN Cuda failure 700 'an illegal memory access'\n",
    "memory access": PYTHON + "RuntimeError: CUDA error: an illegal memory access was encountered\n",
    "a subclass's name only": "MemoryErrorHandler installed\nerror: bad flag\n",
    "nothing": "",
}  # fmt: skip
