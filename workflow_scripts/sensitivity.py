"""Compare the sensitivity study's variants with their methods, and render the table in every format."""

from _log import logged

with logged(snakemake):
    from pathlib import Path

    from fairgat import finished
    from fairgat.files import write_text
    from fairgat.reporting import sensitivity
    from fairgat.reporting.render import FORMATS
    from fairgat.scores.runs import read_all

    blocks = snakemake.params.blocks
    records = read_all(snakemake.input.metrics, snakemake.params.made_with)
    frame = sensitivity.compare(blocks, records, snakemake.params.ddof)
    write_text(snakemake.output.differences, frame.to_csv(index=False, float_format="%.10g", lineterminator="\n"))
    for form in FORMATS:
        write_text(snakemake.output[form], sensitivity.text(blocks, frame, form))
    for path in snakemake.input.metrics:
        finished.forget(Path(path).parent)
