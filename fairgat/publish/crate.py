"""Describe a run as a Workflow Run RO-Crate, which archives and catalogues read (https://w3id.org/ro/wfrun).

`describe` makes ro-crate-metadata.json: the workflow, its parameters, the raw files with their checksums, and the
results. What each rule cost is in provenance.json.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rocrate.model import ContextEntity, Entity
from rocrate.rocrate import ROCrate

from fairgat.files import read_json

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
DERIVED = (
    "data/graphs/",
    "data/debiased/",
)  # they hold the data sets' features and edges
ACCESS = "Each data set has its licence, if any: docs/data.md"
PLACES = (
    "data/graphs/",
    "data/splits/",
    "data/debiased/",
    "runs/",
    "summary/",
    "runtime/",
    "theory/",
    "account/",
    "tables/",
    "figures/",
    "audit/",
    "studies/",
)


def describe(
    results: str | Path, provenance: Mapping[str, Any], agent: str, raw: str | Path
) -> dict[str, Any]:
    """Make the content of ro-crate-metadata.json.

    Args:
        results: the results directory, which becomes the crate's root; only what is there is described.
        provenance: the content of provenance.json.
        agent: who ran it.
        raw: the folder of the raw files.
    """
    results, crate = Path(results), ROCrate(version="1.1")
    crate.name = "A run of the FairGAT workflow"
    crate.description = f"Results of `{provenance['command']}`, with tables, audit and the scores of every split."
    crate.license = _add(
        crate, "https://spdx.org/licenses/MIT", "CreativeWork", name="MIT License"
    )
    crate.root_dataset["conformsTo"] = [
        _add(
            crate,
            profile,
            "CreativeWork",
            name=name,
            version=profile.rpartition("/")[2],
        )
        for profile, name in PROFILES.items()
    ]
    workflow = crate.add_workflow(
        dest_path="workflow/Snakefile", main=True, lang="snakemake"
    )
    workflow["name"], workflow["version"] = (
        "FairGAT, reproduced",
        provenance["commit"] or "unknown",
    )
    values = [
        _parameter(crate, workflow, name, value)
        for name, value in provenance["config"].items()
    ]
    crate.root_dataset["mentions"] = crate.add_action(
        workflow,
        "#run",
        object=[*_raw_files(crate, Path(raw)), *values],
        result=[_place(crate, path) for path in PLACES if (results / path).exists()],
        properties={
            "name": provenance["command"],
            "agent": _add(crate, "#agent", "Person", name=agent),
            "description": ", ".join(
                f"{name} {version}" for name, version in provenance["versions"].items()
            ),
        },
    )
    return crate.metadata.generate()


def _add(crate: ROCrate, identifier: str, kind: str, /, **properties: Any) -> Entity:
    return crate.add(ContextEntity(crate, identifier, {"@type": kind} | properties))


def _parameter(crate: ROCrate, workflow: Entity, name: str, value: Any) -> Entity:
    """Add a setting as an input of the workflow, and its value."""
    parameter = crate.add_formal_parameter(
        name, "Text", identifier=f"#parameter-{name}"
    )
    workflow.append_to("input", parameter)
    return _add(
        crate,
        f"#value-{name}",
        "PropertyValue",
        name=name,
        value=json.dumps(value),
        exampleOfWork=parameter,
    )


def _place(crate: ROCrate, path: str) -> Entity:
    made = crate.add_dataset if path.endswith("/") else crate.add_file
    access = {"conditionsOfAccess": ACCESS} if path in DERIVED else {}
    return made(dest_path=path, properties={"name": path.rstrip("/")} | access)


def _raw_files(crate: ROCrate, folder: Path) -> list[Entity]:
    """The raw files, named by where they came from, with their checksums; they are no part of what is deposited."""
    files = [
        file
        for manifest in sorted(folder.glob("*/manifest.json"))
        for file in read_json(manifest)["files"]
    ]
    return [
        _add(
            crate,
            f"#{file['name']}",
            "CreativeWork",
            name=file["name"],
            identifier=f"sha256:{file['sha256']}",
            url=file.get("source", "unknown"),
            conditionsOfAccess=ACCESS,
        )
        for file in files
    ]
