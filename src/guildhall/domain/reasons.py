"""Why work lost or won: justifications coded into labels that exclude each other."""

from __future__ import annotations

LABELS = {
    "instruction following": "did, or failed to do, what the brief asked",
    "accuracy": "facts, figures or reasoning are right or wrong",
    "completeness": "parts are there, or are missing or too thin",
    "formatting": "layout, legibility, style and polish of the files",
    "missing deliverable": "an asked-for file is not there at all",
    "ignored references": "the reference files were used, or were not",
    "wrong format": "the file is of another type than was asked for",
    "clarity": "easy or hard to follow; too long or too short",
    "professional judgment": "what an expert of the field would or would not have done",
}
"""What a coder may choose; a justification that names no one main reason stays blank."""
