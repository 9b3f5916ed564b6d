"""The wheel: it has every file of the package, and the layers run where only what they need is installed."""

import importlib.metadata
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [path for path in (ROOT / "fairgat").rglob("*") if path.is_file() and "__pycache__" not in path.parts]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("setuptools", minversion="77")
    folder = tmp_path_factory.mktemp("wheel")
    build = "import setuptools.build_meta as b, sys; b.build_wheel(sys.argv[1])"
    source = folder / "source"  # a build leaves folders beside what it builds
    for path in [*FILES, *(ROOT / name for name in ("pyproject.toml", "README.md", "LICENSE"))]:
        copy = source / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=source, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_has_what_the_repository_has(wheel):
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("fairgat/")}
    assert packed == {str(path.relative_to(ROOT)) for path in FILES}


def needed(requirements):
    """The installed distributions that the requirements ask for, theirs included."""
    packaging = pytest.importorskip("packaging.requirements")
    names, waiting = set(), list(requirements)
    while waiting:
        requirement = packaging.Requirement(waiting.pop())
        name = requirement.name.lower().replace("_", "-")
        wanted = not requirement.marker or requirement.marker.evaluate({"extra": ""})
        if not wanted or name in names:
            continue
        try:
            waiting += importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:  # CUDA's, say, which PyTorch's build for the CPU lacks
            continue
        names.add(name)
    return names


@pytest.fixture(scope="module")
def python(wheel):
    """The interpreter of a new environment that sees the wheel and, by links, what it requires without extras."""
    folder = wheel.parent
    venv.create(folder / "env", with_pip=False)
    site = next((folder / "env").glob("lib*/python*/site-packages"))
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
        metadata = next(name for name in packed.namelist() if name.endswith("METADATA"))
        requires = re.findall(r"^Requires-Dist: (.*)$", packed.read(metadata).decode(), re.MULTILINE)
    found = needed(requires)
    assert {"torch", "numpy", "scipy", "numba"} <= found and "pandas" not in found and len(found) < 20
    for name in found:
        for file in importlib.metadata.files(name):
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not (site / top).exists():
                (site / top).symlink_to(Path(file.locate()).parents[len(file.parts) - 1] / top)
    return folder / "env/bin/python"


def run(python, *arguments):
    return subprocess.run([python, *arguments], capture_output=True, text=True, cwd=python.parent)


def test_the_lines_of_the_readme(python):
    (lines,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    result = run(python, "-c", lines)
    assert result.stdout == "torch.Size([4, 16])\n", result.stderr


def test_a_command_names_the_extra(python):
    result = run(python, "-m", "fairgat.cli.main", "data", "stats", "cora")
    assert result.returncode == 1 and ".[workflow]" in result.stderr and "Traceback" not in result.stderr
