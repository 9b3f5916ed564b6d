"""The subcommands of `fairgat`, a module each: `add_parser(subparsers)` declares it, its `run` does it."""
