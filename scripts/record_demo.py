"""Record what the demo's scripted authors make of the sample bank, for machines where no sandbox can run.

Run it after the bank, the prompts or the authors changed; a test says when a record is missing:

    python scripts/record_demo.py
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from guildhall.sampling.running import submissions_of
from guildhall.store.workspace import Workspace
from guildhall.study.demonstration import demo_study, record
from guildhall.study.stages import Sampling
from guildhall.taskbank.importing import import_tasks, read_source
from guildhall.taskbank.sample import sample_folder

RECORDED = Path(__file__).parent.parent / "src" / "guildhall" / "sampling" / "recorded"


def main() -> None:
    with tempfile.TemporaryDirectory() as name, Workspace.create(Path(name) / "ws") as workspace:
        with sample_folder() as folder:
            import_tasks(workspace, read_source(folder))
        study = demo_study(workspace)
        study.freeze(changed=True)
        Sampling().run(study)
        made = submissions_of(study.items, workspace=workspace)
        missing = [item.job.label for item in study.items if item.key not in made]
        if missing:
            raise SystemExit(f"not made: {', '.join(missing)}")
        shutil.rmtree(RECORDED, ignore_errors=True)
        for item in study.items:
            record(item, made[item.key], workspace.blobs, RECORDED)
        print(f"{len(made)} submissions recorded")


if __name__ == "__main__":
    main()
