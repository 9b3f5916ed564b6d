"""Pin what is installed, with the hash of each file that its index has (`make lock`).

requirements.lock has all but PyTorch, of which there are two builds: envs/torch.lock is
PyPI's, with CUDA on Linux, and envs/torch-cpu.lock the one without, from PyTorch's own
index. envs/fairgat.yaml has the same versions for conda.
"""

import importlib.metadata
import re
import shutil
import subprocess
import sys
from pathlib import Path

from fairgat import files

_NOT_PINNED = ("fairgat", "pip", "wheel")
# What PyTorch's build for Linux brings along, and the others lack.
_CUDA = ("nvidia-", "cuda-", "triton")
_CPU = "https://download.pytorch.org/whl/cpu"
_OLDEST_PYTHON = "3.11"
_CONDA = """\
# The versions of requirements.lock and envs/torch.lock, for `snakemake --sdm conda`; a
# test keeps them in step.
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python=3.12
  - pip
  - pip:
"""


def installed() -> list[str]:
    """List `name==version` of what is installed, without CUDA and labels as `+cpu`."""
    pins = {}
    for distribution in importlib.metadata.distributions():
        pins[distribution.name] = distribution.version.partition("+")[0]
    unpinned = (*_NOT_PINNED, *_CUDA)
    names = [name for name in pins if not name.lower().startswith(unpinned)]
    return [f"{name}=={pins[name]}" for name in sorted(names, key=str.lower)]


def locked(pins: list[str], *options: str) -> list[str]:
    """Give an entry for each pin and what it needs on any platform, with all hashes.

    Raises:
        CalledProcessError: uv says what is wrong, such as an index that does not
            answer.
    """
    uv = shutil.which("uv", path=Path(sys.executable).parent) or "uv"
    command = [uv, "pip", "compile", "-", "--quiet", "--generate-hashes", "--universal"]
    command += ["--python-version", _OLDEST_PYTHON, "--no-annotate", "--no-header"]
    done = subprocess.run(
        [*command, *options],
        input="\n".join(pins),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return entries(done.stdout)


def entries(lock: str) -> list[str]:
    """Split a lock file into its entries: a package's line, and one for each hash."""
    packages = re.sub(r"^#.*\n", "", lock, flags=re.MULTILINE)
    return re.findall(r"^\S.*(?:\n[ \t].*)*", packages, re.MULTILINE)


def pin(entry: str) -> str:
    """Give an entry's `name==version`, with its marker if it has one."""
    return entry.splitlines()[0].removesuffix("\\").strip()


def conda_environment(pins: list[str]) -> str:
    """Write envs/fairgat.yaml with these pins."""
    return _CONDA + "".join(f"      - {pin}\n" for pin in pins)


def _write(path: Path, packages: list[str]) -> None:
    files.write_text(path, "".join(f"{entry}\n" for entry in packages))


def _lock(root: Path) -> None:
    every = locked(installed())
    of_torch = [entry for entry in every if entry.startswith(("torch==", *_CUDA))]
    others = [entry for entry in every if entry not in of_torch]
    torch = next(pin(entry) for entry in of_torch if entry.startswith("torch=="))
    _write(root / "requirements.lock", others)
    _write(root / "envs" / "torch.lock", of_torch)

    pins = [torch, *map(pin, others)]
    files.write_text(root / "envs" / "fairgat.yaml", conda_environment(pins))

    cpu = root / "envs" / "torch-cpu.lock"
    try:
        build = locked([f"{torch}+cpu"], "--no-deps", "--default-index", _CPU)
    except subprocess.CalledProcessError:
        sys.exit(f"{_CPU} does not answer: {cpu} is as it was, the others are new.")
    _write(cpu, build)


if __name__ == "__main__":
    _lock(Path(__file__).parents[1])
