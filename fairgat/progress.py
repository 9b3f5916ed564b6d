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
from functools import partial
from itertools import chain
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
_RENEWED = re.compile(r"Input files updated by another job: (.*?)(; |$)", re.DOTALL)
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
        self.failed_jobs = set[int]()
        self.reasons = set[tuple[str, str]]()  # of rules, each of which is told once
        self.started = self.last_line = time.monotonic()
        self.done = self.total = 0  # jobs
        self.next_line = 0  # the number of jobs done at which it is due

    def emit(self, record: logging.LogRecord) -> None:
        """Hear of a job that begins, ends or fails, or of the progress."""
        about = vars(record)
        match getattr(about.get("event"), "name", ""):
            case "JOB_INFO":
                self._tell_reason(about)
            case "JOB_ERROR":
                self.failed_jobs.add(about["jobid"])
                self._tell_progress(failed=True)
            case "JOB_FINISHED":  # perhaps in a further try
                self.failed_jobs.discard(about["job_id"])
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
        is_due = self.done >= self.next_line or now - self.last_line > LONGEST
        if not (is_due or failed):
            return
        self.next_line = self.done + max(self.total // LINES, 1)
        self.last_line = now

        minutes = (now - self.started) / 60
        of_all = f" of {self.total}" if self.total else ""
        text = f"{self.done}{of_all} jobs done after {minutes:.0f} min"
        if self.failed_jobs:
            text += f", {len(self.failed_jobs)} failed"
        self.logger.info(text)

    def _tell_reason(self, about: Mapping[str, Any]) -> None:
        """Say why a job is done again, once for a rule and a reason."""
        rule = about["rule_name"]
        reason = changed(about["reason"])
        if not reason and rule in _TRAINING:  # other consequences take no time
            reason = renewed(about["reason"])
        if not reason or (rule, reason) in self.reasons:
            return
        self.reasons.add((rule, reason))
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
    match = _CHANGED.search(reason)
    if not match or reason.startswith(_NOT_DONE):
        return ""
    before, now = map(_values, match.groups())
    names = list(dict.fromkeys(_changes(before, now)))
    if not names:
        return "its settings have changed"
    if len(names) > _MOST:
        names = [*names[:_MOST], f"{len(names) - _MOST} more"]
    *others, last = names
    if not others:
        return f"{last} has changed"
    return f"{', '.join(others)} and {last} have changed"


def renewed(reason: str) -> str:
    """Say in people's words which input of a job is made again, as `changed` does."""
    match = _RENEWED.search(reason)
    if not match or reason.startswith(_NOT_DONE):
        return ""
    for folder, title in _INPUTS.items():  # of several files the first of these
        if f"/data/{folder}/" in match[1]:
            return f"{title} is made again"
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
            # Params have no names here: the one with most keys in common is meant.
            candidates = [each for each in before if isinstance(each, dict)]
            in_common = partial(_keys_in_common, value)
            earlier = max(candidates, key=in_common, default={})
            yield from _differences(earlier, value)
        elif isinstance(value, str) and _DIGEST.fullmatch(value):
            yield "the code"
        elif isinstance(value, list):
            lists = [each for each in before if isinstance(each, list)]
            yield from _changed_files(value, lists)
        else:
            yield f"a setting (now {value!r})"


def _keys_in_common(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
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


def _changed_files(now: list[Any], before: list[list[Any]]) -> Iterator[str]:
    """Name the files, given as `NAME DIGEST`, whose content is another one."""
    unchanged = list(chain.from_iterable(before))
    for entry in now:
        match = _FILE.fullmatch(str(entry))
        if match and entry not in unchanged:
            yield match[1]
