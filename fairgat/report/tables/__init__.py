"""One module a table, found by its name.

Each declares READS (the kinds of files that it reads, see `fairgat.plan.Plan.files`) and TASK (None for both), as
literals before any other import, and has `build(settings, files)`, which gives a `fairgat.report.model.Table`.
`settings` are those of `fairgat.config.shown.TableSettings`, `files` maps each kind to its paths. Its row of
methods is the line in config.yaml under `tables:`. Names with an underscore are shared by several tables.
"""
