"""Which module makes which task."""

MODULES = {
    "sample-accounting-bank-reconciliation": "bank_reconciliation",
    "sample-audio-quality-control": "audio_quality_control",
    "sample-clinic-no-shows": "clinic_no_shows",
    "sample-covenant-compliance": "covenant_compliance",
    "sample-grant-desk-review": "grant_desk_review",
    "sample-line-balance": "line_balance",
    "sample-order-acknowledgement": "order_acknowledgement",
    "sample-shopping-center-reconciliation": "shopping_center_reconciliation",
    "sample-store-schedule": "store_schedule",
}
