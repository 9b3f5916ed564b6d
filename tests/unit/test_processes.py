"""Jobs end with the Snakemake that started them, and at a second Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from fairgat.files import remove_unfinished

# What stands between Snakemake and a job.
BETWEEN = {
    "nothing": "{job}",
    "a shell": "bash -c 'set -euo pipefail; {job}; true'",
    "two shells": "bash -c \"sh -c '{job}; true'; true\"",
}
SNAKEMAKE = """
import subprocess, sys
from fairgat import processes
processes.begin()
subprocess.run(sys.argv[1], shell=True)
"""
JOB = """
import os, signal, sys, time
from types import SimpleNamespace
from fairgat import files, job_log, processes
folder, heeds = sys.argv[1:]
if heeds == "no":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    processes.end_with_snakemake(every=0.1, grace=0.5)
with job_log.logged(SimpleNamespace(log=[f"{folder}/log"], output=[])):
    with files.replacing(f"{folder}/result"):
        open(f"{folder}/pid", "w").write(str(os.getpid()))
        time.sleep(60)
"""
WAITS = """
import subprocess, sys
from fairgat import processes
processes.kill_jobs_at_second_interrupt()
job = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); "
job = [sys.executable, "-c", job + "print('begun', flush=True); time.sleep(60)"]
job = subprocess.Popen(job)
try:
    job.wait()
except KeyboardInterrupt:
    print("cleared up", job.wait(), flush=True)
"""


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)


@pytest.fixture
def interruptible():
    """What the tests start heeds Ctrl-C, even if they run in the background."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture
def started(tmp_path, interruptible):
    """Start a job by something like Snakemake; gives both processes."""

    def start(between="nothing", heeds="yes"):
        (tmp_path / "job.py").write_text(JOB)
        job = f"{sys.executable} {tmp_path}/job.py {tmp_path} {heeds}"
        command = BETWEEN[between].format(job=job)
        snakemake = subprocess.Popen([sys.executable, "-c", SNAKEMAKE, command])
        number = tmp_path / "pid"
        until(lambda: number.exists() and number.read_text())
        return snakemake, psutil.Process(int(number.read_text()))

    return start


def ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("between", BETWEEN)
def test_a_job_ends_with_snakemake_and_clears_up(started, tmp_path, between):
    snakemake, job = started(between)
    assert list(tmp_path.glob(".result.*.tmp"))
    snakemake.kill()
    until(lambda: ended(job), 10)
    snakemake.wait()
    assert not list(tmp_path.glob(".result.*"))
    assert (tmp_path / "log").read_text() == "Interrupted.\n"


def test_a_job_that_does_not_heed_ctrl_c_ends_too(started):
    snakemake, job = started(heeds="no")
    snakemake.kill()
    until(lambda: ended(job), 10)
    snakemake.wait()


def test_a_job_goes_on_while_snakemake_is_suspended(started):
    snakemake, job = started("a shell")
    snakemake.send_signal(signal.SIGSTOP)
    time.sleep(2.5)
    assert not ended(job)
    snakemake.kill()
    until(lambda: ended(job), 10)
    snakemake.wait()


@pytest.mark.parametrize("number", ["1", "own", "999999", "none"])
def test_a_job_of_none_runs_alone(tmp_path, number):
    """As in a container, where processes have other numbers: its parent is the test."""
    program = (
        "from fairgat import processes; import time; "
        "processes.end_with_snakemake(every=0.1); time.sleep(0.5); print('done')"
    )
    if number == "own":
        number = str(os.getpid())
    environment = os.environ | {"FAIRGAT_SNAKEMAKE": number}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "done\n" and done.stderr == ""


def test_a_second_ctrl_c_kills_the_jobs(interruptible):
    run = subprocess.Popen(
        [sys.executable, "-c", WAITS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert run.stdout.readline() == "begun\n"
    os.killpg(run.pid, signal.SIGINT)
    assert "Ctrl-C again kills them" in run.stderr.readline()
    time.sleep(0.5)
    assert run.poll() is None
    os.killpg(run.pid, signal.SIGINT)
    said, errors = run.communicate(timeout=10)
    assert said == "cleared up -9\n" and errors == ""


def test_old_unfinished_files_go_and_no_others(tmp_path):
    old = [
        "data/raw/cora/.unfinished.abc/ind.cora.x",
        "runs/.run.json.0123abcd.tmp",
        "data/.unfinished.new/part",
        "runs/.run.json.fedc0123.tmp",
        "runs/run.json",
        "runs/.mine.tmp",
        ".git/.x.0123abcd.tmp",
    ]
    for name in old:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "data/.unfinished.link").symlink_to(tmp_path / ".git")
    for path in [*tmp_path.rglob("*")]:
        os.utime(path, (0, 0), follow_symlinks=False)
    for name in ("data/.unfinished.new/part", "runs/.run.json.fedc0123.tmp"):
        os.utime(tmp_path / name)  # somebody writes it
    remove_unfinished(tmp_path)
    left = {
        path.relative_to(tmp_path).as_posix()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert left == {*old[2:]}
    assert (tmp_path / "data/.unfinished.link").is_symlink()
    assert not (tmp_path / "data/raw/cora/.unfinished.abc").exists()
    remove_unfinished(tmp_path / "nowhere")
