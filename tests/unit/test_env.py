"""`make env`: what tools/env.sh runs, with stand-ins for Python and uv that write down how they were called."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = """#!/bin/sh
echo "python $*" >>"$CALLS"
case "$*" in
*sys.version_info*) exit "$OLD" ;;
*urllib*) exit 1 ;;
*"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
esac
"""
UV = '#!/bin/sh\necho "uv $*" >>"$CALLS"\nexit "$UV_FAILS"\n'


@pytest.fixture
def make_env(tmp_path):
    """Run tools/env.sh in a folder of its own; gives what it printed and the calls it made."""

    def run(old=0, uv_fails=0):
        for name, text in {"python": PYTHON, "uv": UV}.items():
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        shutil.copy(ROOT / "requirements.lock", tmp_path)
        environment = {
            "CALLS": str(tmp_path / "calls"),
            "OLD": str(old),
            "UV_FAILS": str(uv_fails),
        }
        done = subprocess.run(
            ["sh", ROOT / "tools/env.sh", tmp_path / "python"],
            cwd=tmp_path,
            env={**environment, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
        )
        return done, (tmp_path / "calls").read_text().splitlines()

    return run


def test_pytorch_comes_first_by_pip_and_the_rest_by_uv(make_env):
    done, calls = make_env()
    assert done.returncode == 0, done.stderr
    installs = [call for call in calls if " install " in call]
    assert "torch==" in installs[0] and installs[0].startswith("python -m pip")
    assert [call.split()[0] for call in installs[1:]] == [
        "uv",
        "uv",
    ] and "--editable ." in installs[2]


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
