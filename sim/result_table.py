"""Tables of measured results: CSV files with one row for each key, kept sorted."""

from __future__ import annotations

import csv
import os
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

__all__ = ["ResultTable"]


class ResultTable:
    """A CSV file of results.

    Parameters
    ----------
    file : Path
        The file. It and its folder are made by the first `put`.
    columns : tuple of str
        Its columns.
    key : tuple of str
        The columns that name a row.
    """

    def __init__(self, file: Path, columns: tuple[str, ...], key: tuple[str, ...]):
        self.file, self.columns, self.key = file, columns, key

    def rows(self) -> dict[tuple[str, ...], dict[str, str]]:
        """Read the rows by key: none where there is no file. Columns it lacks are empty.

        Raises
        ------
        ValueError
            When the file is no such table.
        """
        if not self.file.exists():
            return {}
        try:
            with self.file.open(newline="") as file:
                reader = csv.DictReader(file, strict=True)
                missing = [name for name in self.key if name not in (reader.fieldnames or ())]
                if missing:
                    raise ValueError(f"it has no column {missing[0]!r}")
                rows = list(reader)
        except (ValueError, csv.Error) as error:  # bytes that are no text, too
            raise ValueError(f"{self.file} is no table of results: {error}") from None
        for number, row in enumerate(rows, 1):
            if None in row or None in row.values():
                raise ValueError(
                    f"{self.file} is no table of results: row {number} has not as many values as "
                    "there are columns"
                )
        return {self._key(row): dict.fromkeys(self.columns, "") | row for row in rows}

    def check(self) -> None:
        """See that the table can be read and written, before a long run and not after it.

        Raises
        ------
        ValueError
            When the file is no such table, or its folder is none.
        OSError
            When it can't be written.
        """
        self.rows()
        if self.file.parent.exists() and not self.file.parent.is_dir():
            raise ValueError(f"{self.file.parent} is a file, wanted a folder for {self.file.name}")
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a"):
            pass
        if not self.file.stat().st_size:
            self.file.unlink()

    def put(
        self, rows: Iterable[Mapping[str, str]], known: Container[tuple[str, ...]] | None = None
    ) -> None:
        """Replace the rows of the same key, or add them; drop old rows whose key is not `known`."""
        old = {key: row for key, row in self.rows().items() if known is None or key in known}
        merged = old | {self._key(row): row for row in rows}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        with new.open("w", newline="") as file:
            writer = csv.DictWriter(
                file, self.columns, restval="", extrasaction="ignore", lineterminator="\n"
            )
            writer.writeheader()
            writer.writerows(merged[name] for name in sorted(merged))
        new.replace(self.file)  # who stops us leaves the old table or the new one

    def _key(self, row: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(row[name] for name in self.key)
