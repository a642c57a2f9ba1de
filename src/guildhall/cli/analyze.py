"""`guildhall analyze`: estimates from plain files, no workspace needed."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="Estimates with honest intervals, from CSV, JSONL or Parquet files.")
