"""Every exception Guildhall raises on purpose.

GuildhallError
├── InputError            what a user handed over cannot be used as it is          (exit code 2)
│   ├── UnreadableFile    a file that is broken, truncated or of another kind
│   │   └── LookInterrupted  the room around a file's parser went away; another try may succeed
│   ├── FaultsFound       several faults of what was handed over, in one list
│   ├── CannotScrub       a file whose makers' traces cannot all be removed
│   ├── UnsafePath        a path that leaves its folder, a link, or a hostile name
│   ├── RefusedPackage    an uploaded archive that is broken, hostile or beyond the limits
│   ├── MissingColumn     a table without a column that is needed
│   ├── ImpossibleValue   a figure outside what it can be: a NaN mark, a probability of 2
│   ├── BadCondition      a gate's condition that is not in its language
│   ├── CannotRelease     a task that cannot be freed of its author, or lacks its files
│   ├── ReviewRefused     somebody who may not do this to a task under review
│   └── UnknownName       an id, column, model or option nobody has heard of
├── StoreError            the workspace refused                                    (exit code 3)
│   ├── NoWorkspace
│   ├── CorruptBlob       bytes that no longer match their digest
│   ├── MissingBlob       a file that is named but not kept here
│   ├── StoreOutOfReach   an object store that does not answer, or refuses
│   ├── CorruptBundle
│   ├── CorruptBackup
│   ├── FileLacking       a file that records name and that is not kept
│   ├── Conflict          the same key with another content
│   ├── DatabaseFault     the database could not do its part
│   │   ├── DatabaseAway      does not answer                                  (exit code 31)
│   │   ├── DatabaseFull      its disk is full                                 (exit code 32)
│   │   ├── NoConnectionLeft  all connections are in use                       (exit code 33)
│   │   ├── DatabaseRefused   wrong password, role or name                     (exit code 34)
│   │   └── NoSchema          none of our tables are in it                     (exit code 35)
│   ├── HoldLost          what a worker was at is another's by now
│   ├── OtherSecret       a folder with another secret than its database was used with
│   └── SchemaMismatch    written by another version                           (exit code 36)
├── MachineRefused        no room, no permission, a port in use                    (exit code 3)
├── NodesNotReady         no node of a cluster can do the work                    (exit code 4)
├── MissingTool           a program or extra this machine lacks                    (exit code 4)
├── SandboxError          confined work could not be run                           (exit code 5)
│   ├── RoomNotStarted    the confined place could not be set up
│   ├── RoomClosed        work was handed to a room that has been closed
│   ├── NoEnvironment     no prepared working environment where one was named
│   ├── EnvironmentNotBuilt
│   ├── InterpreterNotShown  a Python that lies where no room may see it
│   ├── LookNotFinished   time ran out, or a room went away, while work was made ready to be judged
│   ├── ToldButAbsent     authors would be told of what their room does not have
│   ├── RoomChanged       a study goes on in another room than it began in
│   └── NothingDelivered  everything ended, and nobody delivered anything
├── ModelError            a provider refused, failed or ran into a limit           (exit code 6)
│   ├── UnreadableVerdict a judge's reply that holds no verdict where one must stand
│   └── PriceUnknown      a limit in dollars for a model nobody knows the price of
├── NotReady              several things stand in a run's way   (the exit code of the first)
├── FaultsOfOurs          part of a run failed by no fault of the work   (the exit code of what failed)
└── NotEnoughData         a number was asked for that the data cannot give         (exit code 7)
    ├── NothingJudged     no judgment left to estimate from
    ├── TooFew            fewer models, raters or tasks than the figure needs
    ├── OnlyTies          nobody ever won, so nobody can be rated
    ├── DisconnectedGraph models that fall into groups never compared with each other
    ├── SeparatedModels   models that won or lost everything: their rating has no finite value
    ├── NothingMarked
    ├── NothingToCompare  no row at all for what was asked
    ├── NothingPaired     no task on which both sides of a difference were seen
    ├── TooFewMarks       a model of marks with more parts than the marks can tell apart
    └── UnlinkedMarks     graders and essays that fall into groups with no mark between them

A message says what happened, to what, and what to do next; facts are attributes. Packages add their own
leaves below these branches, in this package and nowhere else.
"""

from __future__ import annotations

from guildhall.errors.estimating import (
    BadCondition,
    CannotRelease,
    CannotScrub,
    DisconnectedGraph,
    FaultsFound,
    ImpossibleValue,
    InputError,
    LookInterrupted,
    MissingColumn,
    NotEnoughData,
    NothingJudged,
    NothingMarked,
    NothingPaired,
    NothingToCompare,
    OnlyTies,
    RefusedPackage,
    ReviewRefused,
    SeparatedModels,
    TooFew,
    TooFewMarks,
    UnknownName,
    UnlinkedMarks,
    UnreadableFile,
    UnsafePath,
)
from guildhall.errors.root import GuildhallError
from guildhall.errors.working import (
    Conflict,
    CorruptBackup,
    CorruptBlob,
    CorruptBundle,
    DatabaseAway,
    DatabaseFault,
    DatabaseFull,
    DatabaseRefused,
    EnvironmentNotBuilt,
    FaultsOfOurs,
    FileLacking,
    HoldLost,
    InterpreterNotShown,
    LookNotFinished,
    MachineRefused,
    MissingBlob,
    MissingTool,
    ModelError,
    NoConnectionLeft,
    NodesNotReady,
    NoEnvironment,
    NoSchema,
    NothingDelivered,
    NotReady,
    NoWorkspace,
    OtherSecret,
    PriceUnknown,
    RoomChanged,
    RoomClosed,
    RoomNotStarted,
    SandboxError,
    SchemaMismatch,
    StoreError,
    StoreOutOfReach,
    ToldButAbsent,
    UnreadableVerdict,
)

__all__ = [
    "BadCondition",
    "CannotRelease",
    "CannotScrub",
    "Conflict",
    "CorruptBackup",
    "CorruptBlob",
    "CorruptBundle",
    "DatabaseAway",
    "DatabaseFault",
    "DatabaseFull",
    "DatabaseRefused",
    "DisconnectedGraph",
    "EnvironmentNotBuilt",
    "FaultsFound",
    "FaultsOfOurs",
    "FileLacking",
    "GuildhallError",
    "HoldLost",
    "ImpossibleValue",
    "InputError",
    "InterpreterNotShown",
    "LookInterrupted",
    "LookNotFinished",
    "MachineRefused",
    "MissingBlob",
    "MissingColumn",
    "MissingTool",
    "ModelError",
    "NoConnectionLeft",
    "NoEnvironment",
    "NoSchema",
    "NoWorkspace",
    "NodesNotReady",
    "NotEnoughData",
    "NotReady",
    "NothingDelivered",
    "NothingJudged",
    "NothingMarked",
    "NothingPaired",
    "NothingToCompare",
    "OnlyTies",
    "OtherSecret",
    "PriceUnknown",
    "RefusedPackage",
    "ReviewRefused",
    "RoomChanged",
    "RoomClosed",
    "RoomNotStarted",
    "SandboxError",
    "SchemaMismatch",
    "SeparatedModels",
    "StoreError",
    "StoreOutOfReach",
    "ToldButAbsent",
    "TooFew",
    "TooFewMarks",
    "UnknownName",
    "UnlinkedMarks",
    "UnreadableFile",
    "UnreadableVerdict",
    "UnsafePath",
]
