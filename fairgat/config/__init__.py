"""What may be asked for: config.yaml, checked.

In: a mapping, or YAML files laid over each other (`reading.py`, `strict_yaml.py`). Out:
a frozen `Config` (`models.py`, `entries.py`, `protocol.py` and `study.py`, where each
key is documented), or a `ConfigError` that names each wrong key by its path, what was
expected and the nearest valid name (`messages.py`). What a method or a data source
understands under `settings`, `grid` and `options` is declared beside it, and checked by
`fairgat.methods.check` and `fairgat.data.datasets.check`.
"""

from fairgat.config.command_line import check_command
from fairgat.config.entries import Dataset, Method
from fairgat.config.messages import explain
from fairgat.config.models import Config
from fairgat.config.names import declared_elsewhere
from fairgat.config.pages import PUBLISHED, SCORES, Look, TableEntry
from fairgat.config.protocol import (
    TASKS,
    Count,
    Device,
    LinkTraining,
    Model,
    NodeTraining,
    PathText,
    Runtime,
    Splits,
    Task,
    Training,
    normal_path,
    regular,
)
from fairgat.config.reading import (
    DEFAULTS,
    lay_over,
    load,
    load_files,
    merge,
    read_file,
)
from fairgat.config.strict_yaml import read_value, read_yaml
