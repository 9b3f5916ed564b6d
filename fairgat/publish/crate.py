"""Describe a run as a Workflow Run RO-Crate, which archives and catalogues read (https://w3id.org/ro/wfrun).

`describe` makes ro-crate-metadata.json of the Provenance Run Crate profile: the workflow and its parameters, the raw
files with their checksums, the results, and one action for each rule, with its times and number of jobs. Jobs are not
listed one by one: benchmarks/ and the run.json of each run have them.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocrate.model import ContextEntity, Entity
from rocrate.rocrate import ROCrate

from fairgat.files import read_json

PROFILES = {
    f"https://w3id.org/ro/wfrun/{name}/0.5": f"{name.capitalize()} Run Crate"
    for name in ("process", "workflow", "provenance")
} | {"https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate"}
DERIVED = ("data/graphs/", "data/debiased/")  # they hold the data sets' features and edges
ACCESS = "Each data set has its licence, if any: docs/data.md"
PLACES = (
    "data/graphs/", "data/splits/", "data/debiased/", "runs/", "summary/", "runtime/", "theory/", "account/", "tables/",
    "figures/", "audit/", "costs/", "studies/", "explore.html",
)  # fmt: skip


def describe(results: str | Path, provenance: Mapping[str, Any], agent: str, raw: str | Path) -> dict[str, Any]:
    """Make the content of ro-crate-metadata.json.

    Args:
        results: the results directory, which becomes the crate's root; only what is there is described.
        provenance: the content of provenance.json.
        agent: who ran it.
        raw: the folder of the raw files.
    """
    results, crate = Path(results), ROCrate(version="1.1")

    def add(identifier: str, kind: str | list[str], **properties: Any) -> Entity:
        return crate.add(ContextEntity(crate, identifier, {"@type": kind} | properties))

    crate.name = "A run of the FairGAT workflow"
    crate.description = f"Results of `{provenance['command']}`, with tables, audit and the scores of every split."
    crate.license = add("https://spdx.org/licenses/MIT", "CreativeWork", name="MIT License")
    crate.root_dataset["conformsTo"] = [
        add(profile, "CreativeWork", name=name, version=profile.rpartition("/")[2])
        for profile, name in PROFILES.items()
    ]
    person = add("#agent", "Person", name=agent)
    kinds = {"@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]}
    workflow = crate.add_workflow(dest_path="workflow/Snakefile", main=True, lang="snakemake", properties=kinds)
    workflow["name"], workflow["version"] = "FairGAT, reproduced", provenance["commit"] or "unknown"
    originals = _raw_files(crate, Path(raw))
    values = [
        (
            add(f"#parameter-{name}", "FormalParameter", name=name, additionalType="Text", valueRequired=False,
                conformsTo={"@id": "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"}),
            add(f"#value-{name}", "PropertyValue", name=name, value=json.dumps(value)),
        )
        for name, value in provenance["config"].items()
    ]  # fmt: skip
    for parameter, value in values:
        value["exampleOfWork"] = parameter
    workflow["input"] = [parameter for parameter, _ in values]
    places = []
    for path in (path for path in PLACES if (results / path).exists()):
        made = crate.add_dataset if path.endswith("/") else crate.add_file
        places.append(made(dest_path=path, properties={"name": path.rstrip("/")}))
        if path in DERIVED:
            places[-1]["conditionsOfAccess"] = ACCESS
    steps, tools, controls = [], [], []
    timed = sorted((*reversed(_times(results / "benchmarks" / rule)), rule) for rule in provenance["rules"])
    for position, (end, start, rule) in enumerate(timed, start=1):
        tool = add(f"#rule-{rule}", "SoftwareApplication", name=rule)
        step = add(f"#step-{rule}", "HowToStep", position=str(position), workExample=tool)
        action = add(
            f"#action-{rule}", "CreateAction", name=rule, instrument=tool, agent=person, startTime=start, endTime=end,
            description=f"{provenance['rules'][rule]['jobs']} jobs",
        )  # fmt: skip
        controls.append(add(f"#control-{rule}", "ControlAction", name=rule, instrument=step, object=action))
        steps.append(step)
        tools.append(tool)
    workflow["step"], workflow["hasPart"] = steps, tools
    engine = add(
        "https://snakemake.github.io", "SoftwareApplication", name="Snakemake",
        softwareVersion=provenance["versions"].get("snakemake", "unknown"), url="https://snakemake.github.io",
    )  # fmt: skip
    times = {"startTime": min(start for _, start, _ in timed), "endTime": timed[-1][0]} if timed else {}
    run = add(
        "#run", "CreateAction", name=provenance["command"], instrument=workflow, agent=person,
        object=[*originals, *(value for _, value in values)], result=places,
        description=", ".join(f"{name} {version}" for name, version in provenance["versions"].items()),
        **times,
    )  # fmt: skip
    add(
        "#engine", "OrganizeAction", name="Snakemake", agent=person, instrument=engine, object=controls, result=run,
        **times,
    )  # fmt: skip
    crate.root_dataset["mentions"] = [run]
    return crate.metadata.generate()


def _raw_files(crate: ROCrate, folder: Path) -> list[Entity]:
    """The raw files, named by where they came from, with their checksums; they are no part of what is deposited."""
    entities = []
    for manifest in sorted(folder.glob("*/manifest.json")):
        for file in read_json(manifest)["files"]:
            entity = ContextEntity(crate, f"#{file['name']}", {"@type": "CreativeWork", "name": file["name"]})
            entity["identifier"], entity["url"] = f"sha256:{file['sha256']}", file.get("source", "unknown")
            entity["conditionsOfAccess"] = ACCESS
            entities.append(crate.add(entity))
    return entities


def _times(place: Path) -> tuple[str, str]:
    """When a rule's first job began and its last one ended, told from Snakemake's benchmark files."""
    paths = [*place.rglob("*.tsv"), *([p] if (p := place.with_suffix(".tsv")).exists() else [])]
    jobs = [(path.stat().st_mtime, float(path.read_text().splitlines()[1].split("\t")[0])) for path in paths]
    start, end = min(end - seconds for end, seconds in jobs), max(end for end, _ in jobs)
    return tuple(datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds") for time in (start, end))
