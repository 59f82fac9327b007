"""A tool of the flows in a process of its own, and its first error. Loads nothing of Amaranth."""

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

__all__ = ["BuildError", "run_tool"]


class BuildError(RuntimeError):
    """A tool of the flow is missing or refused its input."""


def run_tool(
    command: Sequence[str | Path],
    folder: Path,
    *,
    variables: Mapping[str, str] | None = None,
    say: Callable[[str], object] | None = None,
) -> str:
    """Run a tool in a folder and return what it prints.

    Parameters
    ----------
    command : sequence of str or Path
        Tool and arguments.
    folder : Path
        Where it runs.
    variables : mapping of str to str
        Its environment; by default that of this process.
    say : callable
        Called with each line as it comes.

    Raises
    ------
    BuildError
        When it fails; the text has the first line that tells of an error.
    """
    lines = []
    with subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            lines.append(line)
            if say is not None:
                say(line.rstrip())
    if process.returncode:
        errors = [line for line in lines if re.search(r"ERROR|[Ee]rror\b", line)]
        reason = errors[0] if errors else "".join(lines)[-300:]
        raise BuildError(
            f"{Path(command[0]).name} failed: {reason.strip() or f'exit {process.returncode}'}"
        )
    return "".join(lines)
