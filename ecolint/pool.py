"""Analyses files in several processes. A process that dies takes down one file, not the run."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_all_start_methods, get_context
from typing import TypeAlias

from ecolint.action import Action
from ecolint.analysis import Outcome, analyse_file
from ecolint.discovery import Source, display_path
from ecolint.project import Project

Task: TypeAlias = tuple[Source, Project, Action]


def in_parallel(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """Analyse files in `jobs` processes; outcomes come as they are done.

    The first file of each kind is analysed here, so that what its front-end needs is loaded
    once and shared. The largest go first, lest one of them be started last.
    """
    firsts = {task[0].kind: task for task in reversed(tasks)}
    early = [task for task in tasks if firsts[task[0].kind] is task]
    for task in early:
        yield analyse_file(*task)
    rest = sorted((t for t in tasks if firsts[t[0].kind] is not t), key=_size, reverse=True)
    orphans: list[Task] = []
    with _executor(jobs) as executor:
        waiting = {executor.submit(analyse_file, *task): task for task in rest}
        try:
            for future in as_completed(waiting):
                outcome = _outcome(future)
                if outcome is None:
                    orphans.append(waiting[future])
                else:
                    yield outcome
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
    for task in orphans:
        yield _alone(task)


def _executor(jobs: int) -> ProcessPoolExecutor:
    # Forked processes share what is loaded; elsewhere each must import it all again.
    method = "fork" if "fork" in get_all_start_methods() else None
    return ProcessPoolExecutor(jobs, mp_context=get_context(method))


def _outcome(future: "Future[Outcome]") -> Outcome | None:
    """What came of a file; None where its process died, perhaps over another file."""
    try:
        return future.result()
    except BrokenProcessPool:
        return None


def _alone(task: Task) -> Outcome:
    """Analyse a file in a process of its own, to see whether it is the one that kills it."""
    with _executor(1) as executor:
        outcome = _outcome(executor.submit(analyse_file, *task))
    if outcome is not None:
        return outcome
    path = task[0].path
    failure = f"{display_path(path)}: the process that read it was killed; exclude the file"
    return Outcome(path, [], failures=(failure,))


def _size(task: Task) -> int:
    try:
        return os.path.getsize(task[0].path)
    except OSError:
        return 0
