"""Makes the files of the sample bank: one module per task, each with `build(folder)`.

The words of a task (`task.toml`, `brief.md`, `rubric.toml`) are written by hand in its folder; what is made here
are its reference and expert files, so that every figure in them comes from one set of invented data.
"""
