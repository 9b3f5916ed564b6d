"""What goes beyond the paper: further methods, data sets and studies.

`fairgat` knows nothing of it. Methods and sources come in by their path, as one's own
do (docs/extending.md): an overlay of `studies/` says `module: ../methods/fairsin.py`.
`analyses/` draws what single studies need.
"""
