"""One module a table, found by its name or by the `kind` of its entry in config.yaml.

`scores` makes most of them.

Each declares READS (the kinds of files that it reads, see `fairgat.plan.Plan.files`)
and TASK (None for both, or where its entry says it), as literals before any other
import, and has `build(settings, files)`, which gives a `fairgat.report.model.Table`.
`settings` are `fairgat.config.shown.Shown`, `files` maps each kind to its paths. Names
with an underscore are shared by several tables.
"""
