"""The state of an LSF job, from a stand-in for `bjobs`."""

import subprocess
from pathlib import Path

import pytest

STATUS = Path(__file__).resolve().parents[2] / "profiles/lsf/status"
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
        [STATUS, SUBMITTED], env={"PATH": path}, capture_output=True, text=True
    )

    assert said.stdout.strip() == expected
