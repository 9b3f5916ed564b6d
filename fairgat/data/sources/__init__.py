"""One module for each kind of data: raw files come in, a `Graph` goes out.

A source has `Options` (what may be set in config.yaml), `files` (what it needs and
where to get it) and `load` (files to graph); `NAMES` lists the data sets it reads
without being named in config.yaml. Look first at `tables.py`. `fairgat.data.datasets`
finds the modules here by their names; one's own come by their path
(docs/extending.md).
"""
