CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.api_tokens (
    token_digest character varying(64) NOT NULL,
    name character varying(200) NOT NULL,
    member character varying(64) NOT NULL,
    scopes text NOT NULL,
    made_at double precision NOT NULL,
    revoked_at double precision
);
CREATE TABLE public.audit (
    seq bigint NOT NULL,
    at double precision NOT NULL,
    actor character varying(200) NOT NULL,
    action character varying(100) NOT NULL,
    subject character varying(512) NOT NULL,
    facts text NOT NULL,
    before character varying(64) NOT NULL,
    digest character varying(64) NOT NULL
);
CREATE SEQUENCE public.audit_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.audit_seq_seq OWNED BY public.audit.seq;
CREATE TABLE public.authors (
    code integer NOT NULL,
    kind character varying(40) NOT NULL,
    key character varying(1024) NOT NULL,
    name character varying(200) NOT NULL,
    sample integer NOT NULL,
    condition character varying,
    effort character varying
);
CREATE SEQUENCE public.authors_code_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.authors_code_seq OWNED BY public.authors.code;
CREATE TABLE public.boards (
    study character varying(200) NOT NULL,
    took_s double precision NOT NULL,
    body text NOT NULL
);
CREATE TABLE public.brief_variants (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    task character varying(1024)
);
CREATE SEQUENCE public.brief_variants_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.brief_variants_seq_seq OWNED BY public.brief_variants.seq;
CREATE TABLE public.comparisons (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    study character varying(1024),
    task character varying(1024)
);
CREATE SEQUENCE public.comparisons_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.comparisons_seq_seq OWNED BY public.comparisons.seq;
CREATE TABLE public.desk_copies (
    task character varying(200) NOT NULL,
    author character varying(200) NOT NULL,
    body text NOT NULL,
    saved integer NOT NULL,
    saved_at double precision NOT NULL
);
CREATE TABLE public.drafts (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    task character varying(1024),
    author character varying(1024)
);
CREATE SEQUENCE public.drafts_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.drafts_seq_seq OWNED BY public.drafts.seq;
CREATE TABLE public.entry_links (
    token_digest character varying(64) NOT NULL,
    member character varying(64) NOT NULL,
    expires_at double precision NOT NULL,
    used_at double precision,
    entry character varying(16)
);
CREATE TABLE public.essays (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    run character varying(1024),
    domain character varying(1024),
    author character varying(1024)
);
CREATE SEQUENCE public.essays_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.essays_seq_seq OWNED BY public.essays.seq;
CREATE TABLE public.gradability (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    task character varying(1024)
);
CREATE SEQUENCE public.gradability_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.gradability_seq_seq OWNED BY public.gradability.seq;
CREATE TABLE public.graders (
    code integer NOT NULL,
    kind character varying(40) NOT NULL,
    key character varying(1024) NOT NULL,
    name character varying(200) NOT NULL
);
CREATE SEQUENCE public.graders_code_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.graders_code_seq OWNED BY public.graders.code;
CREATE TABLE public.gradings (
    id character varying(64) NOT NULL,
    token character varying(64) NOT NULL,
    idempotency_key character varying(255),
    asked character varying(64) NOT NULL,
    size bigint NOT NULL,
    body text NOT NULL,
    verdicts_wanted integer,
    made_at double precision NOT NULL
);
CREATE TABLE public.judgments (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    comparison character varying(1024),
    grader character varying(1024),
    failed boolean,
    replaces character varying(1024)
);
CREATE SEQUENCE public.judgments_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.judgments_seq_seq OWNED BY public.judgments.seq;
CREATE TABLE public.marks (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    run character varying(1024),
    essay character varying(1024),
    grader character varying(1024),
    replaces character varying(1024)
);
CREATE SEQUENCE public.marks_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.marks_seq_seq OWNED BY public.marks.seq;
CREATE TABLE public.member_secrets (
    member character varying(64) NOT NULL,
    key bytea,
    sealed bytea NOT NULL,
    address_mark character varying(64)
);
CREATE TABLE public.members (
    id character varying(64) NOT NULL,
    code_name character varying(200) NOT NULL,
    role character varying(16) NOT NULL,
    body text NOT NULL,
    active boolean NOT NULL,
    employer_mark character varying(64)
);
CREATE TABLE public.model_calls (
    id character varying(64) NOT NULL,
    item character varying(64) NOT NULL,
    run character varying(200) NOT NULL,
    model character varying(200) NOT NULL,
    begun_at double precision NOT NULL,
    ended_at double precision,
    input_tokens integer NOT NULL,
    output_tokens integer NOT NULL,
    cached_input_tokens integer NOT NULL,
    cache_written_tokens integer NOT NULL,
    reasoning_tokens integer NOT NULL,
    cost_usd double precision,
    price_date character varying(64),
    seconds double precision,
    error text
);
CREATE TABLE public.names (
    code integer NOT NULL,
    kind character varying(40) NOT NULL,
    key character varying(1024) NOT NULL
);
CREATE SEQUENCE public.names_code_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.names_code_seq OWNED BY public.names.code;
CREATE TABLE public.outbox (
    id character varying(64) NOT NULL,
    kind character varying(16) NOT NULL,
    target character varying(64) NOT NULL,
    event character varying(64) NOT NULL,
    body text NOT NULL,
    state character varying(16) NOT NULL,
    tries integer NOT NULL,
    next_at double precision NOT NULL,
    answer character varying(300),
    made_at double precision NOT NULL,
    ended_at double precision
);
CREATE TABLE public.passkey_challenges (
    challenge_digest character varying(64) NOT NULL,
    member character varying(64),
    expires_at double precision NOT NULL
);
CREATE TABLE public.passkeys (
    credential character varying(512) NOT NULL,
    member character varying(64) NOT NULL,
    public_key bytea NOT NULL,
    sign_count integer NOT NULL,
    added_at double precision NOT NULL,
    name character varying(100) DEFAULT 'passkey'::character varying NOT NULL,
    used_at double precision,
    own boolean
);
CREATE TABLE public.picks (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    task character varying(1024),
    author character varying(1024)
);
CREATE SEQUENCE public.picks_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.picks_seq_seq OWNED BY public.picks.seq;
CREATE TABLE public.prepared (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    subject character varying(1024),
    words integer,
    tells integer
);
CREATE SEQUENCE public.prepared_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.prepared_seq_seq OWNED BY public.prepared.seq;
CREATE TABLE public.review_comments (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    task character varying(1024)
);
CREATE SEQUENCE public.review_comments_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.review_comments_seq_seq OWNED BY public.review_comments.seq;
CREATE TABLE public.review_decisions (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    task character varying(1024)
);
CREATE SEQUENCE public.review_decisions_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.review_decisions_seq_seq OWNED BY public.review_decisions.seq;
CREATE TABLE public.review_holds (
    task character varying(200) NOT NULL,
    draft character varying(512) NOT NULL,
    stage character varying(32) NOT NULL,
    holder character varying(200) NOT NULL,
    since double precision NOT NULL,
    expires_at double precision NOT NULL
);
CREATE TABLE public.reviews (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    task character varying(1024),
    reviewer character varying(1024)
);
CREATE SEQUENCE public.reviews_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.reviews_seq_seq OWNED BY public.reviews.seq;
CREATE TABLE public.rubric_marks (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    study character varying(1024),
    submission character varying(1024),
    grader character varying(1024)
);
CREATE SEQUENCE public.rubric_marks_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.rubric_marks_seq_seq OWNED BY public.rubric_marks.seq;
CREATE TABLE public.screenings (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    task character varying(1024)
);
CREATE SEQUENCE public.screenings_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.screenings_seq_seq OWNED BY public.screenings.seq;
CREATE TABLE public.seats (
    id character varying(64) NOT NULL,
    slot character varying(64) NOT NULL,
    study character varying(200) NOT NULL,
    comparison character varying(64) NOT NULL,
    task character varying(200) NOT NULL,
    member character varying(64) NOT NULL,
    state character varying(16) NOT NULL,
    turn integer NOT NULL,
    exposure integer NOT NULL,
    claimed_at double precision NOT NULL,
    expires_at double precision NOT NULL,
    ended_at double precision,
    draft text,
    draft_version integer NOT NULL,
    draft_saved_at double precision,
    clock text,
    read_brief_at double precision,
    decline_reason text,
    judgment character varying(64),
    submit_key character varying(64)
);
CREATE TABLE public.sessions (
    token_digest character varying(64) NOT NULL,
    member character varying(64) NOT NULL,
    form_token character varying(64) NOT NULL,
    opened_at double precision NOT NULL,
    seen_at double precision NOT NULL,
    ends_at double precision NOT NULL,
    entry character varying(16)
);
CREATE TABLE public.severity_ratings (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    study character varying(1024),
    submission character varying(1024),
    grader character varying(1024)
);
CREATE SEQUENCE public.severity_ratings_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.severity_ratings_seq_seq OWNED BY public.severity_ratings.seq;
CREATE TABLE public.slots (
    id character varying(64) NOT NULL,
    study character varying(200) NOT NULL,
    kind character varying(16) NOT NULL,
    comparison character varying(64) NOT NULL,
    task character varying(200) NOT NULL,
    occupation character varying(300) NOT NULL,
    turn integer NOT NULL,
    rank integer NOT NULL,
    body text NOT NULL,
    holder character varying(64),
    done boolean NOT NULL
);
CREATE TABLE public.studies (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    id character varying(1024)
);
CREATE SEQUENCE public.studies_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.studies_seq_seq OWNED BY public.studies.seq;
CREATE TABLE public.submissions (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    task character varying(1024),
    author character varying(1024),
    replaces character varying(1024)
);
CREATE SEQUENCE public.submissions_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.submissions_seq_seq OWNED BY public.submissions.seq;
CREATE TABLE public.tasks (
    seq bigint NOT NULL,
    key character varying(512) NOT NULL,
    digest character varying(64) NOT NULL,
    body text NOT NULL,
    id character varying(1024),
    sector character varying(1024),
    occupation character varying(1024)
);
CREATE SEQUENCE public.tasks_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.tasks_seq_seq OWNED BY public.tasks.seq;
CREATE TABLE public.verdicts (
    judgment bigint NOT NULL,
    place smallint NOT NULL,
    study integer NOT NULL,
    comparison bigint NOT NULL,
    task integer NOT NULL,
    work bigint NOT NULL,
    grader integer NOT NULL,
    rank integer,
    sweep integer NOT NULL,
    planned boolean NOT NULL,
    exposure integer,
    replaces bigint,
    accepted smallint,
    edit_minutes double precision,
    guess smallint,
    strength smallint,
    confidence double precision,
    specification smallint,
    active_ms bigint,
    omitted integer NOT NULL,
    failure integer,
    cost_usd double precision,
    made_at bigint NOT NULL,
    key_head bigint NOT NULL,
    correctness smallint,
    accuracy smallint,
    completeness smallint,
    instruction_following smallint,
    calculation smallint,
    structure smallint,
    style smallint,
    format smallint,
    aesthetics smallint,
    relevance smallint
);
CREATE TABLE public.verdicts_waiting (
    judgment bigint NOT NULL,
    needs character varying(512) NOT NULL
);
CREATE TABLE public.webhooks (
    id character varying(64) NOT NULL,
    url character varying(2000) NOT NULL,
    events text NOT NULL,
    sealed bytea NOT NULL,
    member character varying(64) NOT NULL,
    made_at double precision NOT NULL,
    revoked_at double precision
);
CREATE TABLE public.work_items (
    key character varying(64) NOT NULL,
    kind character varying(200) NOT NULL,
    state character varying(16) NOT NULL,
    run character varying(200) NOT NULL,
    tries integer NOT NULL,
    result text,
    error text,
    worker character varying(200),
    leased_until double precision,
    ended_at double precision
);
CREATE TABLE public.works (
    work bigint NOT NULL,
    task integer NOT NULL,
    author integer NOT NULL,
    stop smallint NOT NULL,
    seconds double precision,
    cost_usd double precision,
    confidence double precision,
    kinds integer
);
ALTER TABLE ONLY public.audit ALTER COLUMN seq SET DEFAULT nextval('public.audit_seq_seq'::regclass);
ALTER TABLE ONLY public.authors ALTER COLUMN code SET DEFAULT nextval('public.authors_code_seq'::regclass);
ALTER TABLE ONLY public.brief_variants ALTER COLUMN seq SET DEFAULT nextval('public.brief_variants_seq_seq'::regclass);
ALTER TABLE ONLY public.comparisons ALTER COLUMN seq SET DEFAULT nextval('public.comparisons_seq_seq'::regclass);
ALTER TABLE ONLY public.drafts ALTER COLUMN seq SET DEFAULT nextval('public.drafts_seq_seq'::regclass);
ALTER TABLE ONLY public.essays ALTER COLUMN seq SET DEFAULT nextval('public.essays_seq_seq'::regclass);
ALTER TABLE ONLY public.gradability ALTER COLUMN seq SET DEFAULT nextval('public.gradability_seq_seq'::regclass);
ALTER TABLE ONLY public.graders ALTER COLUMN code SET DEFAULT nextval('public.graders_code_seq'::regclass);
ALTER TABLE ONLY public.judgments ALTER COLUMN seq SET DEFAULT nextval('public.judgments_seq_seq'::regclass);
ALTER TABLE ONLY public.marks ALTER COLUMN seq SET DEFAULT nextval('public.marks_seq_seq'::regclass);
ALTER TABLE ONLY public.names ALTER COLUMN code SET DEFAULT nextval('public.names_code_seq'::regclass);
ALTER TABLE ONLY public.picks ALTER COLUMN seq SET DEFAULT nextval('public.picks_seq_seq'::regclass);
ALTER TABLE ONLY public.prepared ALTER COLUMN seq SET DEFAULT nextval('public.prepared_seq_seq'::regclass);
ALTER TABLE ONLY public.review_comments ALTER COLUMN seq SET DEFAULT nextval('public.review_comments_seq_seq'::regclass);
ALTER TABLE ONLY public.review_decisions ALTER COLUMN seq SET DEFAULT nextval('public.review_decisions_seq_seq'::regclass);
ALTER TABLE ONLY public.reviews ALTER COLUMN seq SET DEFAULT nextval('public.reviews_seq_seq'::regclass);
ALTER TABLE ONLY public.rubric_marks ALTER COLUMN seq SET DEFAULT nextval('public.rubric_marks_seq_seq'::regclass);
ALTER TABLE ONLY public.screenings ALTER COLUMN seq SET DEFAULT nextval('public.screenings_seq_seq'::regclass);
ALTER TABLE ONLY public.severity_ratings ALTER COLUMN seq SET DEFAULT nextval('public.severity_ratings_seq_seq'::regclass);
ALTER TABLE ONLY public.studies ALTER COLUMN seq SET DEFAULT nextval('public.studies_seq_seq'::regclass);
ALTER TABLE ONLY public.submissions ALTER COLUMN seq SET DEFAULT nextval('public.submissions_seq_seq'::regclass);
ALTER TABLE ONLY public.tasks ALTER COLUMN seq SET DEFAULT nextval('public.tasks_seq_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0014');
SELECT pg_catalog.setval('public.audit_seq_seq', 1, false);
SELECT pg_catalog.setval('public.authors_code_seq', 1, false);
SELECT pg_catalog.setval('public.brief_variants_seq_seq', 1, false);
SELECT pg_catalog.setval('public.comparisons_seq_seq', 1, false);
SELECT pg_catalog.setval('public.drafts_seq_seq', 1, false);
SELECT pg_catalog.setval('public.essays_seq_seq', 1, false);
SELECT pg_catalog.setval('public.gradability_seq_seq', 1, false);
SELECT pg_catalog.setval('public.graders_code_seq', 1, false);
SELECT pg_catalog.setval('public.judgments_seq_seq', 1, false);
SELECT pg_catalog.setval('public.marks_seq_seq', 1, false);
SELECT pg_catalog.setval('public.names_code_seq', 1, true);
SELECT pg_catalog.setval('public.picks_seq_seq', 1, false);
SELECT pg_catalog.setval('public.prepared_seq_seq', 1, false);
SELECT pg_catalog.setval('public.review_comments_seq_seq', 1, false);
SELECT pg_catalog.setval('public.review_decisions_seq_seq', 1, false);
SELECT pg_catalog.setval('public.reviews_seq_seq', 1, false);
SELECT pg_catalog.setval('public.rubric_marks_seq_seq', 1, false);
SELECT pg_catalog.setval('public.screenings_seq_seq', 1, false);
SELECT pg_catalog.setval('public.severity_ratings_seq_seq', 1, false);
SELECT pg_catalog.setval('public.studies_seq_seq', 1, false);
SELECT pg_catalog.setval('public.submissions_seq_seq', 1, false);
SELECT pg_catalog.setval('public.tasks_seq_seq', 1, false);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT pk_api_tokens PRIMARY KEY (token_digest);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT pk_audit PRIMARY KEY (seq);
ALTER TABLE ONLY public.authors
    ADD CONSTRAINT pk_authors PRIMARY KEY (code);
ALTER TABLE ONLY public.boards
    ADD CONSTRAINT pk_boards PRIMARY KEY (study);
ALTER TABLE ONLY public.brief_variants
    ADD CONSTRAINT pk_brief_variants PRIMARY KEY (seq);
ALTER TABLE ONLY public.comparisons
    ADD CONSTRAINT pk_comparisons PRIMARY KEY (seq);
ALTER TABLE ONLY public.desk_copies
    ADD CONSTRAINT pk_desk_copies PRIMARY KEY (task);
ALTER TABLE ONLY public.drafts
    ADD CONSTRAINT pk_drafts PRIMARY KEY (seq);
ALTER TABLE ONLY public.entry_links
    ADD CONSTRAINT pk_entry_links PRIMARY KEY (token_digest);
ALTER TABLE ONLY public.essays
    ADD CONSTRAINT pk_essays PRIMARY KEY (seq);
ALTER TABLE ONLY public.gradability
    ADD CONSTRAINT pk_gradability PRIMARY KEY (seq);
ALTER TABLE ONLY public.graders
    ADD CONSTRAINT pk_graders PRIMARY KEY (code);
ALTER TABLE ONLY public.gradings
    ADD CONSTRAINT pk_gradings PRIMARY KEY (id);
ALTER TABLE ONLY public.judgments
    ADD CONSTRAINT pk_judgments PRIMARY KEY (seq);
ALTER TABLE ONLY public.marks
    ADD CONSTRAINT pk_marks PRIMARY KEY (seq);
ALTER TABLE ONLY public.member_secrets
    ADD CONSTRAINT pk_member_secrets PRIMARY KEY (member);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT pk_members PRIMARY KEY (id);
ALTER TABLE ONLY public.model_calls
    ADD CONSTRAINT pk_model_calls PRIMARY KEY (id);
ALTER TABLE ONLY public.names
    ADD CONSTRAINT pk_names PRIMARY KEY (code);
ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT pk_outbox PRIMARY KEY (id);
ALTER TABLE ONLY public.passkey_challenges
    ADD CONSTRAINT pk_passkey_challenges PRIMARY KEY (challenge_digest);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT pk_passkeys PRIMARY KEY (credential);
ALTER TABLE ONLY public.picks
    ADD CONSTRAINT pk_picks PRIMARY KEY (seq);
ALTER TABLE ONLY public.prepared
    ADD CONSTRAINT pk_prepared PRIMARY KEY (seq);
ALTER TABLE ONLY public.review_comments
    ADD CONSTRAINT pk_review_comments PRIMARY KEY (seq);
ALTER TABLE ONLY public.review_decisions
    ADD CONSTRAINT pk_review_decisions PRIMARY KEY (seq);
ALTER TABLE ONLY public.review_holds
    ADD CONSTRAINT pk_review_holds PRIMARY KEY (task);
ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT pk_reviews PRIMARY KEY (seq);
ALTER TABLE ONLY public.rubric_marks
    ADD CONSTRAINT pk_rubric_marks PRIMARY KEY (seq);
ALTER TABLE ONLY public.screenings
    ADD CONSTRAINT pk_screenings PRIMARY KEY (seq);
ALTER TABLE ONLY public.seats
    ADD CONSTRAINT pk_seats PRIMARY KEY (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT pk_sessions PRIMARY KEY (token_digest);
ALTER TABLE ONLY public.severity_ratings
    ADD CONSTRAINT pk_severity_ratings PRIMARY KEY (seq);
ALTER TABLE ONLY public.slots
    ADD CONSTRAINT pk_slots PRIMARY KEY (id);
ALTER TABLE ONLY public.studies
    ADD CONSTRAINT pk_studies PRIMARY KEY (seq);
ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT pk_submissions PRIMARY KEY (seq);
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT pk_tasks PRIMARY KEY (seq);
ALTER TABLE ONLY public.verdicts
    ADD CONSTRAINT pk_verdicts PRIMARY KEY (judgment, place);
ALTER TABLE ONLY public.verdicts_waiting
    ADD CONSTRAINT pk_verdicts_waiting PRIMARY KEY (judgment);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT pk_webhooks PRIMARY KEY (id);
ALTER TABLE ONLY public.work_items
    ADD CONSTRAINT pk_work_items PRIMARY KEY (key);
ALTER TABLE ONLY public.works
    ADD CONSTRAINT pk_works PRIMARY KEY (work);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT uq_audit_before UNIQUE (before);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT uq_audit_digest UNIQUE (digest);
ALTER TABLE ONLY public.authors
    ADD CONSTRAINT uq_authors_key_kind UNIQUE (key, kind);
ALTER TABLE ONLY public.brief_variants
    ADD CONSTRAINT uq_brief_variants_key UNIQUE (key);
ALTER TABLE ONLY public.comparisons
    ADD CONSTRAINT uq_comparisons_key UNIQUE (key);
ALTER TABLE ONLY public.drafts
    ADD CONSTRAINT uq_drafts_key UNIQUE (key);
ALTER TABLE ONLY public.essays
    ADD CONSTRAINT uq_essays_key UNIQUE (key);
ALTER TABLE ONLY public.gradability
    ADD CONSTRAINT uq_gradability_key UNIQUE (key);
ALTER TABLE ONLY public.graders
    ADD CONSTRAINT uq_graders_key_kind UNIQUE (key, kind);
ALTER TABLE ONLY public.gradings
    ADD CONSTRAINT uq_gradings_token_idempotency_key UNIQUE (token, idempotency_key);
ALTER TABLE ONLY public.judgments
    ADD CONSTRAINT uq_judgments_key UNIQUE (key);
ALTER TABLE ONLY public.marks
    ADD CONSTRAINT uq_marks_key UNIQUE (key);
ALTER TABLE ONLY public.member_secrets
    ADD CONSTRAINT uq_member_secrets_address_mark UNIQUE (address_mark);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT uq_members_code_name UNIQUE (code_name);
ALTER TABLE ONLY public.names
    ADD CONSTRAINT uq_names_key_kind UNIQUE (key, kind);
ALTER TABLE ONLY public.picks
    ADD CONSTRAINT uq_picks_key UNIQUE (key);
ALTER TABLE ONLY public.prepared
    ADD CONSTRAINT uq_prepared_key UNIQUE (key);
ALTER TABLE ONLY public.review_comments
    ADD CONSTRAINT uq_review_comments_key UNIQUE (key);
ALTER TABLE ONLY public.review_decisions
    ADD CONSTRAINT uq_review_decisions_key UNIQUE (key);
ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT uq_reviews_key UNIQUE (key);
ALTER TABLE ONLY public.rubric_marks
    ADD CONSTRAINT uq_rubric_marks_key UNIQUE (key);
ALTER TABLE ONLY public.screenings
    ADD CONSTRAINT uq_screenings_key UNIQUE (key);
ALTER TABLE ONLY public.seats
    ADD CONSTRAINT uq_seats_slot_member UNIQUE (slot, member);
ALTER TABLE ONLY public.seats
    ADD CONSTRAINT uq_seats_submit_key UNIQUE (submit_key);
ALTER TABLE ONLY public.severity_ratings
    ADD CONSTRAINT uq_severity_ratings_key UNIQUE (key);
ALTER TABLE ONLY public.studies
    ADD CONSTRAINT uq_studies_key UNIQUE (key);
ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT uq_submissions_key UNIQUE (key);
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT uq_tasks_key UNIQUE (key);
CREATE INDEX ix_audit_subject ON public.audit USING btree (subject);
CREATE INDEX ix_brief_variants_task ON public.brief_variants USING btree (task);
CREATE INDEX ix_comparisons_study ON public.comparisons USING btree (study);
CREATE INDEX ix_comparisons_task ON public.comparisons USING btree (task);
CREATE INDEX ix_desk_copies_author ON public.desk_copies USING btree (author);
CREATE INDEX ix_drafts_author ON public.drafts USING btree (author);
CREATE INDEX ix_drafts_task ON public.drafts USING btree (task);
CREATE INDEX ix_essays_author ON public.essays USING btree (author);
CREATE INDEX ix_essays_domain ON public.essays USING btree (domain);
CREATE INDEX ix_essays_run ON public.essays USING btree (run);
CREATE INDEX ix_gradability_task ON public.gradability USING btree (task);
CREATE INDEX ix_gradings_token_made_at ON public.gradings USING btree (token, made_at);
CREATE INDEX ix_judgments_comparison ON public.judgments USING btree (comparison);
CREATE INDEX ix_judgments_failed ON public.judgments USING btree (failed);
CREATE INDEX ix_judgments_grader ON public.judgments USING btree (grader);
CREATE INDEX ix_judgments_replaces ON public.judgments USING btree (replaces);
CREATE INDEX ix_marks_essay ON public.marks USING btree (essay);
CREATE INDEX ix_marks_grader ON public.marks USING btree (grader);
CREATE INDEX ix_marks_replaces ON public.marks USING btree (replaces);
CREATE INDEX ix_marks_run ON public.marks USING btree (run);
CREATE INDEX ix_members_employer_mark ON public.members USING btree (employer_mark);
CREATE INDEX ix_model_calls_item ON public.model_calls USING btree (item);
CREATE INDEX ix_model_calls_run ON public.model_calls USING btree (run);
CREATE INDEX ix_outbox_kind_made_at ON public.outbox USING btree (kind, made_at);
CREATE INDEX ix_outbox_state_next_at ON public.outbox USING btree (state, next_at);
CREATE INDEX ix_passkeys_member ON public.passkeys USING btree (member);
CREATE INDEX ix_picks_author ON public.picks USING btree (author);
CREATE INDEX ix_picks_task ON public.picks USING btree (task);
CREATE INDEX ix_prepared_subject ON public.prepared USING btree (subject);
CREATE INDEX ix_review_comments_task ON public.review_comments USING btree (task);
CREATE INDEX ix_review_decisions_task ON public.review_decisions USING btree (task);
CREATE INDEX ix_reviews_reviewer ON public.reviews USING btree (reviewer);
CREATE INDEX ix_reviews_task ON public.reviews USING btree (task);
CREATE INDEX ix_rubric_marks_grader ON public.rubric_marks USING btree (grader);
CREATE INDEX ix_rubric_marks_study ON public.rubric_marks USING btree (study);
CREATE INDEX ix_rubric_marks_submission ON public.rubric_marks USING btree (submission);
CREATE INDEX ix_screenings_task ON public.screenings USING btree (task);
CREATE INDEX ix_seats_met ON public.seats USING btree (member, task, comparison, study, state);
CREATE INDEX ix_seats_state_expires_at ON public.seats USING btree (state, expires_at);
CREATE INDEX ix_seats_taken ON public.seats USING btree (member, claimed_at, id, state);
CREATE INDEX ix_sessions_member ON public.sessions USING btree (member);
CREATE INDEX ix_severity_ratings_grader ON public.severity_ratings USING btree (grader);
CREATE INDEX ix_severity_ratings_study ON public.severity_ratings USING btree (study);
CREATE INDEX ix_severity_ratings_submission ON public.severity_ratings USING btree (submission);
CREATE INDEX ix_slots_comparison ON public.slots USING btree (comparison);
CREATE INDEX ix_slots_open ON public.slots USING btree (study, done, holder, rank);
CREATE INDEX ix_slots_open_to ON public.slots USING btree (study, occupation, done, holder, rank);
CREATE INDEX ix_studies_id ON public.studies USING btree (id);
CREATE INDEX ix_submissions_author ON public.submissions USING btree (author);
CREATE INDEX ix_submissions_replaces ON public.submissions USING btree (replaces);
CREATE INDEX ix_submissions_task ON public.submissions USING btree (task);
CREATE INDEX ix_tasks_id ON public.tasks USING btree (id);
CREATE INDEX ix_tasks_occupation ON public.tasks USING btree (occupation);
CREATE INDEX ix_tasks_sector ON public.tasks USING btree (sector);
CREATE INDEX ix_verdicts_study_judgment ON public.verdicts USING btree (study, judgment);
CREATE INDEX ix_verdicts_waiting_needs ON public.verdicts_waiting USING btree (needs);
CREATE INDEX ix_work_items_run_kind_state ON public.work_items USING btree (run, kind, state);
CREATE INDEX ix_works_task ON public.works USING btree (task);
ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT fk_api_tokens_member_members FOREIGN KEY (member) REFERENCES public.members(id);
ALTER TABLE ONLY public.entry_links
    ADD CONSTRAINT fk_entry_links_member_members FOREIGN KEY (member) REFERENCES public.members(id);
ALTER TABLE ONLY public.gradings
    ADD CONSTRAINT fk_gradings_token_api_tokens FOREIGN KEY (token) REFERENCES public.api_tokens(token_digest);
ALTER TABLE ONLY public.member_secrets
    ADD CONSTRAINT fk_member_secrets_member_members FOREIGN KEY (member) REFERENCES public.members(id);
ALTER TABLE ONLY public.passkey_challenges
    ADD CONSTRAINT fk_passkey_challenges_member_members FOREIGN KEY (member) REFERENCES public.members(id);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT fk_passkeys_member_members FOREIGN KEY (member) REFERENCES public.members(id);
ALTER TABLE ONLY public.seats
    ADD CONSTRAINT fk_seats_member_members FOREIGN KEY (member) REFERENCES public.members(id);
ALTER TABLE ONLY public.seats
    ADD CONSTRAINT fk_seats_slot_slots FOREIGN KEY (slot) REFERENCES public.slots(id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT fk_sessions_member_members FOREIGN KEY (member) REFERENCES public.members(id);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT fk_webhooks_member_members FOREIGN KEY (member) REFERENCES public.members(id);
