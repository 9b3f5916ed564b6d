"""Compare the variants of a study with what they vary: the numbers, the table, and a figure per task."""

from _log import logged

with logged(snakemake):
    from pathlib import Path

    from fairgat.files import read_json, write_text
    from fairgat.reporting import study, style
    from fairgat.scores import runs

    settings, output = snakemake.params.settings, snakemake.output
    frame = study.compare(settings, runs.read(*snakemake.input.runs), map(read_json, snakemake.input.selections))
    runs.write(output.differences, frame[list(study.COLUMNS)])
    for path in output.table:
        write_text(path, study.text(settings, frame, Path(path).suffix[1:]))
    for task in study.tasks(frame):
        paths = {path.suffix[1:]: path for path in map(Path, output.figures) if path.stem == task}
        style.save(study.figure(settings, frame, task), paths)
