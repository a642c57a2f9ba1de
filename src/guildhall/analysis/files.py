"""CSV, JSONL and Parquet files as tables, in chunks: the only module of the package that opens files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from guildhall.analysis.tables import (
    Coded,
    Floats,
    Table,
    checked_numbers,
    coded_words,
    concatenate,
    encode,
    is_number_type,
    table_from_arrow,
)
from guildhall.errors import MissingColumn, NothingJudged, UnreadableFile

ROWS_A_CHUNK = 1 << 18
"""Parquet gives four times as many at once: as codes they are small, and a whole row group is decoded soonest."""
MOST_PARTS = 16
SMALL_FILE_BYTES = 4_000_000
"""Below this size plain Python reads a CSV sooner than pyarrow is imported."""


def read_table(path: Path, *, required: Sequence[str], optional: Sequence[str] = ()) -> Table:
    """All rows at once, as compact codes. Raises `NothingJudged` where there is none."""
    chunks = list(stream_table(path, required=required, optional=optional))
    return chunks[0] if len(chunks) == 1 else concatenate(chunks)


def stream_table(path: Path, *, required: Sequence[str], optional: Sequence[str] = ()) -> Iterator[Table]:
    """The rows in chunks, each with dictionaries of its own; memory does not grow with the file.

    The form is told by the extension: .csv, .jsonl or .parquet. Columns that are neither required nor optional are
    not read. A file that cannot be read, or lacks a required column, is refused by name.
    """
    path = Path(path)
    read = _reader(path)
    n_rows = 0
    for chunk in read(path, tuple(required), tuple(optional)):
        n_rows += chunk.n_rows
        yield chunk
    if not n_rows:
        raise NothingJudged(f"anything in {path.name}")


def table_parts(path: Path, *, required: Sequence[str], optional: Sequence[str] = ()) -> list[Iterator[Table]]:
    """The rows in parts that may be read side by side, each in chunks: row groups of a Parquet file, or all rows."""
    path = Path(path)
    read = _reader(path)
    if read is not _stream_parquet or not _has_pyarrow():
        return [read(path, tuple(required), tuple(optional))]
    about = _parquet_metadata(path)
    groups = range(about.num_row_groups)
    n_parts = min(MOST_PARTS, max(len(groups), 1))
    return [_stream_parquet(path, required, optional, about, groups[part::n_parts]) for part in range(n_parts)]


def _reader(path: Path) -> Callable[[Path, Sequence[str], Sequence[str]], Iterator[Table]]:
    if not path.is_file():
        raise UnreadableFile(path, "there is no such file", fix="check the path")
    readers = {".csv": _stream_csv, ".jsonl": _stream_jsonl, ".parquet": _stream_parquet}
    if path.suffix.lower() not in readers:
        raise UnreadableFile(
            path, f"files of kind {path.suffix or 'none'!r} are not read", fix="use .csv, .jsonl or .parquet"
        )
    return readers[path.suffix.lower()]


def column_names(path: Path) -> list[str]:
    """The columns a file has (for JSONL: those of its first row)."""
    if not path.is_file():
        raise UnreadableFile(path, "there is no such file", fix="check the path")
    if path.suffix.lower() == ".parquet":
        return _parquet_names(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            if path.suffix.lower() == ".jsonl":
                first = json.loads(next(lines, "{}"))
                return list(first) if isinstance(first, dict) else []
            return next(csv.reader(lines), [])
    except (UnicodeDecodeError, json.JSONDecodeError, csv.Error) as error:
        raise UnreadableFile(path, f"not readable ({error})") from error


def _parquet_names(path: Path) -> list[str]:
    if _has_pyarrow():
        import pyarrow as pa
        from pyarrow import parquet

        try:
            return list(parquet.read_schema(path).names)
        except pa.ArrowException as error:
            raise UnreadableFile(path, f"not a readable Parquet file ({error})") from error
    import polars as pl

    try:
        return list(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UnreadableFile(path, f"not a readable Parquet file ({error})") from error


def _wanted(path: Path, found: Sequence[str], required: Sequence[str], optional: Sequence[str]) -> list[str]:
    for name in required:
        if name not in found:
            raise MissingColumn(path.name, name, found=list(found))
    return [*required, *(name for name in optional if name in found)]


def _stream_csv(path: Path, required: Sequence[str], optional: Sequence[str]) -> Iterator[Table]:
    if path.stat().st_size > SMALL_FILE_BYTES and _has_pyarrow():
        yield from _stream_csv_by_arrow(path, required, optional)
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.reader(lines, strict=True)
            header = next(rows, [])
            wanted = _wanted(path, header, required, optional)
            places = [header.index(name) for name in wanted]
            while batch := list(islice((row for row in rows if row), ROWS_A_CHUNK)):
                if any(len(row) != len(header) for row in batch):
                    raise UnreadableFile(path, f"a row does not have the {len(header)} cells of the header")
                yield Table(
                    {n: encode([row[p] for row in batch]) for n, p in zip(wanted, places, strict=True)}, len(batch)
                )
    except (UnicodeDecodeError, csv.Error) as error:
        raise UnreadableFile(path, f"not a readable CSV file ({error})") from error


def _stream_jsonl(path: Path, required: Sequence[str], optional: Sequence[str]) -> Iterator[Table]:
    try:
        with path.open(encoding="utf-8") as lines:
            while batch := [json.loads(line) for line in islice((s for s in lines if s.strip()), ROWS_A_CHUNK)]:
                if not all(isinstance(row, dict) for row in batch):
                    raise UnreadableFile(path, "a line is not a JSON object")
                found = sorted({name for row in batch for name in row})
                wanted = _wanted(path, found, required, optional)
                yield Table({name: encode([row.get(name) for row in batch]) for name in wanted}, len(batch))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise UnreadableFile(path, f"not readable as one JSON object a line ({error})") from error


def _stream_csv_by_arrow(path: Path, required: Sequence[str], optional: Sequence[str]) -> Iterator[Table]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with path.open(encoding="utf-8-sig", newline="") as lines:
        wanted = _wanted(path, next(csv.reader(lines), []), required, optional)
    convert = arrow_csv.ConvertOptions(
        include_columns=wanted, column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in wanted}
    )
    try:
        with arrow_csv.open_csv(
            path,
            read_options=arrow_csv.ReadOptions(block_size=8 << 20),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=convert,
        ) as batches:
            for batch in batches:
                yield table_from_arrow(batch, wanted)
    except pa.ArrowInvalid as error:
        raise UnreadableFile(path, f"not a readable CSV file ({error})") from error


def _stream_parquet(
    path: Path,
    required: Sequence[str],
    optional: Sequence[str],
    about: Any = None,
    row_groups: Sequence[int] | None = None,
) -> Iterator[Table]:
    if not _has_pyarrow():
        yield from _stream_parquet_by_polars(path, required, optional)
        return
    import pyarrow as pa
    from pyarrow import parquet

    try:
        about = about or _parquet_metadata(path)
        schema = about.schema.to_arrow_schema()
        wanted = _wanted(path, schema.names, required, optional)
        words = [name for name in wanted if not is_number_type(schema.field(name).type)]
        with parquet.ParquetFile(path, metadata=about, read_dictionary=words) as file:
            # Whoever reads some row groups reads others beside them, and needs no threads within each.
            for batch in file.iter_batches(
                batch_size=4 * ROWS_A_CHUNK, columns=wanted, row_groups=row_groups, use_threads=row_groups is None
            ):
                yield table_from_arrow(batch, wanted)
    except pa.ArrowException as error:
        raise UnreadableFile(path, f"not a readable Parquet file ({error})") from error


def _parquet_metadata(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.read_metadata(path)
    except pa.ArrowException as error:
        raise UnreadableFile(path, f"not a readable Parquet file ({error})") from error


def _stream_parquet_by_polars(path: Path, required: Sequence[str], optional: Sequence[str]) -> Iterator[Table]:
    import polars as pl

    try:
        scan = pl.scan_parquet(path)
        wanted = _wanted(path, scan.collect_schema().names(), required, optional)
        n_rows = scan.select(pl.len()).collect().item()
        for start in range(0, n_rows, 4 * ROWS_A_CHUNK):
            frame = scan.select(wanted).slice(start, 4 * ROWS_A_CHUNK).collect()
            yield Table({name: _from_polars(frame[name]) for name in wanted}, frame.height)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UnreadableFile(path, f"not a readable Parquet file ({error})") from error


def _from_polars(series: Any) -> Coded | Floats:
    import polars as pl

    if series.dtype.is_numeric():
        return checked_numbers(series.cast(pl.Float64).to_numpy(), series.is_null().to_numpy(), series.name)
    series = series.cast(pl.String)
    names = series.drop_nulls().unique(maintain_order=True)
    codes = series.cast(pl.Enum(names)).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    return coded_words(codes, tuple(names.to_list()))


def _has_pyarrow() -> bool:
    return find_spec("pyarrow") is not None
