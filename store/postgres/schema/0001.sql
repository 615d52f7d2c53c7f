-- The tables of a store in a PostgreSQL database: schema 1. Who may do what with
-- them is in rights.sql.
--
-- The user comes first in every key, so that the tables can be partitioned or
-- spread by it. heads, leases, journal and tombstones hold no text of anybody's and are
-- seen without row security: by them it is known whose a session is.
--
-- Bytes that text cannot hold (NUL) are U+FFFD in the columns that are looked
-- through; what callers get back is read from state and payload, which are
-- exact. Texts are compared by their bytes, whatever the database's language.

-- Which schema these are. (Development builds from before the first release had a
-- table skein_meta or skein_schema for that.)
CREATE TABLE skein_version (
	one     integer PRIMARY KEY CHECK (one = 1),
	version integer NOT NULL,
	program text    NOT NULL -- that brought the tables to it
);

CREATE SEQUENCE numbers; -- of sessions
CREATE SEQUENCE fences; -- of leases: none has the number of another, be it of a session that was deleted

-- Ends a transaction in which something is not as it was when it was read. Its
-- program tries again.
CREATE FUNCTION must_be(is_so boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF is_so THEN
		RETURN true;
	END IF;
	RAISE EXCEPTION 'something has changed meanwhile' USING ERRCODE = 'SK001';
END $$;

-- Ends a transaction of a program that knows the tables in another version. Its
-- error's detail is the one that they have.
CREATE FUNCTION other_schema() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'the tables have another version' USING ERRCODE = 'SK002', DETAIL = (SELECT m.version::text FROM skein_version m);
END $$;

-- One narrow row for each session that has begun, or whose lease was taken:
-- the end of its events and the newest lease's number. An append is an UPDATE
-- of it, so those to one session come one after the other.
CREATE TABLE heads (
	id       text COLLATE "C" PRIMARY KEY,
	user_id  text COLLATE "C" NOT NULL,
	n        bigint NOT NULL UNIQUE DEFAULT nextval('numbers'), -- all other tables name the session by that
	last     bigint NOT NULL DEFAULT 0, -- seq of its last event; 0: it has not begun
	revision bigint NOT NULL DEFAULT 0, -- raised by all that changes its row in sessions but appends
	epoch    bigint NOT NULL DEFAULT 0, -- number of the newest lease
	held     boolean NOT NULL DEFAULT false,
	expires  timestamptz NOT NULL DEFAULT '-infinity' -- of the lease, if it is held; this server's clock
) WITH (fillfactor = 50);

CREATE INDEX heads_by_user ON heads (user_id, id);

-- Who took the newest lease. The user is that of heads.
CREATE TABLE leases (
	id      text COLLATE "C" PRIMARY KEY,
	user_id text COLLATE "C" NOT NULL,
	epoch   bigint NOT NULL,
	ttl     bigint NOT NULL, -- milliseconds; 0: the process that holds it says every few seconds that it lives
	holder  text COLLATE "C" NOT NULL  -- JSON
) WITH (fillfactor = 70);

-- The timeline of this server's log: another one after each time that a standby
-- took over. 0 where the server does not tell it.
DO $do$
BEGIN
	PERFORM pg_walfile_name(pg_current_wal_insert_lsn());
	CREATE FUNCTION timeline() RETURNS integer LANGUAGE sql STABLE
		AS $$ SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer $$;
EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported OR object_not_in_prerequisite_state THEN
	CREATE FUNCTION timeline() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 0';
END $do$;

-- What was appended, in an order that misses nothing: rows are read when their
-- transaction is older than all that still run and may write here (journal_edge).
-- In one session the order of xid is that of seq, for an append says which last
-- seq it saw.
CREATE TABLE journal (
	xid     xid8   NOT NULL DEFAULT pg_current_xact_id(),
	ordinal integer NOT NULL, -- among those of the transaction
	user_id text COLLATE "C" NOT NULL,
	n       bigint NOT NULL,
	after   bigint NOT NULL, -- the events behind this seq
	upto    bigint NOT NULL, -- up to and with this one
	line    integer NOT NULL DEFAULT timeline(), -- a new one gives numbers again whose transactions were lost
	stored  timestamptz NOT NULL DEFAULT clock_timestamp() -- a moment before
);
CREATE UNIQUE INDEX journal_by_xid ON journal (xid, ordinal);
CREATE INDEX journal_by_user ON journal (user_id, xid, ordinal);
CREATE INDEX journal_by_session ON journal (user_id, n, xid);

-- The number below which there is no transaction that still runs and may write to
-- journal: what a later statement reads below it is all there is and will be.
-- Whoever writes there has locked it (ROW EXCLUSIVE, as each INSERT does) before it
-- got its number. So who has a number and no such lock, and runs still after that
-- was seen, never will, however long he stays, and in whichever database. (Who
-- ends gives back his locks one by one, but counts as ended before: therefore the
-- locks are looked at first.) Of who got his number while the locks were looked at
-- that may have shown one of his locks and not the other: he counts as if he had
-- it, as does who is not found among them. A standby knows of no locks, and where all
-- statements of a transaction see the same it cannot be told who runs still. It sees
-- everybody's rows, and has then one plan for all.
CREATE FUNCTION journal_edge() RETURNS xid8 LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
	before pg_snapshot := pg_current_snapshot();
	now pg_snapshot;
	others bigint[];
BEGIN
	IF pg_is_in_recovery() OR current_setting('transaction_isolation') <> 'read committed' OR NOT has_table_privilege('pg_locks', 'SELECT')
		OR (SELECT j.xid FROM journal j ORDER BY j.xid DESC LIMIT 1) < pg_snapshot_xmin(before) IS NOT FALSE THEN
		RETURN pg_snapshot_xmin(before);
	END IF;
	WITH l AS MATERIALIZED (SELECT locktype, database, relation, virtualtransaction, transactionid, mode, granted FROM pg_locks),
	writers AS (SELECT virtualtransaction FROM l WHERE locktype = 'relation' AND relation = 'journal'::regclass AND mode NOT IN ('AccessShareLock', 'RowShareLock')
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
	SELECT array_agg(transactionid::text::bigint) INTO others FROM l WHERE locktype = 'transactionid' AND granted AND mode = 'ExclusiveLock'
		AND virtualtransaction NOT IN (SELECT virtualtransaction FROM writers);
	now := pg_current_snapshot(); -- a new one
	RETURN coalesce((SELECT x FROM pg_snapshot_xip(now) x WHERE others IS NULL OR x::text::bigint % 4294967296 <> ALL (others) OR x >= pg_snapshot_xmax(before) ORDER BY x LIMIT 1),
		pg_snapshot_xmax(now));
END $$;

-- What a session's events add up to. state is the whole of it; the other
-- columns are what lists look for.
CREATE TABLE sessions (
	user_id  text COLLATE "C" NOT NULL,
	n        bigint NOT NULL,
	id       text COLLATE "C" NOT NULL,
	state    bytea  NOT NULL, -- JSON of a skein.Session and what the store keeps beside it
	key      text COLLATE "C" NOT NULL DEFAULT '',
	surface  text COLLATE "C" NOT NULL DEFAULT '',
	project  text COLLATE "C" NOT NULL DEFAULT '',
	repository text COLLATE "C" NOT NULL DEFAULT '', -- the same in every clone
	agent    text COLLATE "C" NOT NULL DEFAULT '',
	profile  text COLLATE "C" NOT NULL DEFAULT '',
	model    text COLLATE "C" NOT NULL DEFAULT '',
	parent   text COLLATE "C" NOT NULL DEFAULT '',
	why      text COLLATE "C" NOT NULL DEFAULT '',
	origin   text COLLATE "C" NOT NULL DEFAULT '',
	tags     text[] COLLATE "C" NOT NULL DEFAULT '{}',
	branch   text COLLATE "C" NOT NULL DEFAULT '',
	doing    text COLLATE "C" NOT NULL DEFAULT 'idle', -- working, waiting, idle, failed or ended, by what its events say
	pinned   boolean NOT NULL DEFAULT false,
	empty    boolean NOT NULL DEFAULT true, -- shows no event but created
	open     boolean NOT NULL DEFAULT false, -- has calls without an answer
	recent   bigint NOT NULL DEFAULT 0, -- updated >> 10: the index need not change with every append
	updated  bigint NOT NULL DEFAULT 0, -- milliseconds since 1970
	binned   bigint NOT NULL DEFAULT 0,
	bytes    bigint NOT NULL DEFAULT 0,
	-- What indexes have: an expression would not do, for row security lets only
	-- plain comparisons near rows that may be another's.
	id_end       text COLLATE "C" NOT NULL GENERATED ALWAYS AS (right(id, 4)) STORED,
	project_head text COLLATE "C" NOT NULL GENERATED ALWAYS AS (left(project, 200)) STORED, -- all of it may be too long for an index
	repository_head text COLLATE "C" NOT NULL GENERATED ALWAYS AS (left(repository, 200)) STORED,
	PRIMARY KEY (user_id, n)
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX sessions_by_id ON sessions (user_id, id);
CREATE INDEX sessions_by_recent ON sessions (user_id, recent DESC);
CREATE INDEX sessions_all_by_recent ON sessions ((-recent)); -- everybody's; an expression, so that it is never taken for a way to one user's
CREATE UNIQUE INDEX sessions_by_key ON sessions (user_id, key) WHERE key <> '' AND binned = 0;
CREATE INDEX sessions_by_project ON sessions (user_id, project_head);
CREATE INDEX sessions_by_repository ON sessions (user_id, repository_head) WHERE repository <> '';
CREATE INDEX sessions_by_end ON sessions (user_id, id_end);
CREATE INDEX sessions_by_parent ON sessions (user_id, parent) WHERE parent <> '';

-- What lists look for titles by: a session's title, else its first words, in
-- small letters. It stands apart, for the rows of sessions change with every
-- append, and so would the index.
CREATE TABLE names (
	user_id text COLLATE "C" NOT NULL,
	n       bigint NOT NULL,
	name    text COLLATE "C" NOT NULL,
	PRIMARY KEY (user_id, n)
);

-- One row for each event: the truth. What the columns hold beside the payload
-- follows from it.
CREATE TABLE events (
	user_id  text COLLATE "C" NOT NULL,
	n        bigint  NOT NULL,
	seq      bigint  NOT NULL,
	at       bigint  NOT NULL, -- writer's clock, milliseconds since 1970
	kind     text COLLATE "C" NOT NULL,
	turn     integer NOT NULL, -- messages that a person typed up to here
	ordinal  integer NOT NULL, -- messages up to here
	prev     bigint  NOT NULL, -- seq of the said event before it, a fork's parent's included; 0 if none
	piece    boolean NOT NULL, -- further piece of a message
	failed   boolean NOT NULL,
	imported boolean NOT NULL,
	client   text COLLATE "C",             -- client ID
	hash     bytea,            -- of kind and payload, 16 bytes; with a client ID only
	sum      bigint  NOT NULL, -- skein.Event.Sum: what does not match it is damaged
	role     text COLLATE "C",             -- of a said event
	agent    text COLLATE "C",             -- that spoke, where it is not the session's
	message  text COLLATE "C",             -- message ID, where several events may be one message
	amends   bigint,           -- of an amended event: the seq it is about; role to paths are what stands there now
	tools    text COLLATE "C",             -- names of the tools it calls or answers, one a line
	paths    text COLLATE "C",             -- files that it names, one a line
	payload  bytea   NOT NULL, -- JSON, as it was given
	PRIMARY KEY (user_id, n, seq)
);

CREATE INDEX events_by_client ON events (user_id, client, n) WHERE client IS NOT NULL;
CREATE INDEX events_by_message ON events (user_id, n, message) WHERE message IS NOT NULL;
CREATE INDEX events_marks ON events (user_id, n, kind, seq) WHERE kind IN ('rewound', 'compacted', 'amended');
CREATE INDEX events_amended ON events (user_id, n, amends, seq) WHERE amends IS NOT NULL;
CREATE INDEX events_settings ON events (user_id, n, seq) WHERE kind IN ('created', 'changed');

-- Where a fork's events before its own stand: those up to and with upto are
-- base's, a session's or that of one that was deleted (see reparented).
CREATE TABLE bases (
	user_id text COLLATE "C" NOT NULL,
	n       bigint NOT NULL,
	base    bigint NOT NULL,
	upto    bigint NOT NULL,
	made    bigint NOT NULL DEFAULT nextval('numbers'), -- the order in which forks were made
	PRIMARY KEY (user_id, n)
);
CREATE INDEX bases_by_base ON bases (user_id, base, upto);

-- The places of a session, a fork's parent's included, that were taken back:
-- those behind after, up to and with upto.
CREATE TABLE rewound_ranges (
	user_id text COLLATE "C" NOT NULL,
	n       bigint NOT NULL,
	after   bigint NOT NULL,
	upto    bigint NOT NULL,
	PRIMARY KEY (user_id, n, after)
);

-- The events of a deleted session that forks still show stay where they are,
-- up to and with upto; owner is the session that they count as. So they are
-- found: ... JOIN sessions s ON s.n = coalesce(reparented.owner, e.n), and only
-- up to upto.
CREATE TABLE reparented (
	user_id text COLLATE "C" NOT NULL,
	n       bigint NOT NULL,
	owner   bigint NOT NULL,
	upto    bigint NOT NULL,
	PRIMARY KEY (user_id, n)
);
CREATE INDEX reparented_by_owner ON reparented (user_id, owner);

-- What is being destroyed, step by step: the events of n after the seq above,
-- and all that hangs on them. Nobody is shown these any more.
CREATE TABLE purge_queue (
	user_id text COLLATE "C" NOT NULL,
	n       bigint NOT NULL,
	above   bigint NOT NULL,
	PRIMARY KEY (user_id, n)
);

-- Scrubs under way. If the process that does one dies, another goes on.
CREATE TABLE scrubs (
	user_id text COLLATE "C" NOT NULL,
	n       bigint NOT NULL DEFAULT nextval('numbers'),
	id      text COLLATE "C" NOT NULL, -- of the session
	secrets bytea NOT NULL, -- JSON
	alive   timestamptz NOT NULL DEFAULT now(), -- when it was worked on last
	PRIMARY KEY (user_id, n)
);

-- What each event added to the usage, and the sums for each session. project,
-- repository and agent are those of the session that it counts as: sums by these need
-- nothing else. What a request costs depends on more than its model, so sums are kept by
-- tier. (Sums over sessions would make appends to different ones wait for each
-- other, and would be hardly fewer: few sessions share a quarter of an hour.)
CREATE TABLE charges (
	user_id     text COLLATE "C" NOT NULL,
	n           bigint NOT NULL,
	seq         bigint NOT NULL,
	request     text COLLATE "C",            -- provider request ID; NULL if it had none
	slot        bigint NOT NULL, -- start of the quarter hour
	provider    text COLLATE "C" NOT NULL,
	model       text COLLATE "C" NOT NULL,
	tier        text COLLATE "C" NOT NULL, -- skein.Tier: the service tier, and how long the prompt was
	recorded    boolean NOT NULL, -- whether this is of a request whose cost the source reported
	input       bigint NOT NULL,
	output      bigint NOT NULL,
	reasoning   bigint NOT NULL,
	cache_read  bigint NOT NULL,
	cache_write bigint NOT NULL,
	cache_hour  bigint NOT NULL, -- part of cache_write: kept for an hour
	requests    bigint NOT NULL,
	reported    bigint NOT NULL, -- billionths of a US dollar
	PRIMARY KEY (user_id, n, seq, recorded)
);
CREATE INDEX charges_by_request ON charges (user_id, request) WHERE request IS NOT NULL;

CREATE TABLE usage (
	user_id     text COLLATE "C" NOT NULL,
	n           bigint NOT NULL,
	slot        bigint NOT NULL,
	provider    text COLLATE "C" NOT NULL,
	model       text COLLATE "C" NOT NULL,
	tier        text COLLATE "C" NOT NULL,
	recorded    boolean NOT NULL,
	project     text COLLATE "C" NOT NULL,
	repository  text COLLATE "C" NOT NULL,
	agent       text COLLATE "C" NOT NULL,
	input       bigint NOT NULL,
	output      bigint NOT NULL,
	reasoning   bigint NOT NULL,
	cache_read  bigint NOT NULL,
	cache_write bigint NOT NULL,
	cache_hour  bigint NOT NULL,
	requests    bigint NOT NULL,
	reported    bigint NOT NULL,
	PRIMARY KEY (user_id, n, slot, provider, model, tier, recorded)
) WITH (fillfactor = 70);

-- What lies out of line, once for each user, for as long as an event refers
-- to it.
CREATE TABLE blobs (
	user_id text COLLATE "C" NOT NULL,
	hash    bytea  NOT NULL, -- SHA-256 of the bytes
	size    bigint NOT NULL, -- of the bytes
	form    integer NOT NULL, -- 0: data is the bytes; 1: zstd
	data    bytea  NOT NULL,
	PRIMARY KEY (user_id, hash)
);
ALTER TABLE blobs ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE blob_refs (
	user_id text COLLATE "C" NOT NULL,
	hash    bytea  NOT NULL,
	n       bigint NOT NULL,
	seq     bigint NOT NULL,
	PRIMARY KEY (user_id, hash, n, seq)
);
CREATE INDEX blob_refs_by_event ON blob_refs (user_id, n, seq);

-- What was read from where, and the bytes that were read.
CREATE TABLE files (
	user_id text COLLATE "C" NOT NULL,
	n       bigint NOT NULL DEFAULT nextval('numbers'),
	format  text COLLATE "C" NOT NULL,
	path    bytea  NOT NULL,
	session text COLLATE "C" NOT NULL, -- ID; '' if it has none of its own
	id      text COLLATE "C" NOT NULL, -- the session's ID in its own program
	copy_of text COLLATE "C" NOT NULL,
	size    bigint NOT NULL,
	mtime   bigint NOT NULL, -- nanoseconds since 1970
	inode   bigint NOT NULL, -- the bits of an unsigned one
	"offset" bigint NOT NULL,
	records bigint NOT NULL,
	damaged bigint NOT NULL,
	head    text COLLATE "C" NOT NULL,
	state   bytea  NOT NULL,
	path_head bytea NOT NULL GENERATED ALWAYS AS (substring(path FROM 1 FOR 1000)) STORED, -- as of a session's project
	path_hash bytea NOT NULL GENERATED ALWAYS AS (sha256(path)) STORED,
	PRIMARY KEY (user_id, n)
);
CREATE UNIQUE INDEX files_by_path ON files (user_id, format, path_hash);
CREATE INDEX files_in_order ON files (user_id, path_head);
CREATE INDEX files_all_in_order ON files ((path_head || ''::bytea)); -- everybody's, as of sessions
CREATE INDEX files_by_session ON files (user_id, session);
CREATE INDEX files_deleted ON files (user_id, n) WHERE format = '';
CREATE INDEX files_by_copy_of ON files (user_id, copy_of) WHERE copy_of <> '';
CREATE INDEX files_by_other_id ON files (user_id, id) WHERE id <> session;

CREATE TABLE records (
	user_id text COLLATE "C" NOT NULL,
	file    bigint NOT NULL, -- files.n
	number  bigint NOT NULL, -- of the first record in the block
	count   bigint NOT NULL, -- how many records the block has
	raw     bytea  NOT NULL, -- the block, compressed
	PRIMARY KEY (user_id, file, number)
);
ALTER TABLE records ALTER COLUMN raw SET STORAGE EXTERNAL;

-- Deleted sessions and origins: SHA-256 of their names, so that no import of the
-- user who deleted them brings them back.
CREATE TABLE tombstones (
	user_id text COLLATE "C" NOT NULL,
	hash    bytea  NOT NULL,
	at      bigint NOT NULL,
	PRIMARY KEY (user_id, hash)
);
CREATE INDEX tombstones_by_hash ON tombstones (hash);

-- What search finds: fed from the journal, not by the append. Of an event that
-- was amended it has, at the amended event, what stands there now. words are
-- made by skein (lexemes.go), not by a configuration of this server's, so that
-- they are the same everywhere.
CREATE TABLE found (
	user_id text COLLATE "C" NOT NULL,
	n       bigint  NOT NULL,
	seq     bigint  NOT NULL,
	at      bigint  NOT NULL, -- this and the next are what events has
	amends  bigint,
	role    text COLLATE "C" NOT NULL, -- '' if it has none
	failed  boolean NOT NULL,
	odd     boolean NOT NULL, -- the trigrams cannot vouch for it
	text    text COLLATE "C" NOT NULL,
	words   tsvector NOT NULL,
	PRIMARY KEY (user_id, n, seq)
);
CREATE INDEX found_by_time ON found (user_id, at, n, seq);
CREATE INDEX found_all_by_time ON found ((-at), n, seq); -- everybody's: a user's search shall not take it
CREATE INDEX found_odd ON found (user_id) WHERE odd;
-- Which pages have rows of which times. Together with the index of words it gives the
-- newest rows that match without all the others; it is small, and costs appends nothing.
CREATE INDEX found_times ON found USING brin (at) WITH (pages_per_range = 16, autosummarize = on);

-- The indexes begin with the user where the extension for that can be had. What is
-- indexed is sorted in by much at once, for each time the places of the usual words
-- are written anew. Names have trigrams, for pieces of words, where the extension for
-- those can be had. Texts have none, which would cost more than everything else about
-- a message: pieces of texts are looked for by the words in them, and else in the
-- texts.
DO $$
DECLARE first text := 'user_id, ';
BEGIN
	BEGIN
		CREATE EXTENSION IF NOT EXISTS btree_gin;
	EXCEPTION WHEN undefined_file OR feature_not_supported OR insufficient_privilege THEN
		first := '';
	END;
	EXECUTE format('CREATE INDEX found_by_words ON found USING gin (%s words) WITH (gin_pending_list_limit = 16384)', first);
	BEGIN
		CREATE EXTENSION IF NOT EXISTS pg_trgm;
		EXECUTE format('CREATE INDEX names_by_trigrams ON names USING gin (%s name gin_trgm_ops) WITH (gin_pending_list_limit = 64)', first);
	EXCEPTION WHEN undefined_file OR feature_not_supported OR insufficient_privilege THEN
		NULL; -- names are looked for one by one
	END;
END $$;

-- Up to where found was fed: of that row of the journal, up to and with seq.
CREATE TABLE indexed (
	one     integer PRIMARY KEY CHECK (one = 1),
	xid     xid8    NOT NULL,
	ordinal integer NOT NULL,
	seq     bigint  NOT NULL,
	journal text COLLATE "C" NOT NULL DEFAULT '' -- the cluster whose numbers the journal has; see moved.go
);
INSERT INTO indexed (one, xid, ordinal, seq) VALUES (1, '0', -1, 0);

-- The one way from words to rows: row security keeps an index of words from
-- being used, so this sees everybody's rows and itself compares the user. It
-- returns the rows that match the query or, if odd, are odd; are of that role, if it
-- is not '', and failed, if failures; are of since or later and before until, and of
-- a time that is known, if dated; and are those of the sessions inside, if that is
-- not NULL. It looks at so many of these (look) at most, which are any; there says how
-- many that were. Of them it returns the newest, most of them at most. sure says that the row
-- does match: that there is nothing in it of doubtful. who may be NULL, for everybody,
-- where the role is skein_all.
--
-- The settings are for the planner. It does not know that the words lie out of line,
-- where it costs more to look at them than at the row, and would read all rows of a
-- user, or all there are, sooner than ask the index.
CREATE FUNCTION find(who text, query tsquery, doubtful tsquery, odd boolean, speaker text, failures boolean, since bigint, until bigint, dated boolean, inside bigint[], most integer, look integer)
RETURNS TABLE (user_id text, n bigint, seq bigint, at bigint, amends bigint, score real, sure boolean, there bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET enable_bitmapscan = on SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off
SET cpu_operator_cost = 1 SET max_parallel_workers_per_gather = 0 SET jit = off
AS $find$
DECLARE
	conds text := 'f.words @@ $2';
BEGIN
	IF current_setting('role') <> 'skein_all' AND (who IS NULL OR who IS DISTINCT FROM current_setting('skein.user', true)) THEN
		RAISE insufficient_privilege USING MESSAGE = 'find: the rows of another user';
	END IF;
	IF odd THEN
		conds := '(f.words @@ $2 OR f.odd)';
	END IF;
	IF who IS NOT NULL THEN
		conds := conds || ' AND f.user_id = $1';
	END IF;
	IF speaker <> '' THEN
		conds := conds || ' AND f.role = $9';
	END IF;
	IF failures THEN
		conds := conds || ' AND f.failed';
	END IF;
	IF since IS NOT NULL THEN
		conds := conds || ' AND f.at >= $4';
	END IF;
	IF until IS NOT NULL THEN
		conds := conds || ' AND f.at < $5';
	END IF;
	IF dated THEN
		conds := conds || ' AND f.at <> 0';
	END IF;
	IF inside IS NOT NULL THEN
		conds := conds || ' AND f.n = ANY ($6)';
	END IF;
	-- Only of those that are taken are the words read: all that match would not fit into memory to be sorted.
	RETURN QUERY EXECUTE format('SELECT c.user_id, c.n, c.seq, c.at, c.amends, ts_rank(w.words, $2, 1), coalesce(NOT w.words @@ $3, false), c.there
		FROM (SELECT m.place, m.user_id, m.n, m.seq, m.at, m.amends, count(*) OVER () AS there
			FROM (SELECT f.ctid AS place, f.user_id, f.n, f.seq, f.at, f.amends FROM found f WHERE %s LIMIT $8) m
			ORDER BY m.at DESC, m.n DESC, m.seq DESC LIMIT $7) c
		CROSS JOIN LATERAL (SELECT x.words FROM found x WHERE x.ctid = c.place OFFSET 0) w', conds)
		USING who, query, doubtful, since, until, inside, most, look, speaker;
END $find$;

-- The same for titles: the sessions whose names are like that pattern, so many of
-- them at most.
CREATE FUNCTION named(who text, pattern text, most integer) RETURNS TABLE (user_id text, n bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $named$
DECLARE
	conds text := 'x.name LIKE $2';
BEGIN
	IF current_setting('role') <> 'skein_all' AND (who IS NULL OR who IS DISTINCT FROM current_setting('skein.user', true)) THEN
		RAISE insufficient_privilege USING MESSAGE = 'named: the rows of another user';
	END IF;
	IF who IS NOT NULL THEN
		conds := conds || ' AND x.user_id = $1';
	END IF;
	RETURN QUERY EXECUTE format('SELECT x.user_id, x.n FROM names x WHERE %s LIMIT $3', conds) USING who, pattern, most;
END $named$;

-- What a user is told of sessions with these IDs that are not his: that there is
-- one (last is 1), no more. A lease may be taken for a session that has not begun
-- yet, which is nobody's: there he is told what heads and leases have.
CREATE FUNCTION theirs(ids text[]) RETURNS TABLE (id text, last bigint, n bigint, revision bigint, epoch bigint, held boolean, holder text)
LANGUAGE plpgsql STABLE ROWS 10 SECURITY DEFINER SET search_path = public, pg_temp
AS $theirs$
BEGIN
	RETURN QUERY SELECT h.id, sign(h.last)::bigint, x.n, x.revision, x.epoch, x.held, l.holder
		FROM heads h LEFT JOIN LATERAL (SELECT h.n, h.revision, h.epoch, h.held AND h.expires > clock_timestamp() AS held WHERE h.last = 0) x ON true
		LEFT JOIN leases l ON l.id = h.id AND h.last = 0
		WHERE h.id = ANY (ids) AND h.user_id <> current_setting('skein.user');
END $theirs$;

-- Gives a session that has not begun, and its lease, to who is to begin it, or has
-- that lease. Who says its number knows it.
CREATE FUNCTION adopt(session text, who text, lease bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp
AS $adopt$
BEGIN
	IF current_setting('role') <> 'skein_all' AND who IS DISTINCT FROM current_setting('skein.user', true) THEN
		RAISE insufficient_privilege USING MESSAGE = 'adopt: for another user';
	END IF;
	UPDATE heads h SET user_id = who WHERE h.id = session AND h.last = 0 AND h.epoch = lease AND h.user_id <> who;
	IF FOUND THEN
		UPDATE leases l SET user_id = who WHERE l.id = session;
	END IF;
END $adopt$;

-- Who may log in.
CREATE TABLE users (
	user_id  text COLLATE "C" PRIMARY KEY,
	created  bigint NOT NULL,
	sessions bigint NOT NULL DEFAULT 0, -- quota: how many at most; 0 for no bound
	bytes    bigint NOT NULL DEFAULT 0  -- quota: how many bytes they may take; 0 for no bound. Programs see a change of these within a minute
);

CREATE TABLE tokens (
	name    text COLLATE "C" PRIMARY KEY,
	user_id text COLLATE "C" NOT NULL, -- '' for everybody's sessions
	hash    bytea  NOT NULL UNIQUE, -- SHA-256 of the token
	scope   text COLLATE "C" NOT NULL, -- read, write, admin
	created bigint NOT NULL,
	expires bigint NOT NULL -- 0 for never
);

-- The browsers that are logged in.
CREATE TABLE logins (
	id      text COLLATE "C" PRIMARY KEY,
	hash    bytea  NOT NULL UNIQUE, -- SHA-256 of what the browser shows
	token   text COLLATE "C" NOT NULL REFERENCES tokens (name) ON DELETE CASCADE ON UPDATE CASCADE,
	device  text   NOT NULL, -- what the browser says that it is
	address text   NOT NULL, -- from which it came last
	created bigint NOT NULL,
	used    bigint NOT NULL, -- last, to about a minute
	expires bigint NOT NULL
);
CREATE INDEX logins_token ON logins (token, used);

-- What tokens were used for: a row for each hour, token, session and route.
CREATE TABLE audit (
	hour    bigint NOT NULL, -- hours since 1970 of the first request
	token   text COLLATE "C" NOT NULL, -- its name; the token may be gone
	session text COLLATE "C" NOT NULL, -- ID; '' for what is about no one session
	route   text COLLATE "C" NOT NULL, -- method and path
	user_id text COLLATE "C" NOT NULL, -- the token's owner; '' for a token that sees everybody's sessions
	first   bigint NOT NULL,
	last    bigint NOT NULL,
	times   bigint NOT NULL,
	PRIMARY KEY (hour, token, session, route)
);
