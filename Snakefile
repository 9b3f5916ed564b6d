from snakemake.utils import min_version

min_version("9.10")


configfile: "config.yaml"


report: "rules/report/workflow.rst"


container: "docker://condaforge/miniforge3:24.11.3-0"


include: "rules/common.smk"
include: "rules/download.smk"
include: "rules/preprocess.smk"
include: "rules/debias.smk"
include: "rules/train.smk"
include: "rules/select.smk"
include: "rules/aggregate.smk"
include: "rules/runtime.smk"
include: "rules/tables.smk"
include: "rules/audit.smk"
include: "rules/figures.smk"
include: "rules/theory.smk"
include: "rules/sensitivity.smk"
include: "rules/provenance.smk"
include: "rules/reference.smk"


rule all:
    default_target: True
    input:
        tables(),
        bias_reports(),
        audit(),
        figures(),
        theory(),
        provenance(),
    localrule: True


onstart:
    follow_progress()


onsuccess:
    say_what_was_made()


onerror:
    say_what_was_made()
