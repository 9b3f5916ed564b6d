"""Read YAML, and refuse what it would read otherwise than it stands there."""

import re
from pathlib import Path
from typing import Any

import yaml

from fairgat.errors import ConfigError
from fairgat.files import irregular

LARGEST = 1 << 20  # bytes of a config file; the largest of ours has 30,000
MOST_NODES = 100_000
DEEPEST = 50
_OCTAL = re.compile(r"[+-]?0[\d_]")


def read_yaml(path: str | Path) -> dict[str, Any]:
    """Read a config file as it stands.

    Raises:
        ConfigError: it is missing, no regular file, too large or too deep, is not YAML,
            has no keys, has one twice, or holds a number that YAML reads as another.
    """
    try:
        content = yaml.load(_text(Path(path)), _Loader)
    except FileNotFoundError:
        raise ConfigError(f"{path} does not exist") from None
    except OSError as error:  # no permission
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}; give a file like config.yaml"
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start})"
        ) from None
    except (yaml.YAMLError, ValueError) as error:  # the latter for the 30th of February
        raise ConfigError(f"{path} is not YAML: {error}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path} must hold keys and values, as config.yaml does")
    return content


def _text(path: Path) -> str:
    """Read a config file's text; refuse one that never ends, or is none."""
    what = irregular(path)
    if what:
        raise ConfigError(f"it is {what}; give a file like config.yaml")
    if path.stat().st_size > LARGEST:
        raise ConfigError(f"it has more than {LARGEST} bytes")
    return path.read_text(encoding="utf-8")


def read_value(text: str, where: str) -> Any:
    """Read one value as a config file would.

    Raises:
        ConfigError: it is not YAML, or YAML reads it as another number or as a flag
            that does not look like one.
    """
    try:
        value = yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError):  # the latter for the 30th of February
        raise ConfigError(f"{where} takes a single value, got {text!r}") from None
    except ConfigError as error:
        _, _, what = str(error).partition(": ")  # without the line's number
        raise ConfigError(f"{where}: {what}") from None
    if isinstance(value, bool) and text.lower() not in ("true", "false"):
        raise ConfigError(
            f"{where}: YAML reads {text} as {str(value).lower()}; write that if it is "
            "meant"
        )
    return value


class _Loader(yaml.SafeLoader):
    """Refuses what YAML reads otherwise than it stands there, and what has no end."""

    depth = 0

    def get_single_node(self) -> yaml.Node | None:
        """Refuse aliases that expand to more than `MOST_NODES`, or hold themselves."""
        root = super().get_single_node()
        if root is not None:
            _expanded(root, {})
        return root

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Refuse what is nested more deeply than a reader of YAML can follow."""
        self.depth += 1
        if self.depth > DEEPEST:
            line = self.peek_event().start_mark.line + 1
            raise ConfigError(f"line {line}: nested more than {DEEPEST} deep")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        """Refuse a key that is there twice: YAML takes the last."""
        node = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key in (
            key
            for key, _ in node.value
            if isinstance(key, yaml.ScalarNode) and key.value != "<<"
        ):
            line, first = key.start_mark.line + 1, lines.get((key.tag, key.value))
            if first:
                raise ConfigError(
                    f"{key.value} stands on line {first} and again on line {line}; "
                    "keep one of them"
                )
            lines[key.tag, key.value] = line
        return node

    def compose_scalar_node(self, anchor: str | None) -> yaml.ScalarNode:
        """Refuse numbers that YAML 1.1 reads as others: 010 as 8, and 12:30 as 750."""
        node = super().compose_scalar_node(anchor)
        if not node.tag.endswith((":int", ":float")):
            return node
        number, base = yaml.safe_load(node.value), 10
        if ":" in node.value:
            base = 60
        elif _OCTAL.match(node.value):
            decimal = float(node.value.replace("_", ""))
            base = 10 if number == decimal else 8
        if base != 10:
            raise ConfigError(
                f"line {node.start_mark.line + 1}: YAML reads {node.value} as "
                f"{number}, in base {base}; write the number that is meant or, for a "
                f"text, '{node.value}' in quotes"
            )
        return node


def _expanded(
    node: yaml.Node, known: dict[int, tuple[int, int] | None]
) -> tuple[int, int]:
    """Count a node and all below it, each as often as aliases name it, and the levels.

    Raises:
        ConfigError: there are too many of either, or a node is below itself.
    """
    if isinstance(node, yaml.ScalarNode):
        return 1, 1
    where = f"line {node.start_mark.line + 1}"
    if id(node) in known:
        size = known[id(node)]
        if size is None:
            raise ConfigError(f"{where}: an alias names what it is a part of")
        return size
    known[id(node)] = None
    count, below = 1, 0
    for part in node.value:
        pair = part if isinstance(part, tuple) else (part,)
        for each in pair:
            more, levels = _expanded(each, known)
            count += more
            below = max(below, levels)
    if count > MOST_NODES:
        raise ConfigError(
            f"{where}: it has, with its aliases, more than {MOST_NODES} values"
        )
    if below >= DEEPEST:
        raise ConfigError(f"{where}: aliases nest it more than {DEEPEST} deep")
    known[id(node)] = count, below + 1
    return count, below + 1
