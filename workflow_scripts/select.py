"""Choose a cell of one method on one data set."""

from _log import logged

with logged(snakemake):
    from pathlib import Path

    from fairgat import finished
    from fairgat.files import write_json
    from fairgat.scores.runs import read_all
    from fairgat.scores.selection import select

    write_json(
        snakemake.output[0],
        select(
            read_all(snakemake.input.metrics, snakemake.params.made_with),
            rule=snakemake.params.rule,
            tolerance=snakemake.params.tolerance,
            published=snakemake.params.published,
        ),
    )
    for path in snakemake.input.metrics:
        finished.forget(Path(path).parent)
