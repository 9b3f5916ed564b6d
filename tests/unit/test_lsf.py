"""LSF jobs, by stand-ins for `bjobs` and `bkill`."""

import subprocess
from pathlib import Path

import pytest

LSF = Path(__file__).resolve().parents[2] / "profiles/lsf"
SUBMITTED = "Job <17> is submitted to default queue <normal>."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("echo DONE", "success"),
        ("echo EXIT", "failed"),
        ("echo 'Job <17> is not found' >&2; exit 255", "failed"),
        ("echo PEND", "running"),
        ("echo RUN", "running"),
        ("echo 'LSF is down. Please wait ...' >&2; exit 255", "running"),
        ("exit 255", "running"),
    ],
)
def test_a_job_has_failed_only_where_lsf_says_so(tmp_path, answer, expected):
    bjobs = tmp_path / "bjobs"
    bjobs.write_text(f'#!/bin/bash\n[ "${{@: -1}}" = 17 ] || exit 1\n{answer}\n')
    bjobs.chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"

    said = subprocess.run(
        [LSF / "status", SUBMITTED], env={"PATH": path}, capture_output=True, text=True
    )

    assert said.stdout.strip() == expected


def test_jobs_are_ended_by_their_numbers(tmp_path):
    bkill = tmp_path / "bkill"
    bkill.write_text(f'#!/bin/bash\necho "$@" > {tmp_path}/ended\n')
    bkill.chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"

    submitted = [SUBMITTED, "Job <18> is submitted to queue <24>."]
    subprocess.run([LSF / "cancel", *submitted], env={"PATH": path}, check=True)

    assert (tmp_path / "ended").read_text() == "17 18\n"
