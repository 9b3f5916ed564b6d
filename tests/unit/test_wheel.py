"""The wheel has all files of the package; its layers need none of the workflow's."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BESIDE = ("pyproject.toml", "README.md", "LICENSE")
FILES = [
    path
    for path in (ROOT / "fairgat").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("setuptools", minversion="77")
    folder = tmp_path_factory.mktemp("wheel")
    build = "import setuptools.build_meta as b, sys; b.build_wheel(sys.argv[1])"
    source = folder / "source"  # a build leaves folders beside what it builds
    for path in [
        *FILES,
        *(ROOT / name for name in BESIDE),
    ]:
        copy = source / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    subprocess.run(
        [sys.executable, "-c", build, str(folder)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_has_what_the_repository_has(wheel):
    packed = {
        name
        for name in zipfile.ZipFile(wheel).namelist()
        if name.startswith("fairgat/")
    }
    assert packed == {str(path.relative_to(ROOT)) for path in FILES}


def test_a_data_set_is_loaded_without_the_repository(wheel, tmp_path):
    """By the configuration of the paper, which is config.yaml at the root."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = "import fairgat\n"
    code += "data = fairgat.load('demo-social', config='overlay.yaml')\n"
    code += "print(fairgat.__file__, data.train_mask.sum().item())"
    entry = "demo-social: {task: node_classification, options: {nodes: 100}}"
    (tmp_path / "overlay.yaml").write_text(f"datasets: {{{entry}}}")
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert result.stdout == f"{tmp_path}/fairgat/__init__.py 40\n", result.stderr


def test_an_import_names_the_extra(wheel):
    result = run(wheel, "from fairgat import load")
    assert ".[workflow]" in result.stderr.splitlines()[-1]


def run(wheel, code, *arguments):
    """Run code with the wheel, where the packages of the workflow are not installed."""
    missing = [
        "pandas",
        "pydantic",
        "yaml",
        "pooch",
        "requests",
        "matplotlib",
        "snakemake",
    ]
    start = "import sys\n"
    start += f"sys.path.insert(0, {str(wheel)!r})\n"
    start += f"sys.modules |= dict.fromkeys({missing})\n"
    command = [sys.executable, "-c", start + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=wheel.parent)


def test_the_lines_of_the_readme(wheel):
    (lines,) = re.findall(
        r"^```python\n(.*?)^```$",
        (ROOT / "README.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    result = run(wheel, lines + "\nimport fairgat; assert '.whl' in fairgat.__file__")
    assert result.stdout == "torch.Size([4, 16])\n", result.stderr


def test_a_command_names_the_extra(wheel):
    result = run(
        wheel,
        "from fairgat.cli.main import main; sys.exit(main())",
        "data",
        "stats",
        "cora",
    )
    assert (
        result.returncode == 1
        and ".[workflow]" in result.stderr
        and "Traceback" not in result.stderr
    )
