-- The tables of a store in a SQLite file: schema 1.
--
-- Tables are STRICT. Times are milliseconds since 1970 UTC in INTEGER columns
-- and RFC 3339 text in the columns and views that people read. What follows
-- from a change by hand in the sqlite3 shell (3.40 or later, foreign keys off)
-- is done by triggers, so no statement here may need anything newer.

-- What the file is. Each copy of a store is a store of its own: it has another id.
CREATE TABLE store (
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	id    BLOB    NOT NULL, -- random; also tells whether another file was copied over this one
	begun INTEGER NOT NULL  -- when the store was made
) STRICT;

INSERT INTO store (one, id, begun) VALUES (1, randomblob(16), CAST(strftime('%s', 'now') AS INTEGER) * 1000);

-- The whole copies that were made of the store, so that a scrub can name them all.
CREATE TABLE copies (
	path  TEXT    NOT NULL UNIQUE, -- absolute
	made  INTEGER NOT NULL,        -- when it was begun
	kind  TEXT    NOT NULL,        -- inspect.CopyKind
	state TEXT    NOT NULL         -- what the store had then (rolling.go); '' if nobody noted it
) STRICT; -- its rows are told from others when a damaged file is salvaged

-- One row for each session: what its events add up to. n is the session's
-- number within this file; all other tables name it by that. What is looked for by
-- an index, or in every list, has a column of its own; all else is in state.
CREATE TABLE sessions (
	n            INTEGER PRIMARY KEY AUTOINCREMENT,
	id           TEXT    NOT NULL UNIQUE,
	user_id      TEXT    NOT NULL,
	key          TEXT    NOT NULL DEFAULT '',
	title        TEXT    NOT NULL DEFAULT '',
	first_words  TEXT    NOT NULL DEFAULT '',
	project      TEXT    NOT NULL DEFAULT '',
	repository   TEXT    NOT NULL DEFAULT '', -- the same in every clone
	agent        TEXT    NOT NULL DEFAULT '',
	parent       TEXT    NOT NULL DEFAULT '', -- ID, kept when the parent is gone
	parent_seq   INTEGER NOT NULL DEFAULT 0,
	parent_why   TEXT    NOT NULL DEFAULT '', -- fork, child, continuation
	parent_call  TEXT    NOT NULL DEFAULT '',
	locked_by    TEXT    NOT NULL DEFAULT '', -- who took the lease last and did not give it back
	updated      INTEGER NOT NULL DEFAULT 0, -- when something was last said or done
	recent       INTEGER NOT NULL DEFAULT 0, -- updated >> 10: the index need not change with every append
	binned       INTEGER NOT NULL DEFAULT 0, -- when it went to the bin; 0 if it did not
	base         INTEGER NOT NULL DEFAULT 0, -- fork: events up to this seq were the parent's
	last         INTEGER NOT NULL DEFAULT 0, -- seq of its last event
	bytes        INTEGER NOT NULL DEFAULT 0, -- roughly what its events and records take on disk
	state        TEXT    NOT NULL DEFAULT '{}', -- JSON of a ledger.State without the above; it has no sum if words were taken out in the shell
	surface      TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'surface', '') ELSE '' END) VIRTUAL,
	cwd          TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'cwd', '') ELSE '' END) VIRTUAL,
	branch       TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> '$.checkout.branch', '') ELSE '' END) VIRTUAL,
	"commit"     TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> '$.checkout.commit', '') ELSE '' END) VIRTUAL,
	host         TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> '$.checkout.host', '') ELSE '' END) VIRTUAL,
	profile      TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'profile', '') ELSE '' END) VIRTUAL,
	provider     TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'provider', '') ELSE '' END) VIRTUAL,
	model        TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'model', '') ELSE '' END) VIRTUAL,
	origin       TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> '$.origin.format', '') ELSE '' END) VIRTUAL,
	origin_path  TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> '$.origin.path', '') ELSE '' END) VIRTUAL,
	origin_id    TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> '$.origin.id', '') ELSE '' END) VIRTUAL,
	last_prompt  TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'last_prompt', '') ELSE '' END) VIRTUAL,
	status       TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'status', '') ELSE '' END) VIRTUAL,
	tags         TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state -> 'tags', '[]') ELSE '[]' END) VIRTUAL,
	open_calls   TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state -> 'open_calls', '[]') ELSE '[]' END) VIRTUAL,
	pinned       INTEGER GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'pinned', 0) ELSE 0 END) VIRTUAL,
	messages     INTEGER GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'messages', 0) ELSE 0 END) VIRTUAL,
	turns        INTEGER GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'turns', 0) ELSE 0 END) VIRTUAL,
	created_at   TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'created_at', '') ELSE '' END) VIRTUAL,
	touched_at   TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(state) THEN coalesce(state ->> 'touched_at', '') ELSE '' END) VIRTUAL,
	updated_at   TEXT GENERATED ALWAYS AS (CASE updated WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', updated / 1000.0, 'unixepoch') END) VIRTUAL,
	binned_at    TEXT GENERATED ALWAYS AS (CASE binned WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', binned / 1000.0, 'unixepoch') END) VIRTUAL,
	metadata     TEXT GENERATED ALWAYS AS (json_object('title', title, 'surface', surface, 'project', project, 'cwd', cwd, 'agent', agent,
		'profile', profile, 'provider', provider, 'model', model, 'parent', parent, 'origin', origin, 'origin_path', origin_path,
		'status', status, 'tags', json(tags), 'messages', messages, 'turns', turns)) VIRTUAL
) STRICT;

CREATE INDEX sessions_by_recent ON sessions (recent DESC);
CREATE UNIQUE INDEX sessions_by_key ON sessions (key, user_id) WHERE key <> '' AND binned = 0;
CREATE INDEX sessions_by_project ON sessions (project);
CREATE INDEX sessions_by_repository ON sessions (repository) WHERE repository <> '';
CREATE INDEX sessions_by_parent ON sessions (parent);
CREATE INDEX sessions_by_end ON sessions (substr(id, -4)); -- people name a session by its last characters
CREATE INDEX sessions_by_name ON sessions (CASE title WHEN '' THEN first_words ELSE title END); -- narrow, to be gone through

-- One row for each event: the truth. What the columns hold beside the payload
-- follows from it. What does not match its checksum is damaged.
CREATE TABLE events (
	id       INTEGER PRIMARY KEY, -- order of storing; greater than indexed.upto when it is given, so that the index can be fed by it
	session  INTEGER NOT NULL, -- sessions.n
	seq      INTEGER NOT NULL,
	kind     TEXT    NOT NULL,
	at       INTEGER NOT NULL, -- writer's clock
	turn     INTEGER NOT NULL, -- messages that a person typed up to here, also those that were taken back
	ordinal  INTEGER NOT NULL, -- messages up to here, the same
	prev     INTEGER NOT NULL, -- seq of the said event before it, a fork's parent's included; 0 if none
	piece    INTEGER NOT NULL, -- 1: further piece of a message
	failed   INTEGER NOT NULL,
	imported INTEGER NOT NULL,
	client   TEXT,             -- client ID
	hash     BLOB,             -- of kind and payload, 16 bytes; with a client ID only; NULL after the message was deleted in the shell
	sum      INTEGER,          -- skein.Event.Sum with text beside; NULL after the message was deleted in the shell
	role     TEXT,             -- of a said event
	agent    TEXT,             -- that spoke, where it is not the session's
	message  TEXT,             -- message ID, where several events may be one message
	amends   INTEGER,          -- of an amended event: the seq it is about; role to text are what stands there now
	tools    TEXT,             -- names of the tools it calls or answers, one a line
	paths    TEXT,             -- files that it names, one a line
	text     TEXT,             -- what people read and search finds
	extra    TEXT,             -- what search finds besides; NULL of a long text
	items    TEXT,             -- what the message's items are, for the view items (items.go); NULL: one, with all of text
	payload  BLOB    NOT NULL  -- JSON; a first byte below 0x20 says that it is packed (payloadcodec.go)
) STRICT;

CREATE UNIQUE INDEX events_by_seq ON events (session, seq);
CREATE INDEX events_by_client ON events (client, session) WHERE client IS NOT NULL;
CREATE INDEX events_by_message ON events (session, message) WHERE message IS NOT NULL;
CREATE INDEX events_marks ON events (session, seq) WHERE kind IN ('rewound', 'compacted', 'amended');
CREATE INDEX events_settings ON events (session, seq) WHERE kind IN ('created', 'changed');
CREATE INDEX events_rewound ON events (session, seq) WHERE kind = 'rewound';
CREATE INDEX events_compacted ON events (session, seq) WHERE kind = 'compacted';
CREATE INDEX events_amends ON events (session, amends, seq, role) WHERE kind = 'amended'; -- what was put in an event's place is looked for by that event

-- Where a fork's events before its own stand: those up to and with upto are
-- session base's. That is the parent, or, after it was deleted, who has them.
CREATE TABLE bases (
	session INTEGER PRIMARY KEY,
	base    INTEGER NOT NULL,
	upto    INTEGER NOT NULL
) STRICT;

CREATE INDEX bases_by_base ON bases (base, upto);

-- The places of a session, a fork's parent's included, that were taken back:
-- those behind after, up to and with upto.
CREATE TABLE rewound_ranges (
	session INTEGER NOT NULL,
	after   INTEGER NOT NULL,
	upto    INTEGER NOT NULL,
	PRIMARY KEY (session, after)
) STRICT, WITHOUT ROWID;

-- What each event added to the usage. The sums in usage and usage_all follow by
-- trigger. What a request costs depends on more than its model, so sums are kept
-- by tier; and apart for requests whose cost the source reported, so that it can
-- be compared with ours. An event has two rows if it reports the cost of a request
-- that was counted before: what moves from the one sum to the other is negative.
CREATE TABLE charges (
	event       INTEGER NOT NULL,    -- events.id
	recorded    INTEGER NOT NULL,    -- 1 if this is of a request whose cost the source reported
	session     INTEGER NOT NULL,
	user_id     TEXT    NOT NULL,
	request     TEXT,                -- provider request ID; NULL if it had none
	slot        INTEGER NOT NULL,    -- start of the quarter hour
	provider    TEXT    NOT NULL,
	model       TEXT    NOT NULL,
	tier        TEXT    NOT NULL,    -- skein.Tier: the service tier, and how long the prompt was
	input       INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	cache_hour  INTEGER NOT NULL,    -- part of cache_write: kept for an hour
	requests    INTEGER NOT NULL,
	reported    INTEGER NOT NULL,    -- billionths of a US dollar
	PRIMARY KEY (event, recorded)
) STRICT, WITHOUT ROWID;

CREATE INDEX charges_by_request ON charges (request, user_id) WHERE request IS NOT NULL;

CREATE TABLE usage (
	session     INTEGER NOT NULL,
	slot        INTEGER NOT NULL,
	provider    TEXT    NOT NULL,
	model       TEXT    NOT NULL,
	tier        TEXT    NOT NULL,
	recorded    INTEGER NOT NULL,
	input       INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	cache_hour  INTEGER NOT NULL,
	requests    INTEGER NOT NULL,
	reported    INTEGER NOT NULL,
	PRIMARY KEY (session, slot, provider, model, tier, recorded)
) STRICT, WITHOUT ROWID;

-- The same for all sessions of a user, by project, repository and agent: so that a question
-- about days or models need not go through every session.
CREATE TABLE usage_all (
	user_id     TEXT    NOT NULL,
	slot        INTEGER NOT NULL,
	provider    TEXT    NOT NULL,
	model       TEXT    NOT NULL,
	tier        TEXT    NOT NULL,
	recorded    INTEGER NOT NULL,
	project     TEXT    NOT NULL,
	repository  TEXT    NOT NULL,
	agent       TEXT    NOT NULL,
	input       INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	cache_hour  INTEGER NOT NULL,
	requests    INTEGER NOT NULL,
	reported    INTEGER NOT NULL,
	PRIMARY KEY (user_id, slot, provider, model, tier, recorded, project, repository, agent)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER charges_in AFTER INSERT ON charges BEGIN
	INSERT INTO usage (session, slot, provider, model, tier, recorded, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	VALUES (new.session, new.slot, new.provider, new.model, new.tier, new.recorded, new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.cache_hour, new.requests, new.reported)
	ON CONFLICT (session, slot, provider, model, tier, recorded) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
	INSERT INTO usage_all (user_id, slot, provider, model, tier, recorded, project, repository, agent,
		input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT s.user_id, new.slot, new.provider, new.model, new.tier, new.recorded, s.project, s.repository, s.agent,
		new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.cache_hour, new.requests, new.reported
	FROM sessions s WHERE s.n = new.session
	ON CONFLICT (user_id, slot, provider, model, tier, recorded, project, repository, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

CREATE TRIGGER charges_out AFTER DELETE ON charges BEGIN
	UPDATE usage SET
		input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning,
		cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write, cache_hour = cache_hour - old.cache_hour,
		requests = requests - old.requests, reported = reported - old.reported
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier AND recorded = old.recorded;
	DELETE FROM usage
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier AND recorded = old.recorded
		AND input = 0 AND output = 0 AND reasoning = 0 AND cache_read = 0 AND cache_write = 0 AND cache_hour = 0 AND requests = 0 AND reported = 0;
	UPDATE usage_all SET
		input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning,
		cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write, cache_hour = cache_hour - old.cache_hour,
		requests = requests - old.requests, reported = reported - old.reported
	WHERE slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier AND recorded = old.recorded
		AND (user_id, project, repository, agent) = (SELECT s.user_id, s.project, s.repository, s.agent FROM sessions s WHERE s.n = old.session);
END;

CREATE TRIGGER charges_move AFTER UPDATE OF session ON charges BEGIN
	UPDATE usage SET
		input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning,
		cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write, cache_hour = cache_hour - old.cache_hour,
		requests = requests - old.requests, reported = reported - old.reported
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier AND recorded = old.recorded;
	DELETE FROM usage
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier AND recorded = old.recorded
		AND input = 0 AND output = 0 AND reasoning = 0 AND cache_read = 0 AND cache_write = 0 AND cache_hour = 0 AND requests = 0 AND reported = 0;
	INSERT INTO usage (session, slot, provider, model, tier, recorded, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	VALUES (new.session, new.slot, new.provider, new.model, new.tier, new.recorded, new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.cache_hour, new.requests, new.reported)
	ON CONFLICT (session, slot, provider, model, tier, recorded) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
	UPDATE sessions SET state = json_set(state,
		'$.usage.input', coalesce(state ->> '$.usage.input', 0) + new.input,
		'$.usage.output', coalesce(state ->> '$.usage.output', 0) + new.output,
		'$.usage.reasoning', coalesce(state ->> '$.usage.reasoning', 0) + new.reasoning,
		'$.usage.cache_read', coalesce(state ->> '$.usage.cache_read', 0) + new.cache_read,
		'$.usage.cache_write', coalesce(state ->> '$.usage.cache_write', 0) + new.cache_write,
		'$.usage.cache_hour', coalesce(state ->> '$.usage.cache_hour', 0) + new.cache_hour,
		'$.usage.requests', coalesce(state ->> '$.usage.requests', 0) + new.requests,
		'$.usage.reported', coalesce(state ->> '$.usage.reported', 0) + new.reported)
	WHERE n = new.session AND json_valid(state);
	UPDATE usage_all SET
		input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning,
		cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write, cache_hour = cache_hour - old.cache_hour,
		requests = requests - old.requests, reported = reported - old.reported
	WHERE slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier AND recorded = old.recorded
		AND (user_id, project, repository, agent) = (SELECT s.user_id, s.project, s.repository, s.agent FROM sessions s WHERE s.n = old.session);
	INSERT INTO usage_all (user_id, slot, provider, model, tier, recorded, project, repository, agent,
		input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT s.user_id, new.slot, new.provider, new.model, new.tier, new.recorded, s.project, s.repository, s.agent,
		new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.cache_hour, new.requests, new.reported
	FROM sessions s WHERE s.n = new.session
	ON CONFLICT (user_id, slot, provider, model, tier, recorded, project, repository, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

CREATE TRIGGER sessions_usage_moves AFTER UPDATE OF user_id, project, repository, agent ON sessions
WHEN (old.user_id, old.project, old.repository, old.agent) <> (new.user_id, new.project, new.repository, new.agent)
BEGIN
	INSERT INTO usage_all (user_id, slot, provider, model, tier, recorded, project, repository, agent,
		input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT old.user_id, u.slot, u.provider, u.model, u.tier, u.recorded, old.project, old.repository, old.agent,
		-u.input, -u.output, -u.reasoning, -u.cache_read, -u.cache_write, -u.cache_hour, -u.requests, -u.reported
	FROM usage u WHERE u.session = old.n
	ON CONFLICT (user_id, slot, provider, model, tier, recorded, project, repository, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
	INSERT INTO usage_all (user_id, slot, provider, model, tier, recorded, project, repository, agent,
		input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT new.user_id, u.slot, u.provider, u.model, u.tier, u.recorded, new.project, new.repository, new.agent,
		u.input, u.output, u.reasoning, u.cache_read, u.cache_write, u.cache_hour, u.requests, u.reported
	FROM usage u WHERE u.session = new.n
	ON CONFLICT (user_id, slot, provider, model, tier, recorded, project, repository, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

CREATE TRIGGER sessions_usage_out BEFORE DELETE ON sessions BEGIN
	INSERT INTO usage_all (user_id, slot, provider, model, tier, recorded, project, repository, agent,
		input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT old.user_id, u.slot, u.provider, u.model, u.tier, u.recorded, old.project, old.repository, old.agent,
		-u.input, -u.output, -u.reasoning, -u.cache_read, -u.cache_write, -u.cache_hour, -u.requests, -u.reported
	FROM usage u WHERE u.session = old.n
	ON CONFLICT (user_id, slot, provider, model, tier, recorded, project, repository, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

-- What lies out of line: images, documents. Kept once each, for as long as an
-- event refers to it.
CREATE TABLE blobs (
	hash BLOB    NOT NULL UNIQUE, -- SHA-256 of the bytes, 32 bytes
	size INTEGER NOT NULL,        -- of the bytes
	form INTEGER NOT NULL,        -- 0: data is the bytes; 1: zstd
	data BLOB    NOT NULL
) STRICT;

CREATE TABLE blob_refs (
	event INTEGER NOT NULL, -- events.id
	hash  BLOB    NOT NULL,
	PRIMARY KEY (event, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX blob_refs_by_hash ON blob_refs (hash);

CREATE TRIGGER blob_refs_out AFTER DELETE ON blob_refs
WHEN NOT EXISTS (SELECT 1 FROM blob_refs WHERE hash = old.hash)
BEGIN
	DELETE FROM blobs WHERE hash = old.hash;
END;

-- The search index has the texts of the events up to and with indexed.upto.
-- It is fed later, by skein; what goes away goes from it at once. No event's ID is
-- given twice, also when the newest events were deleted: a cursor of the feed is
-- the ID of an event.
CREATE TABLE indexed (
	one  INTEGER PRIMARY KEY CHECK (one = 1),
	upto INTEGER NOT NULL, -- events.id
	gone INTEGER NOT NULL  -- the greatest ID of an event that was deleted; 0 if none was
) STRICT;

INSERT INTO indexed (one, upto, gone) VALUES (1, 0, 0);

-- The passages in which long texts are indexed: FTS5 holds all words of one row of
-- the index in memory.
CREATE TABLE passages (
	id    INTEGER PRIMARY KEY, -- its row in the index: its number - event * 1024, which is below 0
	event INTEGER NOT NULL,    -- events.id
	start INTEGER NOT NULL,    -- byte of the text where it begins
	size  INTEGER NOT NULL,    -- bytes
	extra TEXT                 -- what search finds besides
) STRICT;

CREATE INDEX passages_by_event ON passages (event);

CREATE VIEW texts (id, text, extra) AS
SELECT e.id, e.text, e.extra FROM events e
WHERE e.text IS NOT NULL AND e.id <= (SELECT upto FROM indexed) AND NOT EXISTS (SELECT 1 FROM passages WHERE event = e.id)
UNION ALL
SELECT p.id, CAST(substr(CAST(e.text AS BLOB), p.start + 1, p.size) AS TEXT), p.extra
FROM passages p CROSS JOIN events e ON e.id = p.event;

CREATE VIRTUAL TABLE words USING fts5 (
	text, extra, content = 'texts', content_rowid = 'id', tokenize = 'porter unicode61'
);

-- It is fed in small steps; merging every 8 rather than 4 of them saves a third
-- of the work.
INSERT INTO words (words, rank) VALUES ('automerge', 8);

-- Who may write. epoch is the fencing number of the newest lease.
CREATE TABLE leases (
	session TEXT    PRIMARY KEY, -- ID; the session need not have begun
	epoch   INTEGER NOT NULL,
	held    INTEGER NOT NULL,    -- 0: given back
	expires INTEGER NOT NULL,    -- 0: held by a process for as long as its lock on the file of this epoch lasts
	holder  TEXT    NOT NULL     -- JSON
) STRICT, WITHOUT ROWID;

-- No lease has a smaller number than one of a session that was deleted.
CREATE TABLE fences (
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	floor INTEGER NOT NULL
) STRICT;

INSERT INTO fences (one, floor) VALUES (1, 0);

CREATE TRIGGER leases_out AFTER DELETE ON leases BEGIN
	UPDATE fences SET floor = max(floor, old.epoch);
END;

-- What was read from where, and the bytes that were read.
CREATE TABLE files (
	n       INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id TEXT    NOT NULL,
	format  TEXT    NOT NULL,
	path    TEXT    NOT NULL,
	session TEXT    NOT NULL, -- ID; '' if it has none of its own
	id      TEXT    NOT NULL, -- the session's ID in its own program
	copy_of TEXT    NOT NULL,
	size    INTEGER NOT NULL,
	mtime   INTEGER NOT NULL, -- nanoseconds since 1970
	inode   INTEGER NOT NULL,
	offset  INTEGER NOT NULL,
	records INTEGER NOT NULL,
	damaged INTEGER NOT NULL,
	head    TEXT    NOT NULL,
	state   BLOB    NOT NULL,
	UNIQUE (path, format, user_id)
) STRICT;

CREATE INDEX files_by_session ON files (session);
CREATE INDEX files_by_copy_of ON files (copy_of) WHERE copy_of <> '';
CREATE INDEX files_by_other_id ON files (id) WHERE id <> session;

CREATE TABLE records (
	n     INTEGER PRIMARY KEY, -- files.n * 4294967296 + number in its file of the first record in the block
	count INTEGER NOT NULL,    -- how many records the block has
	raw   BLOB    NOT NULL     -- the block: recordblock.go
) STRICT;

CREATE TRIGGER files_out AFTER DELETE ON files BEGIN
	DELETE FROM records WHERE n >= old.n * 4294967296 AND n < (old.n + 1) * 4294967296;
END;

-- Deleted sessions and origins: SHA-256 of their names, so that no import of the
-- user who deleted them brings them back.
CREATE TABLE tombstones (
	hash    BLOB    NOT NULL,
	user_id TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (hash, user_id)
) STRICT, WITHOUT ROWID;

-- What tokens were used for: a row for each hour, token, session and route.
CREATE TABLE audit (
	hour    INTEGER NOT NULL, -- hours since 1970 of the first request
	token   TEXT    NOT NULL, -- its name; the token may be gone
	session TEXT    NOT NULL, -- ID; '' for what is about no one session
	route   TEXT    NOT NULL, -- method and path
	user_id TEXT    NOT NULL, -- the token's owner; '' for a token that sees everybody's sessions
	first   INTEGER NOT NULL,
	last    INTEGER NOT NULL,
	times   INTEGER NOT NULL,
	PRIMARY KEY (hour, token, session, route)
) STRICT, WITHOUT ROWID;

-- What was deleted in the shell, which has no SHA-256; skein makes tombstones
-- of them when it sees them.
CREATE TABLE shell_deletions (
	user_id   TEXT    NOT NULL,
	id        TEXT    NOT NULL,
	origin    TEXT    NOT NULL,
	path      TEXT    NOT NULL,
	origin_id TEXT    NOT NULL,
	at        INTEGER NOT NULL
) STRICT;

-- Sessions that are being deleted: their rows are gone, their events go or move
-- to the fork new_parent. skein does that to long ones step by step.
CREATE TABLE purge_queue (
	session INTEGER PRIMARY KEY,
	new_parent    INTEGER NOT NULL -- sessions.n; 0 if there is none
) STRICT;

-- What skein has yet to do when nobody waits for it:
--   sweep        take what was deleted out of index, free pages and log
--   merging, merged, level
--                how far the sweep is (residue.go)
--   recount N    work out anew the row of session N, whose messages were deleted in
--                the shell or are lost
--   recounted N TIMES
--                how far that has come (recount.go): a seq
CREATE TABLE maintenance (
	name  TEXT    PRIMARY KEY,
	times INTEGER NOT NULL -- how often it was asked for
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_out AFTER DELETE ON events BEGIN
	DELETE FROM charges WHERE event = old.id;
	DELETE FROM blob_refs WHERE event = old.id;
END;

CREATE TRIGGER events_out_of_index AFTER DELETE ON events
WHEN old.text IS NOT NULL AND (old.id <= (SELECT upto FROM indexed) OR EXISTS (SELECT 1 FROM passages WHERE event = old.id))
	AND NOT EXISTS (SELECT 1 FROM purge_queue WHERE session = old.session)
BEGIN
	INSERT INTO words (words, rowid, text, extra) SELECT 'delete', old.id, old.text, old.extra
	WHERE old.id <= (SELECT upto FROM indexed) AND NOT EXISTS (SELECT 1 FROM passages WHERE event = old.id);
	INSERT INTO words (words, rowid, text, extra) SELECT 'delete', p.id, CAST(substr(CAST(old.text AS BLOB), p.start + 1, p.size) AS TEXT), p.extra
	FROM passages p WHERE p.event = old.id ORDER BY p.id;
	DELETE FROM passages WHERE event = old.id;
END;

CREATE TRIGGER events_text AFTER UPDATE OF text, extra ON events
WHEN old.text IS NOT NULL AND (old.id <= (SELECT upto FROM indexed) OR EXISTS (SELECT 1 FROM passages WHERE event = old.id))
BEGIN
	INSERT INTO words (words, rowid, text, extra) SELECT 'delete', old.id, old.text, old.extra
	WHERE old.id <= (SELECT upto FROM indexed) AND NOT EXISTS (SELECT 1 FROM passages WHERE event = old.id);
	INSERT INTO words (words, rowid, text, extra) SELECT 'delete', p.id, CAST(substr(CAST(old.text AS BLOB), p.start + 1, p.size) AS TEXT), p.extra
	FROM passages p WHERE p.event = old.id ORDER BY p.id;
	DELETE FROM passages WHERE event = old.id;
	INSERT INTO words (rowid, text, extra) SELECT new.id, new.text, new.extra
	WHERE new.text IS NOT NULL AND new.id <= (SELECT upto FROM indexed);
END;

CREATE TRIGGER events_move AFTER UPDATE OF session ON events BEGIN
	UPDATE charges SET session = new.session WHERE event = new.id;
	UPDATE sessions SET bytes = bytes + 80 + length(new.payload) + length(CAST(coalesce(new.text, '') || coalesce(new.extra, '') AS BLOB))
	WHERE n = new.session;
END;

-- A session goes with all it has; events that a fork still shows go to the
-- fork that shows most, and the others look for them there. The order matters.
CREATE TRIGGER sessions_out AFTER DELETE ON sessions
WHEN NOT EXISTS (SELECT 1 FROM purge_queue WHERE session = old.n)
BEGIN
	INSERT INTO shell_deletions (user_id, id, origin, path, origin_id, at)
	VALUES (old.user_id, old.id, old.origin, old.origin_path, old.origin_id, CAST(strftime('%s', 'now') AS INTEGER) * 1000);
	INSERT INTO shell_deletions (user_id, id, origin, path, origin_id, at) -- files that only copied it
	SELECT user_id, old.id, format, path, id, CAST(strftime('%s', 'now') AS INTEGER) * 1000 FROM files
	WHERE copy_of = old.id AND copy_of <> '' AND user_id = old.user_id;
	INSERT INTO purge_queue (session, new_parent)
	VALUES (old.n, coalesce((SELECT session FROM bases WHERE base = old.n ORDER BY upto DESC, session LIMIT 1), 0));
	UPDATE events SET session = (SELECT new_parent FROM purge_queue WHERE session = old.n)
	WHERE session = old.n AND seq <= (SELECT max(upto) FROM bases WHERE base = old.n);
	UPDATE bases SET base = (SELECT new_parent FROM purge_queue WHERE session = old.n)
	WHERE base = old.n AND session <> (SELECT new_parent FROM purge_queue WHERE session = old.n);
	DELETE FROM bases WHERE session = (SELECT new_parent FROM purge_queue WHERE session = old.n);
	UPDATE bases SET session = (SELECT new_parent FROM purge_queue WHERE session = old.n)
	WHERE session = old.n AND EXISTS (SELECT 1 FROM purge_queue WHERE session = old.n AND new_parent <> 0);
	DELETE FROM bases WHERE session = old.n;
	DELETE FROM purge_queue WHERE session = old.n;
	DELETE FROM events WHERE session = old.n;
	INSERT INTO maintenance (name, times) VALUES ('sweep', 1) ON CONFLICT (name) DO UPDATE SET times = times + 1;
	DELETE FROM leases WHERE session = old.id;
	DELETE FROM files WHERE session = old.id AND user_id = old.user_id;
	DELETE FROM files WHERE copy_of = old.id AND copy_of <> '' AND user_id = old.user_id;
END;

CREATE TRIGGER rewound_ranges_out AFTER DELETE ON sessions BEGIN
	DELETE FROM rewound_ranges WHERE session = old.n;
END;

-- The said events that are live in session number viewer, with what stands there
-- now: of a fork, those that it shows of its parent too. The + keeps SQLite from
-- looking for a message's other pieces by seq, through the whole session, rather
-- than by events_by_message.
CREATE VIEW live_events (viewer, id, seq, message, role, text, items, at) AS
SELECT s.n, e.id, e.seq, e.message, coalesce(a.role, e.role),
	CASE WHEN a.id IS NULL OR (a.text IS NULL AND CAST(a.payload AS TEXT) LIKE '{%' AND CAST(a.payload AS TEXT) NOT LIKE '%"payload"%') THEN e.text ELSE a.text END,
	CASE WHEN a.id IS NULL OR (a.text IS NULL AND CAST(a.payload AS TEXT) LIKE '{%' AND CAST(a.payload AS TEXT) NOT LIKE '%"payload"%') THEN e.items ELSE a.items END, e.at
FROM sessions s
CROSS JOIN json_each(CASE s.base WHEN 0 THEN json_array(json_array(s.n, 0, s.last)) ELSE (
	WITH RECURSIVE g (n, upto) AS ( -- each session whose events it shows, and up to where
		SELECT s.n, s.last
		UNION ALL SELECT b.base, min(b.upto, g.upto) FROM g JOIN bases b ON b.session = g.n)
	SELECT json_group_array(json_array(g.n, coalesce(min(b.upto, g.upto), 0), g.upto)) FROM g LEFT JOIN bases b ON b.session = g.n) END) g
CROSS JOIN events e ON e.session = json_extract(g.value, '$[0]') AND +e.seq > json_extract(g.value, '$[1]') AND +e.seq <= json_extract(g.value, '$[2]')
LEFT JOIN events a ON a.id = (SELECT x.id FROM events x INDEXED BY events_amends
	WHERE x.session = e.session AND x.kind = 'amended' AND x.amends = e.seq AND x.seq <= json_extract(g.value, '$[2]') ORDER BY x.seq DESC LIMIT 1)
WHERE e.kind = 'said' AND (a.id IS NULL OR a.role IS NOT NULL)
	AND NOT EXISTS (SELECT 1 FROM rewound_ranges u WHERE u.session = s.n AND u.after < e.seq AND u.upto >= e.seq);

-- The live events, without pieces of a message of which a later piece repeats all: the
-- words, and each item (items.go), those of texts by their kind.
CREATE VIEW shown_events (viewer, id, seq, message, role, text, items, at) AS
SELECT x.viewer, x.id, x.seq, x.message, x.role, x.text, x.items, x.at FROM live_events x
WHERE x.message IS NULL OR NOT EXISTS (SELECT 1 FROM live_events p
	WHERE p.viewer = x.viewer AND p.message = x.message AND +p.seq > x.seq AND substr(p.text, 1, length(x.text)) = x.text
		AND NOT EXISTS (SELECT 1 FROM json_each(coalesce(x.items, '[["message"]]')) i
			WHERE json_extract(i.value, '$[0]') <> 'incomplete' AND NOT EXISTS (
				SELECT 1 FROM json_each(coalesce(nullif(p.items, '[["incomplete"]]'), '[["message"]]')) j
				WHERE json_extract(j.value, '$[0]') = json_extract(i.value, '$[0]')
					AND (json_extract(j.value, '$[0]') IN ('message', 'reasoning') OR json_extract(j.value, '$[1]') = json_extract(i.value, '$[1]')))));

-- What people see: the conversation as it is now, a fork's whole. What else was
-- said is in events. interrupted is 1 of what broke off.
CREATE VIEW messages (id, session_id, role, content, created_at, interrupted) AS
SELECT x.id, s.id, x.role,
	CASE WHEN x.message IS NULL THEN x.text ELSE (SELECT group_concat(k.text, char(10)) FROM
		(SELECT p.text FROM shown_events p WHERE p.viewer = x.viewer AND p.message = x.message ORDER BY p.seq) k) END,
	CASE x.at WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', x.at / 1000.0, 'unixepoch') END,
	coalesce(json_extract(CASE WHEN x.message IS NULL THEN x.items ELSE (SELECT p.items FROM live_events p
		WHERE p.viewer = x.viewer AND p.message = x.message ORDER BY p.seq DESC LIMIT 1) END, '$[#-1][0]') = 'incomplete', 0)
FROM live_events x JOIN sessions s ON s.n = x.viewer
WHERE x.message IS NULL OR NOT EXISTS (SELECT 1 FROM live_events p WHERE p.viewer = x.viewer AND p.message = x.message AND +p.seq < x.seq);

-- The said events: what is deleted of messages.
CREATE VIEW said (id, session) AS SELECT id, session FROM events WHERE kind = 'said';

-- An event that goes leaves an empty place, so that the seqs stay without gaps.
-- One that a fork shows stays until the session is deleted: then the fork gets
-- it. What the session's row counts is right at once; its first words and last
-- prompt, and to which turn the later events belong, skein works out at its next
-- start.
CREATE TRIGGER said_out INSTEAD OF DELETE ON said
WHEN NOT EXISTS (SELECT 1 FROM events e JOIN bases b ON b.base = e.session AND b.upto >= e.seq WHERE e.id = old.id)
BEGIN
	UPDATE sessions SET state = json_set(state, '$.messages', messages - 1, '$.turns', turns - coalesce((
			SELECT e.turn - p.turn FROM events e JOIN events p ON p.session = e.session AND p.seq = e.seq - 1 WHERE e.id = old.id), 0))
	WHERE n = old.session AND json_valid(state) AND EXISTS (SELECT 1 FROM live_events x WHERE x.viewer = old.session AND x.id = old.id)
		AND NOT EXISTS ( -- else another piece of it stays
			SELECT 1 FROM live_events x JOIN live_events o ON o.viewer = x.viewer AND o.message = x.message AND o.id <> x.id
			WHERE x.viewer = old.session AND x.id = old.id);
	UPDATE sessions SET first_words = '', state = json_remove(state, '$.last_prompt', '$.sum') -- the shell cannot make the sum of what is left
	WHERE n = old.session AND json_valid(state);
	UPDATE sessions SET state = json_set(state,
		'$.usage.input', coalesce(state ->> '$.usage.input', 0) - c.input,
		'$.usage.output', coalesce(state ->> '$.usage.output', 0) - c.output,
		'$.usage.reasoning', coalesce(state ->> '$.usage.reasoning', 0) - c.reasoning,
		'$.usage.cache_read', coalesce(state ->> '$.usage.cache_read', 0) - c.cache_read,
		'$.usage.cache_write', coalesce(state ->> '$.usage.cache_write', 0) - c.cache_write,
		'$.usage.cache_hour', coalesce(state ->> '$.usage.cache_hour', 0) - c.cache_hour,
		'$.usage.requests', coalesce(state ->> '$.usage.requests', 0) - c.requests,
		'$.usage.reported', coalesce(state ->> '$.usage.reported', 0) - c.reported)
	FROM (SELECT session, sum(input) AS input, sum(output) AS output, sum(reasoning) AS reasoning, sum(cache_read) AS cache_read,
			sum(cache_write) AS cache_write, sum(cache_hour) AS cache_hour, sum(requests) AS requests, sum(reported) AS reported
		FROM charges WHERE event = old.id GROUP BY session) c
	WHERE n = c.session AND json_valid(state);
	DELETE FROM charges WHERE event = old.id;
	DELETE FROM blob_refs WHERE event = old.id;
	INSERT INTO maintenance (name, times) VALUES ('sweep', 1) ON CONFLICT (name) DO UPDATE SET times = times + 1;
	INSERT INTO maintenance (name, times) VALUES ('recount ' || old.session, 1) ON CONFLICT (name) DO UPDATE SET times = times + 1;
	UPDATE events SET kind = 'noted', failed = 0, hash = NULL, sum = NULL, role = NULL, message = NULL, amends = NULL, tools = NULL, paths = NULL,
		text = NULL, extra = NULL, items = NULL, payload = CAST('{"name":"deleted"}' AS BLOB)
	WHERE id = old.id OR id IN ( -- what was put in its place
		SELECT a.id FROM events e JOIN events a ON a.session = e.session AND a.kind = 'amended' AND a.amends = e.seq
		WHERE e.id = old.id AND e.kind = 'said');
END;

-- A message goes with all its pieces, and with the last one that stands what was
-- taken back or withdrawn. What a fork shows of its parent is not its own to
-- delete. Whether a fork has any left is looked for from its end, since messages
-- go from the start.
CREATE TRIGGER messages_out INSTEAD OF DELETE ON messages BEGIN
	DELETE FROM said WHERE id IN (
		SELECT e.id FROM sessions s JOIN events e ON e.id = old.id AND e.session = s.n WHERE s.id = old.session_id
		UNION SELECT p.id FROM sessions s JOIN events e ON e.id = old.id AND e.session = s.n
			JOIN events p ON p.session = e.session AND p.message = e.message
		WHERE s.id = old.session_id);
	DELETE FROM said WHERE id IN (
		SELECT e.id FROM sessions s CROSS JOIN events e ON e.session = s.n
		WHERE s.id = old.session_id AND e.kind = 'said'
			AND CASE s.base WHEN 0 THEN s.messages = 0 ELSE (SELECT o.id FROM events o
				WHERE o.session = s.n AND o.kind = 'said' AND EXISTS (SELECT 1 FROM live_events x WHERE x.viewer = s.n AND x.id = o.id)
				ORDER BY o.seq DESC LIMIT 1) IS NULL END);
END;

CREATE TRIGGER messages_set INSTEAD OF UPDATE ON messages BEGIN
	SELECT RAISE(ABORT, 'messages are never changed: append an amended event, or delete the message');
END;

CREATE TRIGGER messages_new INSTEAD OF INSERT ON messages BEGIN
	SELECT RAISE(ABORT, 'messages are appended with: skein append');
END;

-- The same messages as items of OpenAI's Responses API, in their order. To
-- delete an item deletes the message that it is of. Those of a message that broke
-- off have the status incomplete.
CREATE VIEW items (id, user_id, session_name, created_at, item_json, session_id) AS
SELECT x.id * 65536 + min(coalesce(i.key, 0), 65535), s.user_id, CASE s.key WHEN '' THEN s.id ELSE s.key END,
	CASE x.at WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', x.at / 1000.0, 'unixepoch') END,
	json_insert(CASE json_extract(i.value, '$[0]')
	WHEN 'message' THEN json_object('type', 'message', 'role', x.role,
		'content', substr(x.text, json_extract(i.value, '$[1][0]'), json_extract(i.value, '$[1][1]')))
	WHEN 'reasoning' THEN json_object('type', 'reasoning', 'summary', json_array(json_object('type', 'summary_text',
		'text', substr(x.text, json_extract(i.value, '$[1][0]'), json_extract(i.value, '$[1][1]')))))
	WHEN 'function_call' THEN json_object('type', 'function_call', 'call_id', json_extract(i.value, '$[1]'), 'name', json_extract(i.value, '$[2]'),
		'arguments', CASE json_type(i.value, '$[3]') WHEN 'array' THEN (
			SELECT '{' || coalesce(group_concat(json_quote(json_extract(a.value, '$[0]')) || ':' || CASE json_array_length(a.value)
				WHEN 2 THEN json_quote(substr(x.text, json_extract(a.value, '$[1][0]'), json_extract(a.value, '$[1][1]')))
				ELSE a.value -> '$[2]' END), '') || '}'
			FROM json_each(i.value, '$[3]') a) ELSE json_extract(i.value, '$[3]') END)
	WHEN 'function_call_output' THEN json_object('type', 'function_call_output', 'call_id', json_extract(i.value, '$[1]'), 'name', json_extract(i.value, '$[2]'),
		'output', substr(x.text, json_extract(i.value, '$[3][0]'), json_extract(i.value, '$[3][1]')))
	WHEN 'file' THEN json_object('type', 'message', 'role', x.role,
		'content', json_array(json_object('type', 'input_file', 'filename', json_extract(i.value, '$[1]'))))
	ELSE json_object('type', 'message', 'role', x.role, 'content', coalesce(x.text, '')) END,
		CASE json_extract(x.items, '$[#-1][0]') WHEN 'incomplete' THEN '$.status' ELSE '$.type' END, 'incomplete'), -- each has a type, which stays
	s.id
FROM shown_events x JOIN sessions s ON s.n = x.viewer LEFT JOIN json_each(x.items) i ON json_extract(i.value, '$[0]') <> 'incomplete';

CREATE TRIGGER items_out INSTEAD OF DELETE ON items BEGIN
	DELETE FROM messages WHERE session_id = old.session_id AND id = (SELECT id FROM (
		SELECT e.id, e.seq FROM sessions s JOIN live_events e ON e.viewer = s.n AND e.id = old.id / 65536 WHERE s.id = old.session_id
		UNION SELECT p.id, p.seq FROM sessions s JOIN live_events e ON e.viewer = s.n AND e.id = old.id / 65536
			JOIN live_events p ON p.viewer = e.viewer AND p.message = e.message
		WHERE s.id = old.session_id ORDER BY 2 LIMIT 1));
END;

CREATE TRIGGER items_set INSTEAD OF UPDATE ON items BEGIN
	SELECT RAISE(ABORT, 'messages are never changed: append an amended event, or delete the item');
END;

CREATE TRIGGER items_new INSTEAD OF INSERT ON items BEGIN
	SELECT RAISE(ABORT, 'messages are appended with: skein append');
END;
