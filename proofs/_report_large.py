"""Write the report of a large study in a process of its own: `python -m proofs._report_large WORKSPACE FOLDER`.

Prints seconds from the command's start to its end, and the processor's seconds and the largest memory of this process
and of the one it works beside, as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path


def main(workspace: Path, folder: Path) -> None:
    began = time.perf_counter()
    from guildhall.store.wordings import newest_study
    from guildhall.store.workspace import Workspace
    from guildhall.study.reporting import write_study_report

    with Workspace.open(workspace) as opened:
        report = write_study_report(opened, newest_study(opened.store, "large"), folder)
    breakdowns = report.section("breakdowns")
    tables = breakdowns.tables if breakdowns else ()
    both = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - began,
                "cpu_seconds": sum(used.ru_utime + used.ru_stime for used in both),
                "megabytes": sum(used.ru_maxrss for used in both) / 1024,
                "judgments": report.counts["judgments"],
                "models": len(report.rates),
                "breakdown_levels": sum(len({row[0] for row in table.rows}) for table in tables),
                "cells": sum(len(table.rows) for table in tables),
                "chapters": [section.name for section in report.sections],
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
