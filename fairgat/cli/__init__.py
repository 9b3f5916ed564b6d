"""The subcommands of `fairgat`, a module each.

`declare(parser)` adds its arguments, `run` does it.
"""
