"""The grading service: send work in, watch it being judged, read grades with their intervals."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as Folder
from typing import IO, Annotated, Any

from fastapi import APIRouter, Depends, Header, HTTPException, Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from guildhall.documents.unpacking import UploadLimits, unpack
from guildhall.domain.values import Digest, canonical_json, sha256
from guildhall.store.gradings import Grading, Gradings
from guildhall.study.gradings import ServiceSettings, request_grading, service_of
from guildhall.web.access import ApiCaller
from guildhall.web.api.callers import needs
from guildhall.web.api.shapes import GradingList, GradingShown, JudgeShown, ProblemDetails, Service, grading_shown
from guildhall.web.api.studies import REFUSALS, AtSite
from guildhall.web.site import Site

DAY_S = 86400.0
UNPACKED = 5
"""How many times its own size a package may unpack to."""
UPLOADS_AT_ONCE = 4
ZIP = "application/zip"

Reader = Annotated[ApiCaller, Depends(needs("gradings:read"))]
Writer = Annotated[ApiCaller, Depends(needs("gradings:write"))]
GradingId = Annotated[str, Path(description="The grading's id.", min_length=1, max_length=64)]
Name = Annotated[str, Query(description="What the work's author is called.", pattern=r"^[\w.:+/-]{1,100}$")]
Judge = Annotated[str, Query(description="Who is to judge: a name from `GET /judges`.", min_length=1, max_length=200)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="Chosen by the caller. The same call under the same key is one grading, however often it is sent.",
        pattern=r"^[\x21-\x7e]{1,200}$",
    ),
]
SENT: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A zip with one folder for each task, named by its id; `final_message.md` in it is the message.",
        "content": {ZIP: {"schema": {"type": "string", "format": "binary"}}},
    }
}
UNFIT: dict[int | str, dict[str, Any]] = {
    400: {"model": ProblemDetails, "description": "The package, a task or the judge cannot be used."},
    409: {"model": ProblemDetails, "description": "The idempotency key was used for another call."},
    413: {"model": ProblemDetails, "description": "The package is too large."},
    415: {"model": ProblemDetails, "description": f"The body is not {ZIP}."},
}
GONE: dict[int | str, dict[str, Any]] = {
    404: {"model": ProblemDetails, "description": "This token asked for no such grading."}
}
router = APIRouter(responses=REFUSALS)


@dataclass(frozen=True)
class SentPackage:
    """A package on disk, with everything that makes two calls the same call."""

    package: IO[bytes]
    size: int
    digest: Digest
    name: str
    judge: str
    key: str | None

    @property
    def asked(self) -> Digest:
        return sha256(canonical_json([self.name, self.judge, self.digest]))


@router.get("/judges")
def show_service(site: AtSite, caller: Reader) -> Service:
    """Who judges here, what a package may hold, and what is left of this token's quota."""
    service = service_of(site.workspace)
    count, size = Gradings(site.store).spent(caller.token_digest, since=site.clock() - DAY_S)
    judges = [
        JudgeShown(name=one.name, takes=one.takes, sweeps=service.sweeps if one.repeats else 1)
        for one in service.graders().values()
    ]
    return Service(
        judges=tuple(judges),
        most_bytes=service.most_bytes,
        most_files=service.most_files,
        gradings_left=max(0, service.gradings_per_day - count),
        bytes_left=max(0, service.bytes_per_day - size),
    )


@router.get("/gradings")
def list_gradings(site: AtSite, caller: Reader) -> GradingList:
    """The last hundred gradings this token asked for, newest first."""
    found = Gradings(site.store).of(caller.token_digest)
    return GradingList(gradings=tuple(grading_shown(site.store, one) for one in found))


@router.get("/gradings/{grading_id}", responses=GONE)
def show_grading(grading_id: GradingId, site: AtSite, caller: Reader) -> GradingShown:
    """How a grading stands; once it is done, win rates against the expert with their intervals."""
    return grading_shown(site.store, Gradings(site.store).get(grading_id, token=caller.token_digest))


@router.post("/gradings", status_code=202, responses=UNFIT, openapi_extra=SENT)
async def ask_for_grading(
    request: Request,
    response: Response,
    site: AtSite,
    caller: Writer,
    name: Name,
    judge: Judge,
    idempotency_key: IdempotencyKey = None,
) -> GradingShown:
    """Send work in to be graded against the experts' own; answers at once, with where to look for the grades."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != ZIP:
        raise HTTPException(415, f"send the package as {ZIP}")
    service = service_of(site.workspace)
    await run_in_threadpool(_check_quota, site, caller, service)
    with _turn(request), tempfile.TemporaryFile() as package:
        size, digest = await _receive(request, package, service.most_bytes)
        sent = SentPackage(package, size, digest, name, judge, idempotency_key)
        grading = await run_in_threadpool(_accept, site, caller, service, sent)
    response.headers["Location"] = f"/api/v1/gradings/{grading.request.id}"
    return await run_in_threadpool(grading_shown, site.store, grading)


@contextmanager
def _turn(request: Request) -> Iterator[None]:
    """Few packages are taken in at a time: each may fill a good part of the disk while it is unpacked."""
    turns = request.app.state.uploads
    if not turns.acquire(blocking=False):
        raise HTTPException(429, "too many packages at once; wait a moment", {"Retry-After": "10"})
    try:
        yield
    finally:
        turns.release()


async def _receive(request: Request, package: IO[bytes], most: int) -> tuple[int, Digest]:
    """The body, counted while it comes in: what a header says about its size is not believed."""
    size, seen = 0, hashlib.sha256()
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise HTTPException(413, f"a package has at most {most:,} bytes")
        seen.update(chunk)
        package.write(chunk)
    return size, seen.hexdigest()


def _check_quota(site: Site, caller: ApiCaller, service: ServiceSettings, *, size: int = 0) -> None:
    count, spent = Gradings(site.store).spent(caller.token_digest, since=site.clock() - DAY_S)
    if count >= service.gradings_per_day or spent + size > service.bytes_per_day:
        words = f"at most {service.gradings_per_day} gradings and {service.bytes_per_day:,} bytes in 24 hours"
        raise HTTPException(429, f"this token's quota is used up: {words}", {"Retry-After": "3600"})


def _accept(site: Site, caller: ApiCaller, service: ServiceSettings, sent: SentPackage) -> Grading:
    gradings, token = Gradings(site.store), caller.token_digest
    if sent.key and (before := gradings.by_key(sent.key, token=token)):
        return _same_call(before, sent)
    with tempfile.TemporaryDirectory(prefix="guildhall-upload-") as folder:
        unpack(sent.package, Folder(folder), UploadLimits(service.most_files, UNPACKED * service.most_bytes))
        made = request_grading(site.workspace, Folder(folder), name=sent.name, judge=sent.judge, service=service)
    with site.store.transaction():
        _check_quota(site, caller, service, size=sent.size)
        added = gradings.add(made, token=token, key=sent.key, asked=sent.asked, size=sent.size, now=site.clock())
    if not added and sent.key and (before := gradings.by_key(sent.key, token=token)):
        return _same_call(before, sent)
    return gradings.get(made.id, token=token)


def _same_call(before: Grading, sent: SentPackage) -> Grading:
    if before.asked != sent.asked:
        raise HTTPException(409, "this idempotency key was used for another call; choose a new one")
    return before
