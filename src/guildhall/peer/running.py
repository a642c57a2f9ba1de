"""Running a Boswell Test on essays: each model writes, then every model marks every essay, its own included."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from guildhall.domain.authors import ModelRun
from guildhall.domain.boswell import Essay, RunRecord
from guildhall.engine.calls import Call, TextPart
from guildhall.peer.asking import Asking, MarkingRequest
from guildhall.peer.domains import Domain
from guildhall.peer.marking import can_be_marked, essay_of
from guildhall.peer.prompts import essay_prompt, marking_prompt


@dataclass(frozen=True)
class Running:
    """One run in one domain under way."""

    asking: Asking
    domain: Domain
    started_at: datetime

    def run(self) -> RunRecord:
        """Everything the plan asks for, kept in the workspace; raises `ModelError` when a limit left calls unasked."""
        plan = self.asking.plan
        essays = self._essays()
        marks = self.asking.marks([self._request(essay) for essay in essays if can_be_marked(essay)])
        self.asking.workspace.store.add_all([*essays, *marks])
        return RunRecord(
            run=self.asking.terms.run,
            domain=self.domain.id,
            title=self.domain.title,
            started_at=self.started_at,
            essays=tuple(essays),
            marks=tuple(marks),
            domain_digest=plan.domain_digest,
            rounds=plan.rounds,
        )

    def _essays(self) -> list[Essay]:
        plan, prompt = self.asking.plan, essay_prompt(self.domain)
        authors: dict[str, ModelRun] = {}
        calls: dict[str, Call] = {}
        for model in plan.models:
            for sample in range(1, plan.samples + 1):
                author = model.author(plan.prompts, sample=sample)
                authors[author.key] = author
                calls[author.key] = Call.ask(
                    model.model, prompt, settings=model.settings, sample=sample, purpose="essay"
                )
        return [
            essay_of(replies, run=self.asking.terms.run, domain=self.domain.id, author=authors[key])
            for key, replies in self.asking.with_retries(calls).items()
        ]

    def _request(self, essay: Essay) -> MarkingRequest:
        composites = self.asking.plan.composites
        instructions, data = marking_prompt(self.domain, essay.text, composites=composites)
        return MarkingRequest(essay, instructions, (TextPart(text=data),))
