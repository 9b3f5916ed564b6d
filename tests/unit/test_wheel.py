"""The wheel has every file of the package."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_has_what_the_repository_has(tmp_path):
    pytest.importorskip("setuptools", minversion="77")
    build = "import setuptools.build_meta as b, sys; b.build_wheel(sys.argv[1])"
    source = tmp_path / "source"  # a build leaves folders beside what it builds
    files = [path for path in (ROOT / "fairgat").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for path in [*files, *(ROOT / name for name in ("pyproject.toml", "README.md", "LICENSE"))]:
        copy = source / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("fairgat/")}
    assert packed == {str(path.relative_to(ROOT)) for path in files}
