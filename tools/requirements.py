"""Pin what is installed: requirements.lock for pip, envs/fairgat.yaml for conda (`make lock`)."""

import importlib.metadata
from pathlib import Path

from fairgat import files

_NOT_PINNED = ("fairgat", "pip", "setuptools", "uv", "wheel")
_CUDA = (
    "nvidia-",
    "cuda-",
    "triton",
)  # what PyTorch's build for Linux brings along, and the others lack
_CONDA = """\
# The versions of requirements.lock, for `snakemake --sdm conda`; a test keeps the two in step.
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python=3.12
  - pip
  - pip:
"""


def installed() -> list[str]:
    """`name==version` of every package in this environment, without CUDA and local version labels (`+cpu`)."""
    pins = {
        distribution.name: distribution.version.partition("+")[0]
        for distribution in importlib.metadata.distributions()
    }
    names = [
        name for name in sorted(pins, key=str.lower) if name.lower() not in _NOT_PINNED
    ]
    return [
        f"{name}=={pins[name]}" for name in names if not name.lower().startswith(_CUDA)
    ]


def conda_environment(pins: list[str]) -> str:
    """envs/fairgat.yaml with these pins."""
    return _CONDA + "".join(f"      - {pin}\n" for pin in pins)


if __name__ == "__main__":
    root = Path(__file__).parents[1]
    pins = installed()
    files.write_text(root / "requirements.lock", "".join(f"{pin}\n" for pin in pins))
    files.write_text(root / "envs" / "fairgat.yaml", conda_environment(pins))
