"""The demo through profiles/slurm: where its jobs run, and how many they are.

They make what a local run makes.
"""

import re

from tests.cluster.conftest import output_of

PROFILE = (
    "--profile",
    "profiles/slurm",
    "--cores",
    "2",
    "--slurm-init-seconds-before-status-checks",
    "5",
)
DEMO = ("--configfile", "configs/demo.yaml")
THREADS = ("--config", "runtime={'threads': 2}")


def test_the_demo_on_slurm(slurm, repository):
    before = set(slurm.records())
    status, said = repository.run(
        *PROFILE,
        "--set-threads",
        "runtime=2",
        *DEMO,
        *THREADS,
        "results_dir=results/slurm",
    )
    assert status == 0, said[-5000:]

    records = {
        job: record for job, record in slurm.records().items() if job not in before
    }
    assert {record["JobState"] for record in records.values()} == {"COMPLETED"}
    assert {record["NodeList"] for record in records.values()} == {"node1", "node2"}

    cells = list(repository.folder.glob("results/slurm/runs/*/*/*/**/run.json"))
    batches = list(repository.folder.glob("logs/slurm/group_cells_*/*.log"))
    trained = [
        line
        for batch in batches
        for line in re.findall(r"Job \d+: (Train .*)", batch.read_text())
    ]
    assert len(set(trained)) == len(cells) == 22  # every cell was trained in some batch
    assert {batch.stem for batch in batches} <= set(
        records
    )  # and Slurm knows each batch
    assert len(records) < len(cells)  # so that there are fewer submissions than cells

    (timed,) = [
        path.stem for path in repository.folder.glob("logs/slurm/rule_runtime/*/*.log")
    ]
    job = output_of(
        "scontrol", "show", "job", timed
    )  # Slurm forgets it an hour after its end: MinJobAge
    assert "OverSubscribe=NO" in job
    assert "CPUs/Task=2" in job

    status, said = repository.run(
        "--cores", "2", *DEMO, *THREADS, "results_dir=results/local"
    )
    assert status == 0, said[-5000:]
    assert repository.tables("results/slurm") == repository.tables("results/local")
