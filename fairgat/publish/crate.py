"""Describe a run as a Workflow Run RO-Crate, which archives and catalogues read.

`describe` makes ro-crate-metadata.json (https://w3id.org/ro/wfrun): the workflow, its
parameters, the raw files with their checksums, and the results. What each rule cost is
in provenance.json.
"""

import json
from collections.abc import Iterable, Mapping
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
# They hold the data sets' features and edges.
DERIVED = ("data/graphs/", "data/debiased/")
ACCESS = "Each data set has its licence, if any: docs/data.md"
PLACES = (
    "data/graphs/",
    "data/splits/",
    "data/debiased/",
    "runs/",
    "summary/",
    "perfect/",
    "runtime/",
    "theory/",
    "account/",
    "tables/",
    "figures/",
    "audit/",
    "studies/",
)


def describe(
    results: str | Path,
    provenance: Mapping[str, Any],
    agent: str,
    manifests: Iterable[str | Path],
) -> dict[str, Any]:
    """Make the content of ro-crate-metadata.json.

    Args:
        results: the results directory, which becomes the crate's root; only what is
            there is described.
        provenance: the content of provenance.json.
        agent: who ran it.
        manifests: manifest.json of the raw files of each data set that was run; those
            that are not there are passed over.
    """
    crate = ROCrate(version="1.1")
    crate.name = "A run of the FairGAT workflow"
    crate.description = (
        f"Results of `{provenance['command']}`, with tables, audit and the scores of "
        "every split."
    )
    licence = "https://spdx.org/licenses/MIT"
    crate.license = _add(crate, licence, "CreativeWork", name="MIT License")
    crate.root_dataset["conformsTo"] = _profiles(crate)

    file = "workflow/Snakefile"
    workflow = crate.add_workflow(dest_path=file, main=True, lang="snakemake")
    workflow["name"] = "FairGAT, reproduced"
    workflow["version"] = provenance["commit"] or "unknown"
    values = _parameters(crate, workflow, provenance["config"])
    used = [*_raw_files(crate, manifests), *values]
    there = [place for place in PLACES if (Path(results) / place).exists()]
    made = [_place(crate, place) for place in there]
    versions = [f"{name} {each}" for name, each in provenance["versions"].items()]
    about = {
        "name": provenance["command"],
        "agent": _add(crate, "#agent", "Person", name=agent),
        "description": ", ".join(versions),
    }
    crate.root_dataset["mentions"] = crate.add_action(
        workflow,
        "#run",
        object=used,
        result=made,
        properties=about,
    )
    return crate.metadata.generate()


def _add(crate: ROCrate, identifier: str, kind: str, /, **properties: Any) -> Entity:
    return crate.add(ContextEntity(crate, identifier, {"@type": kind} | properties))


def _profiles(crate: ROCrate) -> list[Entity]:
    """Add what the crate conforms to."""
    profiles = []
    for url, name in PROFILES.items():
        _, _, version = url.rpartition("/")
        profiles.append(_add(crate, url, "CreativeWork", name=name, version=version))
    return profiles


def _parameters(
    crate: ROCrate, workflow: Entity, config: Mapping[str, Any]
) -> list[Entity]:
    """Add each setting as an input of the workflow; return their values."""
    values = []
    for name, value in config.items():
        identifier = f"#parameter-{name}"
        parameter = crate.add_formal_parameter(name, "Text", identifier=identifier)
        workflow.append_to("input", parameter)
        about = {"name": name, "value": json.dumps(value), "exampleOfWork": parameter}
        values.append(_add(crate, f"#value-{name}", "PropertyValue", **about))
    return values


def _raw_files(crate: ROCrate, manifests: Iterable[str | Path]) -> list[Entity]:
    """Add the raw files, which are no part of what is deposited.

    They are named by where they came from, and have their checksums.
    """
    added = {}  # each once, as several data sets may be made of one file
    for manifest in manifests:
        if not Path(manifest).exists():  # of an earlier run that is judged
            continue
        for file in read_json(manifest)["files"]:
            about = {
                "name": file["name"],
                "identifier": f"sha256:{file['sha256']}",
                "url": file.get("source", "unknown"),
                "conditionsOfAccess": ACCESS,
            }
            name = f"#{file['name']}"
            added[name] = _add(crate, name, "CreativeWork", **about)
    return [*added.values()]


def _place(crate: ROCrate, path: str) -> Entity:
    """Add a folder of the results."""
    properties = {"name": path.rstrip("/")}
    if path in DERIVED:
        properties["conditionsOfAccess"] = ACCESS
    return crate.add_dataset(dest_path=path, properties=properties)
