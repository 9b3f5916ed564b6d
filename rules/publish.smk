# Where the results come from, and what the repository shows of a whole run.

import shlex


localrules:
    provenance,
    reference,
    readme,


# In the environment and not in params: the same results from another command are still the same results.
os.environ.setdefault("FAIRGAT_COMMAND", shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]))


# Last, so that the other rules' costs are known.
rule provenance:
    input:
        results=shown(),
        selections=PLAN.files("selection"),
        code=code("provenance"),
    output:
        json=reported("provenance.json", "provenance", "Provenance", {"provenance": "Where the results come from"}),
        html=reported("provenance.html", "provenance", "Provenance", {"provenance": "Where the results come from"}),
        crate=results("ro-crate-metadata.json"),
        workflow=results("workflow/Snakefile"),
    log:
        results("logs/provenance.log"),
    benchmark:
        results("benchmarks/provenance.tsv")
    conda:
        ENV
    params:
        benchmarks=results("benchmarks"),
        config=CONFIG.model_dump(mode="json", exclude={"results_dir", "data_mirror"}),
    message:
        "Record where the results come from"
    script:
        "../workflow_scripts/provenance.py"


# Neither this nor `readme` is part of `all`: who publishes, asks for them. It has no output: as one, Snakemake would
# delete the published folder before the job that may fail to replace it.
rule reference:
    input:
        files=published(),
        code=code("reference"),
    log:
        results("logs/reference.log"),
    benchmark:
        results("benchmarks/reference.tsv")
    conda:
        ENV
    params:
        folder=results("reference"),
        readme=None,
    message:
        "Collect what is published into {params.folder}"
    script:
        "../workflow_scripts/reference.py"


use rule reference as readme with:
    log:
        results("logs/readme.log"),
    benchmark:
        results("benchmarks/readme.tsv")
    params:
        readme=str(BASE / "README.md"),
    message:
        "Collect what is published into {params.folder}, and update README.md from it"
