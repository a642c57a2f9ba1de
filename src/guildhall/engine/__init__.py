"""Running work: calls and agents through Inspect AI, wherever there is a machine for it.

This is the only package that knows Inspect, and it imports it only when work begins. A one-shot call (a verdict,
a mark, a label) is a value; running it twice costs once:

    from guildhall.engine.calls import Call
    from guildhall.engine.oneshot import run_calls
    from guildhall.engine.terms import Limits, Pace, Terms

    calls = [Call.ask("openai/gpt-5", f"Grade this essay:\\n\\n{essay}", system="You are a strict examiner.",
                      settings={"reasoning_effort": "low"}, purpose="mark") for essay in essays]
    terms = Terms(run="boswell-2026", limits=Limits(run_usd=5.0), pace=Pace(retries=5))
    answers = run_calls(calls, workspace=workspace, terms=terms)
    for call in calls:
        reply = answers.of(call)      # None when a limit of the run left it unasked (answers.why_left says which)
        reply.text, reply.stop, reply.error, reply.usage, reply.seconds, reply.cached, reply.made_at

Kill the process at any moment and run the same lines again: answered calls are not repeated, and the money they
cost still counts. A call another run already paid for comes back `cached`, without time or money; pass `reuse=False`
to ask afresh. `Call.sample` tells independent answers to the same question apart, `answer_schema` asks for JSON
(parsed into `reply.data`), and `FilePart(name, digest, media_type)` shows a file kept in the blobs.
`Ledger(workspace.store).spent(run=...)` is the ledger: tokens, dollars, answers that were not used, and how many
calls were sent whose answer nobody knows.

Offline, `scripted/<name>` is a model whose behaviour is a Python function: see `guildhall.engine.scripted`.

    from guildhall.engine.scripted import Answer, Turn, scripted

    @scripted("always-a-minus")
    def always_a_minus(turn: Turn) -> Answer:
        return Answer(text="A clear essay.\\n\\nGrade: A-")

An answer may stop with `StopReason.REFUSED` or `TRUNCATED`, take `seconds`, call tools; `ScriptedFailure` fails.
"""
