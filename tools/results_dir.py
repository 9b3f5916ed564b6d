"""Print where a Snakemake command writes its results, as `make` needs it for the report: --config over --configfile."""

import argparse
import sys
from collections.abc import Sequence

from fairgat.config import check_command, normal_path, read_file
from fairgat.errors import ConfigError


def find(arguments: Sequence[str]) -> str:
    """The `results_dir` of a command line of Snakemake.

    Raises:
        ConfigError: a config file cannot be read, or Snakemake would refuse --config.
        ValueError: it is not a path.
    """
    check_command(arguments)
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    parser.add_argument("--config", "-C", nargs="*", default=[])
    given, _ = parser.parse_known_args(arguments)
    asked = [
        read_file(path).get("results_dir")
        for path in ("config.yaml", *given.configfile)
    ]
    asked += [
        value
        for name, _, value in (entry.partition("=") for entry in given.config)
        if name == "results_dir"
    ]
    return normal_path([path for path in asked if path is not None][-1])


if __name__ == "__main__":
    try:
        print(find(sys.argv[1:]))
    except (ConfigError, ValueError) as error:
        sys.exit(str(error))
