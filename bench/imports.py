"""How long `import handraise` takes, each time in a fresh interpreter, beside the import of its HTTP client alone.

`python -m bench.imports [RUNS]`. The two take turns, so that whatever else the machine does falls on both.
"""

import subprocess
import sys
from statistics import median

_RUNS = 20
_TIMED = "import time; began = time.perf_counter(); import {module}; print(time.perf_counter() - began)"


def seconds_to_import(module: str) -> float:
    program = _TIMED.format(module=module)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main(runs: int) -> None:
    modules = ("handraise", "httpx2")
    for module in modules:
        seconds_to_import(module)  # the first one may have to compile it
    rounds = [[seconds_to_import(module) for module in modules] for _ in range(runs)]
    for module, seconds in zip(modules, zip(*rounds, strict=True), strict=True):
        sys.stdout.write(f"import {module}: {median(seconds) * 1000:.0f} ms\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else _RUNS)
