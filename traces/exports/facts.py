"""What figures depend on, in words: model, machine, program, settings."""

from typing import Any

from ...backends.events import ModelReady
from ...backends.text import visible
from ...metrics import numbers
from ...models.recipes import quantization_of
from ..header import Header

_LEFT_OPEN = {"ctx_size": 0, "n_gpu_layers": -1, "flash_attn": "auto", "seed": -1, "n_predict": -1}
"""Values that ask for nothing."""


def model_facts(model: ModelReady) -> list[str]:
    """Return what a model is and how it was loaded, in short phrases; of unknown origin in part."""
    threads = numbers.counted(model.threads, "thread")
    if model.threads_batch != model.threads:
        threads += f" ({model.threads_batch} for reading)"
    return [
        visible(quantization_of(model)),
        numbers.size(model.bytes),
        f"{numbers.short_count(model.parameters)} parameters",
        f"context {numbers.count(model.context)}",
        threads,
        f"{model.gpu_layers} of {model.layers} layers on the GPU" if model.gpu_layers else "on the CPU",
        *(visible(device) for device in model.devices if device != "CPU"),
    ]


def machine_facts(header: Header | None) -> list[str]:
    """Return the machine in short phrases; of unknown origin."""
    if header is None:
        return []
    machine = header.machine
    cores = [] if machine.cores is None else [numbers.counted(machine.cores, "core")]
    phrases = [
        machine.processor,
        *cores,
        numbers.counted(machine.cpus, "logical processor"),
        numbers.size(machine.memory_bytes),
        f"{machine.system} {machine.architecture}",
    ]
    return [visible(phrase) for phrase in phrases]


def program_facts(header: Header | None) -> list[str]:
    """Return what was run, in short phrases; of unknown origin."""
    if header is None:
        return []
    build = header.llama_cpp
    phrases = [f"decodescope {header.decodescope}"]
    if build.version or build.commit:
        phrases.append(f"llama.cpp {' '.join(part for part in (build.version, build.commit) if part)}")
    if build.package:
        phrases.append(f"llama-cpp-python {build.package}")
    return [visible(phrase) for phrase in (*phrases, f"Python {header.machine.python}", header.recorded)]


def settings_facts(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the settings that say something, as flags with their values; of unknown origin.

    0 says something, except where it leaves the choice to the engine: what that took is told elsewhere.
    """
    told = []
    for name, value in settings.items():
        if name == "from_model":
            continue  # shown with each of them
        if value is None or value is False or value == [] or (name in _LEFT_OPEN and value == _LEFT_OPEN[name]):
            continue
        said = "" if value is True else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if name in settings.get("from_model", ()):
            said += " (the model's own default)"
        told.append((visible(f"--{str(name).replace('_', '-')}"), visible(said)))
    return told
