"""Running hostile work: no network, a read-only system, and limits that hold for the whole process tree.

    from guildhall.confine.limits import Finished, Limits
    from guildhall.confine.room import run, start

`run` confines one command and takes everything down after it; `start` keeps a `Room` open in which `/tmp` and
background processes live on from one command to the next. Standard library only.
"""
