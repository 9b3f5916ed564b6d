"""`make env`: what tools/env.sh runs.

Stand-ins for Python and uv write down how they were called.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = """#!/bin/sh
echo "python $*" >>"$CALLS"
case "$*" in
*sys.version_info*) exit "$OLD" ;;
*urllib*) exit 1 ;;
*torch-cpu.lock*) exit "$CPU_FAILS" ;;
*"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
esac
"""
UV = '#!/bin/sh\necho "uv $*" >>"$CALLS"\nexit "$UV_FAILS"\n'


@pytest.fixture
def make_env(tmp_path):
    """Run tools/env.sh in a folder of its own; gives what it printed, and its calls."""

    def run(old=0, uv_fails=0, cpu_fails=0, gpu=False):
        for name, text in {"python": PYTHON, "uv": UV}.items():
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        shutil.copy(ROOT / "requirements.lock", tmp_path)
        if gpu:
            (tmp_path / "nvidia-smi").write_text("")
            (tmp_path / "nvidia-smi").chmod(0o755)
        environment = {
            "CALLS": str(tmp_path / "calls"),
            "OLD": str(old),
            "UV_FAILS": str(uv_fails),
            "CPU_FAILS": str(cpu_fails),
        }
        done = subprocess.run(
            ["sh", ROOT / "tools/env.sh", tmp_path / "python"],
            cwd=tmp_path,
            env={**environment, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
        )
        called = tmp_path / "calls"
        calls = called.read_text().splitlines() if called.exists() else []
        called.unlink(missing_ok=True)
        return done, calls

    return run


def _installs(calls):
    return [call for call in calls if " install " in call]


def test_pytorch_comes_first_by_pip_and_the_rest_by_uv(make_env):
    done, calls = make_env()
    assert done.returncode == 0, done.stderr
    torch, others, package = _installs(calls)
    assert torch.startswith("python -m pip") and "/torch" in torch
    assert others.startswith("uv ") and others.endswith("requirements.lock")
    assert package.startswith("uv ") and package.endswith("--editable .")


def test_what_is_fetched_is_checked_against_its_hash(make_env):
    for given in ({}, {"uv_fails": 2}, {"gpu": True}, {"cpu_fails": 1}):
        _, calls = make_env(**given)
        for call in _installs(calls):
            # Nothing is fetched for this package, nor to build it.
            ours = call.endswith("--no-deps --no-build-isolation --editable .")
            assert "--require-hashes" in call or ours


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one build")
def test_the_build_for_gpus_is_taken_with_a_gpu_or_where_there_is_no_other(make_env):
    _, calls = make_env(cpu_fails=1)
    tried, taken, *_ = _installs(calls)
    assert "envs/torch-cpu.lock" in tried and "envs/torch.lock" in taken
    _, calls = make_env(gpu=True)
    assert "envs/torch.lock" in _installs(calls)[-3]


def test_where_uv_fails_pip_installs(make_env):
    done, calls = make_env(uv_fails=2)
    assert done.returncode == 0, done.stderr
    assert [
        call
        for call in calls
        if call.startswith("python -m pip")
        and "--requirement requirements.lock" in call
    ]


def test_an_old_python_is_refused_before_anything_is_made(make_env, tmp_path):
    done, _ = make_env(old=1)
    assert done.returncode == 1 and "3.11 or newer is needed" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_what_was_installed_stays_when_the_environment_is_updated(make_env, tmp_path):
    _, first = make_env()
    mine = tmp_path / ".venv/lib/mine.py"
    mine.parent.mkdir()
    mine.write_text("mine")
    done, calls = make_env()
    assert done.returncode == 0, done.stderr
    assert mine.read_text() == "mine"
    assert any("-m venv" in call for call in first)
    assert not any("-m venv" in call for call in calls)
    assert _installs(calls) == _installs(first)  # the new lock's versions


@pytest.mark.parametrize("kind", ["link", "dangling link", "another's", "file"])
def test_what_this_command_did_not_make_is_left_alone(make_env, tmp_path, kind):
    shared, venv = tmp_path / "shared", tmp_path / ".venv"
    (shared / "bin").mkdir(parents=True)
    (shared / "mine.txt").write_text("mine")
    if kind == "link":
        (shared / ".complete").touch()  # made by `make env`, for another checkout
        venv.symlink_to(shared)
    elif kind == "dangling link":
        venv.symlink_to(tmp_path / "not-mounted")
    elif kind == "another's":
        shared.rename(venv)
    else:
        venv.write_text("mine")
    before = contents(tmp_path)
    done, calls = make_env()
    assert done.returncode == 1 and "is left as it is" in done.stderr
    assert contents(tmp_path).items() >= before.items()
    assert not [call for call in calls if "install" in call or "venv" in call]


def contents(folder):
    """Every path, and what is there."""
    return {
        path: path.readlink()
        if path.is_symlink()
        else path.is_file() and path.read_text()
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("marks", [[".complete"], [".made-by-make-env"]])
def test_a_broken_environment_is_moved_aside(make_env, tmp_path, marks):
    for number, name in enumerate(["", "-2"], start=1):
        venv = tmp_path / ".venv"
        shutil.rmtree(venv, ignore_errors=True)
        (venv / "bin").mkdir(parents=True)
        (venv / "bin/python").symlink_to("/usr/lib/python-that-was-removed")
        (venv / "mine.txt").write_text(f"mine {number}")
        for mark in marks:
            (venv / mark).touch()
        done, _ = make_env()
        assert done.returncode == 0, done.stderr
        old = tmp_path / f".venv.old{name}"
        assert (old / "mine.txt").read_text() == f"mine {number}"
        assert (venv / ".complete").exists() and not (venv / "mine.txt").exists()


@pytest.mark.parametrize("when", ["empty", "begun", "half"])
def test_an_environment_that_was_not_finished_is_gone_on_with(make_env, tmp_path, when):
    venv = tmp_path / ".venv"
    venv.mkdir()
    if when != "empty":
        (venv / ".made-by-make-env").touch()
    if when == "half":
        (venv / "bin").mkdir()
    done, _ = make_env()
    assert done.returncode == 0, done.stderr
    assert (venv / ".complete").exists()
