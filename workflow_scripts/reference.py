"""Collect what is published of a run; for the rule `readme`, update README.md and docs/ from it."""

from _log import logged

with logged(snakemake):
    import os
    from pathlib import Path

    from fairgat.files import write_text
    from fairgat.publish.reference import collect, quoted

    params = snakemake.params
    folder = Path(params.folder)
    collect(snakemake.input.files, folder.parent, folder)
    if params.readme:
        for page in [Path(params.readme), *sorted(Path(params.readme).parent.glob("docs/*.md"))]:
            link = Path(os.path.relpath(folder, page.parent)).as_posix()
            text = page.read_text(encoding="utf-8")
            if (fresh := quoted(text, folder, link)) != text:
                write_text(page, fresh)
