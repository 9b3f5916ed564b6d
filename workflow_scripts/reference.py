"""Collect what is published of a run; for the rule `readme`, update README.md from it."""

from _log import logged

with logged(snakemake):
    import os
    from pathlib import Path

    from fairgat.files import write_text
    from fairgat.reporting.reference import collect, insert, summary

    folder = Path(snakemake.params.folder)
    studies = [path for path in Path(snakemake.params.studies).rglob("*.*") if path.suffix not in (".html", ".png")]
    collect([*snakemake.input.files, *sorted(studies)], folder.parent, folder)
    if snakemake.params.readme:
        readme = Path(snakemake.params.readme)
        link = Path(os.path.relpath(folder, readme.parent)).as_posix()
        write_text(readme, insert(readme.read_text(encoding="utf-8"), summary(folder, link)))
