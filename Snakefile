from snakemake.utils import min_version

min_version("9.10")


report: "rules/report/workflow.rst"


container: "docker://condaforge/miniforge3:24.11.3-0"


include: "rules/common.smk"
include: "rules/inputs.smk"


if CONFIG.judge_from:

    include: "rules/judge_from.smk"

else:

    include: "rules/data.smk"
    include: "rules/train.smk"
    include: "rules/theory.smk"


include: "rules/select.smk"
include: "rules/report.smk"


if STUDY:

    include: "rules/study.smk"


include: "rules/publish.smk"


rule all:
    default_target: True
    input:
        shown(),
        rules.provenance.output,
    localrule: True


onstart:
    say_what_stands_in()
    check_methods()
    leave_key()
    fairgat.files.remove_unfinished(CONFIG.results_dir)
    fairgat.processes.kill_jobs_at_second_interrupt()


onsuccess:
    say_what_happened()


onerror:
    say_what_happened()
