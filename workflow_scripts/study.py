"""Compare the variants of a study with what they vary: numbers, table, figures."""

from fairgat.job_log import logged

with logged(snakemake):
    from pathlib import Path

    import pandas as pd

    from fairgat import frames
    from fairgat.config.shown import StudySettings
    from fairgat.files import read_json, write_text
    from fairgat.measures import adopt
    from fairgat.report import forest, study, study_table, style
    from fairgat.report.render import render
    from fairgat.scores import runs
    from fairgat.scores.regrouped import regrouped

    adopt(snakemake.config["measures"])

    settings = StudySettings.model_validate(snakemake.params.settings)
    output = snakemake.output
    shards = runs.read_shards(snakemake.input.runs, snakemake.params.shards)
    selections = [read_json(path) for path in snakemake.input.selections]
    frame = study.compared(settings, shards, selections)
    frames.write(output.differences, study.differences(frame))

    scores = [study.scores(settings, shards, frame)]
    for options in snakemake.params.regrouped:
        of_dataset = [s for s in selections if s["dataset"] == options["dataset"]]
        winners = {each["method"]: each["winner"] for each in of_dataset}
        scores.append(regrouped(winners=winners, **options))
    frames.write(output.scores, pd.concat(scores))
    stats = map(read_json, snakemake.input.stats)
    frames.write(output.graphs, study.graphs(stats))
    if output.accounts:
        accounts = frames.read(*snakemake.input.account)
        frames.write(output.accounts[0], accounts[accounts["layer"] == "logit"])

    table = study_table.table(settings.study, frame)
    for path in map(Path, output.table):
        write_text(path, render(table, path.suffix[1:]))
    for task in frame["task"].unique():
        paths = [Path(path) for path in output.figures if Path(path).stem == task]
        drawn = forest.figure(settings.study, frame, task)
        style.save(drawn, {path.suffix[1:]: path for path in paths})
