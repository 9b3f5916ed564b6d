"""Say where results come from, and take them out of the house.

In: a finished run. Out: its provenance and RO-Crate, the published folder
(`reference`), the comparison of two runs, and what a run says at its end (`outcome`).
Start with `reference`.
"""
