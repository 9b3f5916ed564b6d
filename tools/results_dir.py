"""Print where a Snakemake command writes its results: --config over --configfile.

`make` needs it for the report.
"""

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
    found = None
    for path in ("config.yaml", *given.configfile):
        asked = read_file(path).get("results_dir")
        if asked is not None:
            found = asked
    for entry in given.config:
        name, _, value = entry.partition("=")
        if name == "results_dir":
            found = value
    return normal_path(found)


if __name__ == "__main__":
    try:
        print(find(sys.argv[1:]))
    except (ConfigError, ValueError) as error:
        sys.exit(str(error))
