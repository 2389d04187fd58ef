"""What every input must lead to: an answer, or one sentence; and nothing else.

A check reads a file and returns if it got a proper answer. It may raise ValueError or TypeError
with a sentence; any other exception, a hang, a flood of warnings, memory out of proportion or
an attempt to run something is a failure.
"""

import re
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 20.0  # for one input; all are small
WARNINGS = 20  # more from one input are a storm
MEMORY = 500 * 2**20  # bytes that one small input may add to the largest size of the process
FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "subprocess.Popen",
    "socket.connect",
)


class BrokenError(Exception):
    """An input has led to what must never happen."""


@dataclass(frozen=True)
class Outcome:
    """What came of one input: a kind that can be counted, and whether it is a failure."""

    kind: str
    failed: bool = False
    detail: str = ""


_watching: list[str] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event.startswith(FORBIDDEN):
        _watching.append(f"{event} {arguments!r:.200}")


def watch() -> None:
    """Begin to look for programs started and connections made, for the rest of this process."""
    sys.addaudithook(_hook)


def judge(check: Callable[[Path], str | None], path: Path, seconds: float = SECONDS) -> Outcome:
    """Run a check of one file and say what came of it."""
    before = _peak()
    _watching[:] = ["on"]
    try:
        with warnings.catch_warnings(record=True) as caught, _limited(seconds):
            warnings.simplefilter("always")
            outcome = Outcome(check(path) or "answered")
    except TimeoutError as error:
        outcome = Outcome("hangs", True, str(error))
    except (ValueError, TypeError) as error:
        outcome = _refusal(error)
    except BaseException as error:  # whatever it is, it must not get out
        if isinstance(error, KeyboardInterrupt):
            raise
        outcome = Outcome(f"foreign {type(error).__name__}", True, str(error)[:500])
    finally:
        events, _watching[:] = _watching[1:], []
    if events:
        return Outcome("runs something", True, events[0])
    if _peak() - before > MEMORY:
        return Outcome("takes memory", True, f"{(_peak() - before) / 2**20:.0f} MiB")
    if not outcome.failed and len(caught) > WARNINGS:
        return Outcome("storm of warnings", True, str(caught[-1].message))
    return outcome


# Sentences end in a full stop; those of scikit-learn about parameters and samples may not.
OURS = ("doublelogit", "sklearn")


def _refusal(error: Exception) -> Outcome:
    """A refusal by its words, without those that differ from input to input."""
    text = " ".join(str(error).split())
    if len(text) < 12 or " " not in text:
        return Outcome(f"no sentence: {type(error).__name__}", True, text)
    if not _raised_in(error):
        return Outcome(f"foreign {type(error).__name__}", True, text[:500])
    words = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\S*/\S*|\d[\d.e+-]*", "_", text)
    rule, _, reason = words.partition(": ")
    said = [*rule.split()[:8], *([":", *reason.split()[:4]] if reason else [])]
    return Outcome(f"{type(error).__name__}: {' '.join(said)}")


def _raised_in(error: BaseException) -> bool:
    """Whether the exception was raised by the library or by scikit-learn's checks on its behalf."""
    frame = error.__traceback__
    module = ""
    while frame is not None:
        module = str(frame.tb_frame.f_globals.get("__name__", ""))
        frame = frame.tb_next
    return module.startswith(OURS)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise TimeoutError(f"no answer within {seconds:g} s")

    # of the processor's time, so that a busy machine changes nothing
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def proper(probabilities: Any) -> None:
    """Refuse to call an answer what is not finite or outside of [0, 1]."""
    import numpy as np

    p = np.asarray(probabilities, dtype=float)
    if not (np.isfinite(p).all() and (p >= 0).all() and (p <= 1).all()):
        raise BrokenError(f"probabilities outside of [0, 1]: {p[~((p >= 0) & (p <= 1))][:3]}")
