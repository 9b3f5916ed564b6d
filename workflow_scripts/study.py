"""Compare the variants of a study with what they vary: the numbers, the table, and figures."""

from fairgat.job_log import logged

with logged(snakemake):
    from pathlib import Path

    from fairgat import frames
    from fairgat.config.shown import StudySettings
    from fairgat.files import read_json, write_text
    from fairgat.report import along, attributes, dose, forest, inputs, study, style
    from fairgat.report.render import render
    from fairgat.report.tables import theory
    from fairgat.scores import runs
    from fairgat.scores.regrouped import regrouped

    settings, output = StudySettings.model_validate(snakemake.params.settings), snakemake.output
    shards = runs.read_shards(snakemake.input.runs, snakemake.params.shards)
    selections = [read_json(path) for path in snakemake.input.selections]
    frame = study.compare(settings, shards, selections)
    frames.write(output.differences, frame[list(study.COLUMNS)])
    frames.write(output.scores, study.scores(settings, shards, frame))
    table = study.table(settings, frame)
    for path in output.table:
        write_text(path, render(table, Path(path).suffix[1:]))
    figures = {}
    if settings.along:
        terms = theory.read(snakemake.input.theory) if snakemake.input.theory else None
        figures["along"] = along.figure(settings, frame, inputs.by_dataset(snakemake.input.stats), terms)
    if settings.dose:
        accounts = frames.read(*snakemake.input.account)
        curve = dose.curve(settings, shards, accounts)
        predicted = dose.predicted(settings, curve, accounts)
        for path, rows in zip(output.dose, (curve, predicted), strict=True):
            frames.write(path, rows)
        figures["dose"] = dose.figure(settings, curve, predicted)
    figures = figures or {task: forest.figure(settings, frame, task) for task in study.tasks(frame)}
    if settings.attributes:
        stats = inputs.by_dataset(snakemake.input.stats)
        for asked in snakemake.params.regrouped:
            winners = {each["method"]: each["winner"] for each in selections if each["dataset"] == asked["dataset"]}
            more = regrouped(shards, winners, **asked)
            settings, shards, frame = attributes.with_others(settings, shards, frame, more, asked["dataset"], stats)
        rows = attributes.gaps(settings, shards, frame, stats)
        frames.write(output.attributes[0], rows)
        figures["attributes"] = attributes.figure(settings, rows)
    for name, drawn in figures.items():
        style.save(drawn, {path.suffix[1:]: path for path in map(Path, output.figures) if path.stem == name})
