"""What one study alone needs: short scripts from the CSV files that it publishes to a figure and a table beside them.

`python -m analyses FOLDER` runs, on each study under a folder such as results/reference/studies, the scripts below that
are made for it.
"""
