"""What one study alone needs: from its published CSV files to a figure and a table.

`python -m beyond.analyses FOLDER` runs, on each study under a folder such as
results/reference/studies, the scripts below that are made for it.
"""
