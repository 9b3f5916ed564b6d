"""Update the README's generated part from the published results."""

from _log import logged

with logged(snakemake):
    import os
    from pathlib import Path

    from fairgat.files import write_text
    from fairgat.reporting.reference import insert, summary

    readme, folder = Path(snakemake.params.readme), snakemake.input.folder
    link = Path(os.path.relpath(folder, readme.parent)).as_posix()
    write_text(readme, insert(readme.read_text(encoding="utf-8"), summary(folder, link)))
