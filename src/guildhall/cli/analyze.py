"""`guildhall analyze`: estimates from plain files, no workspace needed."""

from __future__ import annotations

import typer

from guildhall.cli.analyze_power import power
from guildhall.cli.analyze_ppi import ppi
from guildhall.cli.analyze_savings import savings

app = typer.Typer(no_args_is_help=True, help="Estimates with honest intervals, from CSV, JSONL or Parquet files.")

app.command()(ppi)
app.command()(power)
app.command()(savings)
