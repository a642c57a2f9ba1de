BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0014');
CREATE TABLE api_tokens (
	token_digest VARCHAR(64) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	member VARCHAR(64) NOT NULL, 
	scopes TEXT NOT NULL, 
	made_at FLOAT NOT NULL, 
	revoked_at FLOAT, 
	CONSTRAINT pk_api_tokens PRIMARY KEY (token_digest), 
	CONSTRAINT fk_api_tokens_member_members FOREIGN KEY(member) REFERENCES members (id)
);
CREATE TABLE audit (
	seq INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	actor VARCHAR(200) NOT NULL, 
	action VARCHAR(100) NOT NULL, 
	subject VARCHAR(512) NOT NULL, 
	facts TEXT NOT NULL, 
	"before" VARCHAR(64) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (seq), 
	CONSTRAINT uq_audit_before UNIQUE ("before"), 
	CONSTRAINT uq_audit_digest UNIQUE (digest)
);
CREATE TABLE authors (
	code INTEGER NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	"key" VARCHAR(1024) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	sample INTEGER NOT NULL, 
	condition VARCHAR, 
	effort VARCHAR, 
	CONSTRAINT pk_authors PRIMARY KEY (code), 
	CONSTRAINT uq_authors_key_kind UNIQUE ("key", kind)
);
CREATE TABLE boards (
	study VARCHAR(200) NOT NULL, 
	took_s FLOAT NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_boards PRIMARY KEY (study)
);
CREATE TABLE brief_variants (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	task VARCHAR(1024), 
	CONSTRAINT pk_brief_variants PRIMARY KEY (seq), 
	CONSTRAINT uq_brief_variants_key UNIQUE ("key")
);
CREATE TABLE comparisons (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	study VARCHAR(1024), 
	task VARCHAR(1024), 
	CONSTRAINT pk_comparisons PRIMARY KEY (seq), 
	CONSTRAINT uq_comparisons_key UNIQUE ("key")
);
CREATE TABLE desk_copies (
	task VARCHAR(200) NOT NULL, 
	author VARCHAR(200) NOT NULL, 
	body TEXT NOT NULL, 
	saved INTEGER NOT NULL, 
	saved_at FLOAT NOT NULL, 
	CONSTRAINT pk_desk_copies PRIMARY KEY (task)
);
CREATE TABLE drafts (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	task VARCHAR(1024), 
	author VARCHAR(1024), 
	CONSTRAINT pk_drafts PRIMARY KEY (seq), 
	CONSTRAINT uq_drafts_key UNIQUE ("key")
);
CREATE TABLE entry_links (
	token_digest VARCHAR(64) NOT NULL, 
	member VARCHAR(64) NOT NULL, 
	expires_at FLOAT NOT NULL, 
	used_at FLOAT, entry VARCHAR(16), 
	CONSTRAINT pk_entry_links PRIMARY KEY (token_digest), 
	CONSTRAINT fk_entry_links_member_members FOREIGN KEY(member) REFERENCES members (id)
);
CREATE TABLE essays (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	run VARCHAR(1024), 
	domain VARCHAR(1024), 
	author VARCHAR(1024), 
	CONSTRAINT pk_essays PRIMARY KEY (seq), 
	CONSTRAINT uq_essays_key UNIQUE ("key")
);
CREATE TABLE gradability (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	task VARCHAR(1024), 
	CONSTRAINT pk_gradability PRIMARY KEY (seq), 
	CONSTRAINT uq_gradability_key UNIQUE ("key")
);
CREATE TABLE graders (
	code INTEGER NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	"key" VARCHAR(1024) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	CONSTRAINT pk_graders PRIMARY KEY (code), 
	CONSTRAINT uq_graders_key_kind UNIQUE ("key", kind)
);
CREATE TABLE gradings (
	id VARCHAR(64) NOT NULL, 
	token VARCHAR(64) NOT NULL, 
	idempotency_key VARCHAR(255), 
	asked VARCHAR(64) NOT NULL, 
	size BIGINT NOT NULL, 
	body TEXT NOT NULL, 
	verdicts_wanted INTEGER, 
	made_at FLOAT NOT NULL, 
	CONSTRAINT pk_gradings PRIMARY KEY (id), 
	CONSTRAINT fk_gradings_token_api_tokens FOREIGN KEY(token) REFERENCES api_tokens (token_digest), 
	CONSTRAINT uq_gradings_token_idempotency_key UNIQUE (token, idempotency_key)
);
CREATE TABLE judgments (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	comparison VARCHAR(1024), 
	grader VARCHAR(1024), 
	failed BOOLEAN, 
	replaces VARCHAR(1024), 
	CONSTRAINT pk_judgments PRIMARY KEY (seq), 
	CONSTRAINT uq_judgments_key UNIQUE ("key")
);
CREATE TABLE marks (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	run VARCHAR(1024), 
	essay VARCHAR(1024), 
	grader VARCHAR(1024), 
	replaces VARCHAR(1024), 
	CONSTRAINT pk_marks PRIMARY KEY (seq), 
	CONSTRAINT uq_marks_key UNIQUE ("key")
);
CREATE TABLE member_secrets (
	member VARCHAR(64) NOT NULL, 
	"key" BLOB, 
	sealed BLOB NOT NULL, 
	address_mark VARCHAR(64), 
	CONSTRAINT pk_member_secrets PRIMARY KEY (member), 
	CONSTRAINT fk_member_secrets_member_members FOREIGN KEY(member) REFERENCES members (id), 
	CONSTRAINT uq_member_secrets_address_mark UNIQUE (address_mark)
);
CREATE TABLE members (
	id VARCHAR(64) NOT NULL, 
	code_name VARCHAR(200) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	active BOOLEAN NOT NULL, employer_mark VARCHAR(64), 
	CONSTRAINT pk_members PRIMARY KEY (id), 
	CONSTRAINT uq_members_code_name UNIQUE (code_name)
);
CREATE TABLE model_calls (
	id VARCHAR(64) NOT NULL, 
	item VARCHAR(64) NOT NULL, 
	run VARCHAR(200) NOT NULL, 
	model VARCHAR(200) NOT NULL, 
	begun_at FLOAT NOT NULL, 
	ended_at FLOAT, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	cached_input_tokens INTEGER NOT NULL, 
	cache_written_tokens INTEGER NOT NULL, 
	reasoning_tokens INTEGER NOT NULL, 
	cost_usd FLOAT, 
	price_date VARCHAR(64), 
	seconds FLOAT, 
	error TEXT, 
	CONSTRAINT pk_model_calls PRIMARY KEY (id)
);
CREATE TABLE names (
	code INTEGER NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	"key" VARCHAR(1024) NOT NULL, 
	CONSTRAINT pk_names PRIMARY KEY (code), 
	CONSTRAINT uq_names_key_kind UNIQUE ("key", kind)
);
CREATE TABLE outbox (
	id VARCHAR(64) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	target VARCHAR(64) NOT NULL, 
	event VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	tries INTEGER NOT NULL, 
	next_at FLOAT NOT NULL, 
	answer VARCHAR(300), 
	made_at FLOAT NOT NULL, 
	ended_at FLOAT, 
	CONSTRAINT pk_outbox PRIMARY KEY (id)
);
CREATE TABLE passkey_challenges (
	challenge_digest VARCHAR(64) NOT NULL, 
	member VARCHAR(64), 
	expires_at FLOAT NOT NULL, 
	CONSTRAINT pk_passkey_challenges PRIMARY KEY (challenge_digest), 
	CONSTRAINT fk_passkey_challenges_member_members FOREIGN KEY(member) REFERENCES members (id)
);
CREATE TABLE passkeys (
	credential VARCHAR(512) NOT NULL, 
	member VARCHAR(64) NOT NULL, 
	public_key BLOB NOT NULL, 
	sign_count INTEGER NOT NULL, 
	added_at FLOAT NOT NULL, name VARCHAR(100) DEFAULT 'passkey' NOT NULL, used_at FLOAT, own BOOLEAN, 
	CONSTRAINT pk_passkeys PRIMARY KEY (credential), 
	CONSTRAINT fk_passkeys_member_members FOREIGN KEY(member) REFERENCES members (id)
);
CREATE TABLE picks (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	task VARCHAR(1024), 
	author VARCHAR(1024), 
	CONSTRAINT pk_picks PRIMARY KEY (seq), 
	CONSTRAINT uq_picks_key UNIQUE ("key")
);
CREATE TABLE prepared (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	subject VARCHAR(1024), words INTEGER, tells INTEGER, 
	CONSTRAINT pk_prepared PRIMARY KEY (seq), 
	CONSTRAINT uq_prepared_key UNIQUE ("key")
);
CREATE TABLE review_comments (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	task VARCHAR(1024), 
	CONSTRAINT pk_review_comments PRIMARY KEY (seq), 
	CONSTRAINT uq_review_comments_key UNIQUE ("key")
);
CREATE TABLE review_decisions (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	task VARCHAR(1024), 
	CONSTRAINT pk_review_decisions PRIMARY KEY (seq), 
	CONSTRAINT uq_review_decisions_key UNIQUE ("key")
);
CREATE TABLE review_holds (
	task VARCHAR(200) NOT NULL, 
	draft VARCHAR(512) NOT NULL, 
	stage VARCHAR(32) NOT NULL, 
	holder VARCHAR(200) NOT NULL, 
	since FLOAT NOT NULL, 
	expires_at FLOAT NOT NULL, 
	CONSTRAINT pk_review_holds PRIMARY KEY (task)
);
CREATE TABLE reviews (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	task VARCHAR(1024), 
	reviewer VARCHAR(1024), 
	CONSTRAINT pk_reviews PRIMARY KEY (seq), 
	CONSTRAINT uq_reviews_key UNIQUE ("key")
);
CREATE TABLE rubric_marks (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	study VARCHAR(1024), 
	submission VARCHAR(1024), 
	grader VARCHAR(1024), 
	CONSTRAINT pk_rubric_marks PRIMARY KEY (seq), 
	CONSTRAINT uq_rubric_marks_key UNIQUE ("key")
);
CREATE TABLE screenings (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	task VARCHAR(1024), 
	CONSTRAINT pk_screenings PRIMARY KEY (seq), 
	CONSTRAINT uq_screenings_key UNIQUE ("key")
);
CREATE TABLE seats (
	id VARCHAR(64) NOT NULL, 
	slot VARCHAR(64) NOT NULL, 
	study VARCHAR(200) NOT NULL, 
	comparison VARCHAR(64) NOT NULL, 
	task VARCHAR(200) NOT NULL, 
	member VARCHAR(64) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	turn INTEGER NOT NULL, 
	exposure INTEGER NOT NULL, 
	claimed_at FLOAT NOT NULL, 
	expires_at FLOAT NOT NULL, 
	ended_at FLOAT, 
	draft TEXT, 
	draft_version INTEGER NOT NULL, 
	draft_saved_at FLOAT, 
	clock TEXT, 
	read_brief_at FLOAT, 
	decline_reason TEXT, 
	judgment VARCHAR(64), 
	submit_key VARCHAR(64), 
	CONSTRAINT pk_seats PRIMARY KEY (id), 
	CONSTRAINT fk_seats_member_members FOREIGN KEY(member) REFERENCES members (id), 
	CONSTRAINT fk_seats_slot_slots FOREIGN KEY(slot) REFERENCES slots (id), 
	CONSTRAINT uq_seats_slot_member UNIQUE (slot, member), 
	CONSTRAINT uq_seats_submit_key UNIQUE (submit_key)
);
CREATE TABLE sessions (
	token_digest VARCHAR(64) NOT NULL, 
	member VARCHAR(64) NOT NULL, 
	form_token VARCHAR(64) NOT NULL, 
	opened_at FLOAT NOT NULL, 
	seen_at FLOAT NOT NULL, 
	ends_at FLOAT NOT NULL, entry VARCHAR(16), 
	CONSTRAINT pk_sessions PRIMARY KEY (token_digest), 
	CONSTRAINT fk_sessions_member_members FOREIGN KEY(member) REFERENCES members (id)
);
CREATE TABLE severity_ratings (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	study VARCHAR(1024), 
	submission VARCHAR(1024), 
	grader VARCHAR(1024), 
	CONSTRAINT pk_severity_ratings PRIMARY KEY (seq), 
	CONSTRAINT uq_severity_ratings_key UNIQUE ("key")
);
CREATE TABLE slots (
	id VARCHAR(64) NOT NULL, 
	study VARCHAR(200) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	comparison VARCHAR(64) NOT NULL, 
	task VARCHAR(200) NOT NULL, 
	occupation VARCHAR(300) NOT NULL, 
	turn INTEGER NOT NULL, 
	rank INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	holder VARCHAR(64), 
	done BOOLEAN NOT NULL, 
	CONSTRAINT pk_slots PRIMARY KEY (id)
);
CREATE TABLE studies (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	id VARCHAR(1024), 
	CONSTRAINT pk_studies PRIMARY KEY (seq), 
	CONSTRAINT uq_studies_key UNIQUE ("key")
);
CREATE TABLE submissions (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	task VARCHAR(1024), 
	author VARCHAR(1024), 
	replaces VARCHAR(1024), 
	CONSTRAINT pk_submissions PRIMARY KEY (seq), 
	CONSTRAINT uq_submissions_key UNIQUE ("key")
);
CREATE TABLE tasks (
	seq INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	id VARCHAR(1024), 
	sector VARCHAR(1024), 
	occupation VARCHAR(1024), 
	CONSTRAINT pk_tasks PRIMARY KEY (seq), 
	CONSTRAINT uq_tasks_key UNIQUE ("key")
);
CREATE TABLE verdicts (
	judgment BIGINT NOT NULL, 
	place SMALLINT NOT NULL, 
	study INTEGER NOT NULL, 
	comparison BIGINT NOT NULL, 
	task INTEGER NOT NULL, 
	work BIGINT NOT NULL, 
	grader INTEGER NOT NULL, 
	rank INTEGER, 
	sweep INTEGER NOT NULL, 
	planned BOOLEAN NOT NULL, 
	exposure INTEGER, 
	replaces BIGINT, 
	accepted SMALLINT, 
	edit_minutes FLOAT, 
	guess SMALLINT, 
	strength SMALLINT, 
	confidence FLOAT, 
	specification SMALLINT, 
	active_ms BIGINT, 
	omitted INTEGER NOT NULL, 
	failure INTEGER, 
	cost_usd FLOAT, 
	made_at BIGINT NOT NULL, 
	key_head BIGINT NOT NULL, 
	correctness SMALLINT, 
	accuracy SMALLINT, 
	completeness SMALLINT, 
	instruction_following SMALLINT, 
	calculation SMALLINT, 
	structure SMALLINT, 
	style SMALLINT, 
	format SMALLINT, 
	aesthetics SMALLINT, 
	relevance SMALLINT, 
	CONSTRAINT pk_verdicts PRIMARY KEY (judgment, place)
)
 WITHOUT ROWID

;
CREATE TABLE verdicts_waiting (
	judgment INTEGER NOT NULL, 
	needs VARCHAR(512) NOT NULL, 
	CONSTRAINT pk_verdicts_waiting PRIMARY KEY (judgment)
);
CREATE TABLE webhooks (
	id VARCHAR(64) NOT NULL, 
	url VARCHAR(2000) NOT NULL, 
	events TEXT NOT NULL, 
	sealed BLOB NOT NULL, 
	member VARCHAR(64) NOT NULL, 
	made_at FLOAT NOT NULL, 
	revoked_at FLOAT, 
	CONSTRAINT pk_webhooks PRIMARY KEY (id), 
	CONSTRAINT fk_webhooks_member_members FOREIGN KEY(member) REFERENCES members (id)
);
CREATE TABLE work_items (
	"key" VARCHAR(64) NOT NULL, 
	kind VARCHAR(200) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	run VARCHAR(200) NOT NULL, 
	tries INTEGER NOT NULL, 
	result TEXT, 
	error TEXT, 
	worker VARCHAR(200), 
	leased_until FLOAT, 
	ended_at FLOAT, 
	CONSTRAINT pk_work_items PRIMARY KEY ("key")
);
CREATE TABLE works (
	work INTEGER NOT NULL, 
	task INTEGER NOT NULL, 
	author INTEGER NOT NULL, 
	stop SMALLINT NOT NULL, 
	seconds FLOAT, 
	cost_usd FLOAT, 
	confidence FLOAT, 
	kinds INTEGER, 
	CONSTRAINT pk_works PRIMARY KEY (work)
);
CREATE INDEX ix_comparisons_study ON comparisons (study);
CREATE INDEX ix_comparisons_task ON comparisons (task);
CREATE INDEX ix_essays_author ON essays (author);
CREATE INDEX ix_essays_domain ON essays (domain);
CREATE INDEX ix_essays_run ON essays (run);
CREATE INDEX ix_judgments_comparison ON judgments (comparison);
CREATE INDEX ix_judgments_failed ON judgments (failed);
CREATE INDEX ix_judgments_grader ON judgments (grader);
CREATE INDEX ix_judgments_replaces ON judgments (replaces);
CREATE INDEX ix_marks_essay ON marks (essay);
CREATE INDEX ix_marks_grader ON marks (grader);
CREATE INDEX ix_marks_replaces ON marks (replaces);
CREATE INDEX ix_marks_run ON marks (run);
CREATE INDEX ix_severity_ratings_grader ON severity_ratings (grader);
CREATE INDEX ix_severity_ratings_study ON severity_ratings (study);
CREATE INDEX ix_severity_ratings_submission ON severity_ratings (submission);
CREATE INDEX ix_submissions_author ON submissions (author);
CREATE INDEX ix_submissions_replaces ON submissions (replaces);
CREATE INDEX ix_submissions_task ON submissions (task);
CREATE INDEX ix_tasks_id ON tasks (id);
CREATE INDEX ix_tasks_occupation ON tasks (occupation);
CREATE INDEX ix_tasks_sector ON tasks (sector);
CREATE INDEX ix_model_calls_item ON model_calls (item);
CREATE INDEX ix_model_calls_run ON model_calls (run);
CREATE INDEX ix_work_items_run_kind_state ON work_items (run, kind, state);
CREATE INDEX ix_brief_variants_task ON brief_variants (task);
CREATE INDEX ix_picks_author ON picks (author);
CREATE INDEX ix_picks_task ON picks (task);
CREATE INDEX ix_studies_id ON studies (id);
CREATE INDEX ix_slots_comparison ON slots (comparison);
CREATE INDEX ix_slots_open ON slots (study, done, holder, rank);
CREATE INDEX ix_seats_state_expires_at ON seats (state, expires_at);
CREATE INDEX ix_prepared_subject ON prepared (subject);
CREATE INDEX ix_passkeys_member ON passkeys (member);
CREATE INDEX ix_sessions_member ON sessions (member);
CREATE INDEX ix_gradability_task ON gradability (task);
CREATE INDEX ix_rubric_marks_grader ON rubric_marks (grader);
CREATE INDEX ix_rubric_marks_study ON rubric_marks (study);
CREATE INDEX ix_rubric_marks_submission ON rubric_marks (submission);
CREATE INDEX ix_desk_copies_author ON desk_copies (author);
CREATE INDEX ix_drafts_author ON drafts (author);
CREATE INDEX ix_drafts_task ON drafts (task);
CREATE INDEX ix_review_comments_task ON review_comments (task);
CREATE INDEX ix_review_decisions_task ON review_decisions (task);
CREATE INDEX ix_reviews_reviewer ON reviews (reviewer);
CREATE INDEX ix_reviews_task ON reviews (task);
CREATE INDEX ix_screenings_task ON screenings (task);
CREATE INDEX ix_outbox_kind_made_at ON outbox (kind, made_at);
CREATE INDEX ix_outbox_state_next_at ON outbox (state, next_at);
CREATE INDEX ix_gradings_token_made_at ON gradings (token, made_at);
CREATE INDEX ix_audit_subject ON audit (subject);
CREATE INDEX ix_slots_open_to ON slots (study, occupation, done, holder, rank);
CREATE INDEX ix_members_employer_mark ON members (employer_mark);
CREATE INDEX ix_seats_met ON seats (member, task, comparison, study, state);
CREATE INDEX ix_seats_taken ON seats (member, claimed_at, id, state);
CREATE INDEX ix_verdicts_study_judgment ON verdicts (study, judgment);
CREATE INDEX ix_verdicts_waiting_needs ON verdicts_waiting (needs);
CREATE INDEX ix_works_task ON works (task);
COMMIT;
