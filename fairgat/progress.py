"""What a run of the workflow says while it goes on, beside what Snakemake says.

Where there is no terminal for its bars, a line every so many jobs; and everywhere, in
people's words, why something that is finished is made again.
"""

import ast
import logging
import re
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

LINES = 20
"""How many lines tell of a run."""
LONGEST = 300.0  # seconds from one line to the next, where jobs end meanwhile
_CHANGED = re.compile(
    r"Params have changed since last execution: Union of exclusive params before and "
    r"now across all output: before: (.*?) now: (.*)",
    re.DOTALL,
)
_NOTHING = "<nothing exclusive>"
_RENEWED = re.compile(r"Input files updated by another job: (\S+?)(,|;|$)")
_DIGEST = re.compile("[0-9a-f]{64}")
_FILE = re.compile(r"(.+) ([0-9a-f]{64}|is missing)")
_MOST = 3  # changes that a line names
_NOT_DONE = ("Missing output files", "Forced execution")
_INPUTS = {"graphs": "the graph", "splits": "the split", "debiased": "its graph"}
_TRAINING = ("debias", "train")


class Lines(logging.Handler):
    """Listens to Snakemake's log, and adds lines to it.

    Args:
        logger: Snakemake's.
        terminal: whether bars show the progress.
    """

    def __init__(self, logger: logging.Logger, terminal: bool) -> None:
        super().__init__()
        self.logger = logger
        self.terminal = terminal
        self.failed = set[int]()
        self.told = set[tuple[str, str]]()
        self.started = self.last = time.monotonic()
        self.done = self.total = self.next = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Hear of a job that begins, ends or fails, or of the progress."""
        about = vars(record)
        match getattr(about.get("event"), "name", ""):
            case "JOB_INFO":
                self._tell_reason(about)
            case "JOB_ERROR":
                self.failed.add(about["jobid"])
                self._tell_progress(failed=True)
            case "JOB_FINISHED":  # perhaps in a further try
                self.failed.discard(about["job_id"])
            case "PROGRESS":
                self.done = about["done"]
                self.total = about["total"]
                self._tell_progress()

    def _tell_progress(self, failed: bool = False) -> None:
        """Say how many jobs are done, where it is time to or one has just failed."""
        handlers = {handler.name for handler in self.logger.handlers}
        if self.terminal or "DefaultStreamHandler" in handlers:
            return  # which has a line for each job
        now = time.monotonic()
        due = self.done >= self.next or now - self.last > LONGEST
        if not (due or failed):
            return
        self.next = self.done + max(self.total // LINES, 1)
        self.last = now

        minutes = (now - self.started) / 60
        of_all = f" of {self.total}" if self.total else ""
        text = f"{self.done}{of_all} jobs done after {minutes:.0f} min"
        if self.failed:
            text += f", {len(self.failed)} failed"
        self.logger.info(text)

    def _tell_reason(self, about: Mapping[str, Any]) -> None:
        rule = about["rule_name"]
        reason = changed(about["reason"])
        if not reason and rule in _TRAINING:  # other consequences take no time
            reason = renewed(about["reason"])
        if not reason or (rule, reason) in self.told:
            return
        self.told.add((rule, reason))
        job = about["rule_msg"] or f"rule {rule}"
        self.logger.info(f"Again, as {reason}: {job}")


def listen(logger: logging.Logger) -> None:
    """Add lines to Snakemake's log."""
    logger.addHandler(Lines(logger, sys.stderr.isatty()))


def changed(reason: str) -> str:
    """Say in people's words which settings of a job are others than when it was done.

    Args:
        reason: Snakemake's, for doing it again.

    Returns:
        Half a sentence; empty where it was not done before, or for other reasons.
    """
    found = _CHANGED.search(reason)
    if not found or reason.startswith(_NOT_DONE):
        return ""
    before, now = map(_values, found.groups())
    named = list(dict.fromkeys(_changes(before, now)))
    if not named:
        return "its settings have changed"
    if len(named) > _MOST:
        named = [*named[:_MOST], f"{len(named) - _MOST} more"]
    *others, last = named
    if not others:
        return f"{last} has changed"
    return f"{', '.join(others)} and {last} have changed"


def renewed(reason: str) -> str:
    """Say in people's words which input of a job is made again, as `changed` does."""
    found = _RENEWED.search(reason)
    if not found or reason.startswith(_NOT_DONE):
        return ""
    for folder, what in _INPUTS.items():
        if f"/data/{folder}/" in found[1]:
            return f"{what} is made again"
    return "what it is made of is made again"


def _values(text: str) -> list[Any]:
    """Read params as Snakemake writes them, one after the other."""
    text = text.strip()
    if text == _NOTHING:
        return []
    try:
        return ast.literal_eval(f"[{text}]")
    except (SyntaxError, ValueError):
        return []


def _changes(before: list[Any], now: list[Any]) -> Iterator[str]:
    """Name what differs between the params of before and of now."""
    for value in now:
        if isinstance(value, dict):
            earlier = [each for each in before if isinstance(each, dict)]
            closest = max(earlier, key=lambda each: _alike(each, value), default={})
            yield from _differences(closest, value)
        elif isinstance(value, str) and _DIGEST.fullmatch(value):
            yield "the code"
        elif isinstance(value, list):
            yield from _files(
                value, [each for each in before if isinstance(each, list)]
            )
        else:
            yield f"a setting (now {value!r})"


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    return len(one.keys() & other.keys())


def _differences(
    before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = ""
) -> Iterator[str]:
    """Name the keys of nested settings whose value is another one."""
    for key in dict.fromkeys([*before, *now]):
        one, other = before.get(key), now.get(key)
        path = f"{prefix}{key}"
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _differences(one, other, f"{path}.")
        elif one != other:
            yield path


def _files(now: list[Any], earlier: list[list[Any]]) -> Iterator[str]:
    """Name the files whose content is another one."""
    known = [each for one in earlier for each in one]
    for each in now:
        found = _FILE.fullmatch(str(each))
        if found and each not in known:
            yield found[1]
