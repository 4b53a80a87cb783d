"""What llama.cpp says of itself, as JSON on stdout; run in a process of its own, since a broken build may crash it."""

import json
import sys


def main() -> None:
    """Load llama.cpp and print its version, its system line and its devices."""
    import llama_cpp

    from ..backends.llama.native import NativeLog, devices, system_info

    log = NativeLog()
    log.install()
    report = {
        "version": llama_cpp.__version__,
        "system_info": system_info(),
        "devices": [
            {
                "name": device.name,
                "description": device.description,
                "gpu": device.is_gpu,
                "free_bytes": device.free_bytes,
                "total_bytes": device.total_bytes,
            }
            for device in devices()
        ],
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
