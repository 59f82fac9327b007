"""Files that appear at the end of a job, all or none."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["staged"]


@contextlib.contextmanager
def staged(out: Path, ours: re.Pattern[str]) -> Iterator[Path]:
    """Give a folder inside `out` whose files move up when the job is done, and vanish if it fails.

    Parameters
    ----------
    out : Path
        Where the files go, made if it is missing.
    ours : pattern
        Names of the files that such a job writes: those of an earlier run are removed.

    Raises
    ------
    OSError
        When the folder cannot be made or written to.
    """
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    out.mkdir(parents=True, exist_ok=True)
    try:
        staging = Path(tempfile.mkdtemp(prefix=".partial-", dir=out))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(out)) from None
    try:
        yield staging
        for file in out.iterdir():
            if ours.fullmatch(file.name):  # of an earlier run: it would mix with this one's
                file.unlink()
        for file in sorted(staging.iterdir()):
            os.replace(file, out / file.name)
    except BaseException:
        shutil.rmtree(staging)
        for made_folder in made:
            made_folder.rmdir()
        raise
    staging.rmdir()
