"""`guildhall analyze`: estimates from plain files, no workspace needed."""

from __future__ import annotations

import typer

from guildhall.cli.analyze_graders import agreement, effects, marks
from guildhall.cli.analyze_power import power, ppi
from guildhall.cli.analyze_rates import count, ratings, win_rate
from guildhall.cli.analyze_savings import import_clawwork, savings

app = typer.Typer(no_args_is_help=True, help="Estimates with honest intervals, from CSV, JSONL or Parquet files.")

app.command("win-rate")(win_rate)
app.command()(count)
app.command()(agreement)
app.command()(ratings)
app.command()(ppi)
app.command()(marks)
app.command()(effects)
app.command()(power)
app.command()(savings)
app.command("import-clawwork")(import_clawwork)
