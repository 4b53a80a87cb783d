"""What an engine says of a small model; tests replace what they are about."""

from decodescope.backends.events import ModelReady

MS = 1_000_000

SMALL = ModelReady(
    t=0,
    name="Small",
    file="small.gguf",
    architecture="llama",
    quantization="Q4_1",
    bytes=92 * 2**20,
    parameters=135_000_000,
    trained_context=8192,
    context=4096,
    layers=30,
    gpu_layers=0,
    threads=2,
    threads_batch=2,
    micro_batch=512,
    devices=("CPU",),
    template="ChatML",
    kv_bytes_per_token=23_040,
    progress="node",
    rollback=True,
    load_ns=200 * MS,
    warmup_ns=10 * MS,
)
