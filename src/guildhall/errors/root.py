"""The root of the tree of errors."""

from __future__ import annotations

from typing import Any


class GuildhallError(Exception):
    """Root of the tree; `exit_code` is what the command line returns, `faults` what it lists below the message."""

    exit_code = 1
    faults: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers hand errors over by pickling, which would call the class with the message in place of its facts.
        return _same_again, (type(self), self.args, dict(self.__dict__))


def _same_again(kind: type[GuildhallError], said: tuple[Any, ...], facts: dict[str, Any]) -> GuildhallError:
    error = kind.__new__(kind, *said)
    error.__dict__.update(facts)
    return error
