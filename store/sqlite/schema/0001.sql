-- Tables are STRICT. Times are milliseconds since 1970 UTC in INTEGER columns
-- and RFC 3339 text in the columns and views that people read. What follows
-- from a change by hand in the sqlite3 shell (3.40 or later, foreign keys off)
-- is done by triggers, so no statement here may need anything newer.

-- One row for each session: what its events add up to. n is the session's
-- number within this file; all other tables name it by that.
CREATE TABLE sessions (
	n            INTEGER PRIMARY KEY AUTOINCREMENT,
	id           TEXT    NOT NULL UNIQUE,
	user_id      TEXT    NOT NULL,
	key          TEXT    NOT NULL DEFAULT '',
	title        TEXT    NOT NULL DEFAULT '',
	title_by     TEXT    NOT NULL DEFAULT '',
	description  TEXT    NOT NULL DEFAULT '',
	first_words  TEXT    NOT NULL DEFAULT '',
	last_prompt  TEXT    NOT NULL DEFAULT '',
	surface      TEXT    NOT NULL DEFAULT '',
	project      TEXT    NOT NULL DEFAULT '',
	cwd          TEXT    NOT NULL DEFAULT '',
	agent        TEXT    NOT NULL DEFAULT '',
	profile      TEXT    NOT NULL DEFAULT '',
	provider     TEXT    NOT NULL DEFAULT '',
	model        TEXT    NOT NULL DEFAULT '',
	parent       TEXT    NOT NULL DEFAULT '', -- ID, kept when the parent is gone
	parent_seq   INTEGER NOT NULL DEFAULT 0,
	parent_why   TEXT    NOT NULL DEFAULT '', -- fork, child, continuation
	parent_call  TEXT    NOT NULL DEFAULT '',
	origin       TEXT    NOT NULL DEFAULT '', -- interop format
	origin_path  TEXT    NOT NULL DEFAULT '',
	origin_id    TEXT    NOT NULL DEFAULT '',
	origin_version TEXT  NOT NULL DEFAULT '',
	status       TEXT    NOT NULL DEFAULT '',
	tags         TEXT    NOT NULL DEFAULT '[]', -- JSON array of strings
	open_calls   TEXT    NOT NULL DEFAULT '[]', -- JSON array of strings
	locked_by    TEXT    NOT NULL DEFAULT '', -- who took the lease last and did not give it back
	pinned       INTEGER NOT NULL DEFAULT 0,
	created      INTEGER NOT NULL DEFAULT 0,
	updated      INTEGER NOT NULL DEFAULT 0,
	recent       INTEGER NOT NULL DEFAULT 0, -- updated >> 10: the index need not change with every append
	binned       INTEGER NOT NULL DEFAULT 0, -- when it went to the bin; 0 if it did not
	base         INTEGER NOT NULL DEFAULT 0, -- fork: events up to this seq were the parent's
	last         INTEGER NOT NULL DEFAULT 0, -- seq of its last event
	said         INTEGER NOT NULL DEFAULT 0, -- seq of its last said event, a fork's parent's included; 0 if none
	messages     INTEGER NOT NULL DEFAULT 0,
	turns        INTEGER NOT NULL DEFAULT 0,
	compactions  INTEGER NOT NULL DEFAULT 0,
	uncertain    INTEGER NOT NULL DEFAULT 0,
	revision     INTEGER NOT NULL DEFAULT 0,
	input        INTEGER NOT NULL DEFAULT 0, -- this and the next four in tokens
	output       INTEGER NOT NULL DEFAULT 0,
	reasoning    INTEGER NOT NULL DEFAULT 0,
	cache_read   INTEGER NOT NULL DEFAULT 0,
	cache_write  INTEGER NOT NULL DEFAULT 0,
	requests     INTEGER NOT NULL DEFAULT 0,
	reported     INTEGER NOT NULL DEFAULT 0, -- billionths of a US dollar
	bytes        INTEGER NOT NULL DEFAULT 0, -- roughly what its events and records take on disk
	created_at   TEXT GENERATED ALWAYS AS (CASE created WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', created / 1000.0, 'unixepoch') END) VIRTUAL,
	updated_at   TEXT GENERATED ALWAYS AS (CASE updated WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', updated / 1000.0, 'unixepoch') END) VIRTUAL,
	binned_at    TEXT GENERATED ALWAYS AS (CASE binned WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', binned / 1000.0, 'unixepoch') END) VIRTUAL,
	metadata     TEXT GENERATED ALWAYS AS (json_object('title', title, 'surface', surface, 'project', project, 'cwd', cwd, 'agent', agent,
		'profile', profile, 'provider', provider, 'model', model, 'parent', parent, 'origin', origin, 'origin_path', origin_path,
		'status', status, 'tags', json(tags), 'messages', messages, 'turns', turns)) VIRTUAL
) STRICT;

CREATE INDEX sessions_by_recent ON sessions (recent DESC);
CREATE UNIQUE INDEX sessions_by_key ON sessions (key, user_id) WHERE key <> '' AND binned = 0;
CREATE INDEX sessions_by_project ON sessions (project);
CREATE INDEX sessions_by_parent ON sessions (parent);

-- One row for each event: the truth. What the columns hold beside the payload
-- follows from it.
CREATE TABLE events (
	id       INTEGER PRIMARY KEY, -- order of storing; greater than indexed.upto when it is given, so that the index can be fed by it
	session  INTEGER NOT NULL, -- sessions.n
	seq      INTEGER NOT NULL,
	kind     TEXT    NOT NULL,
	at       INTEGER NOT NULL, -- writer's clock
	turn     INTEGER NOT NULL, -- messages that a person typed up to here
	ordinal  INTEGER NOT NULL, -- messages up to here
	prev     INTEGER NOT NULL, -- seq of the said event before it, a fork's parent's included; 0 if none
	piece    INTEGER NOT NULL, -- 1: further piece of a message
	failed   INTEGER NOT NULL,
	imported INTEGER NOT NULL,
	client   TEXT,             -- client ID
	hash     BLOB,             -- of kind and payload, 16 bytes; with a client ID only; NULL after the message was deleted in the shell
	role     TEXT,             -- of a said event
	agent    TEXT,             -- that spoke, where it is not the session's
	message  TEXT,             -- message ID, where several events may be one message
	amends   INTEGER,          -- of an amended event: the seq it is about; role to text are what stands there now
	tools    TEXT,             -- names of the tools it calls or answers, one a line
	paths    TEXT,             -- files that it names, one a line
	text     TEXT,             -- what people read and search finds
	extra    TEXT,             -- what search finds besides
	payload  BLOB    NOT NULL  -- JSON; a first byte below 0x20 says that it is packed (payloadcodec.go)
) STRICT;

CREATE UNIQUE INDEX events_by_seq ON events (session, seq);
CREATE INDEX events_by_client ON events (client, session) WHERE client IS NOT NULL;
CREATE INDEX events_by_message ON events (session, message) WHERE message IS NOT NULL;
CREATE INDEX events_marks ON events (session, seq) WHERE kind IN ('rewound', 'compacted', 'amended');
CREATE INDEX events_settings ON events (session, seq) WHERE kind IN ('created', 'changed');

-- Where a fork's events before its own stand: those up to and with upto are
-- session base's. That is the parent, or, after it was deleted, who has them.
CREATE TABLE bases (
	session INTEGER PRIMARY KEY,
	base    INTEGER NOT NULL,
	upto    INTEGER NOT NULL
) STRICT;

CREATE INDEX bases_by_base ON bases (base, upto);

-- What each event added to the usage. The sums in usage follow by trigger.
CREATE TABLE charges (
	event       INTEGER PRIMARY KEY, -- events.id
	session     INTEGER NOT NULL,
	user_id     TEXT    NOT NULL,
	request     TEXT,                -- provider request ID; NULL if it had none
	slot        INTEGER NOT NULL,    -- start of the quarter hour
	provider    TEXT    NOT NULL,
	model       TEXT    NOT NULL,
	input       INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	requests    INTEGER NOT NULL,
	reported    INTEGER NOT NULL
) STRICT;

CREATE INDEX charges_by_request ON charges (request, user_id) WHERE request IS NOT NULL;

CREATE TABLE usage (
	session     INTEGER NOT NULL,
	slot        INTEGER NOT NULL,
	provider    TEXT    NOT NULL,
	model       TEXT    NOT NULL,
	input       INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	requests    INTEGER NOT NULL,
	reported    INTEGER NOT NULL,
	PRIMARY KEY (session, slot, provider, model)
) STRICT, WITHOUT ROWID;

-- The same for all sessions of a user, by project and agent: so that a question
-- about days or models need not go through every session.
CREATE TABLE usage_all (
	user_id     TEXT    NOT NULL,
	slot        INTEGER NOT NULL,
	provider    TEXT    NOT NULL,
	model       TEXT    NOT NULL,
	project     TEXT    NOT NULL,
	agent       TEXT    NOT NULL,
	input       INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	requests    INTEGER NOT NULL,
	reported    INTEGER NOT NULL,
	PRIMARY KEY (user_id, slot, provider, model, project, agent)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER charges_in AFTER INSERT ON charges BEGIN
	INSERT INTO usage (session, slot, provider, model, input, output, reasoning, cache_read, cache_write, requests, reported)
	VALUES (new.session, new.slot, new.provider, new.model, new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.requests, new.reported)
	ON CONFLICT (session, slot, provider, model) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
	INSERT INTO usage_all (user_id, slot, provider, model, project, agent, input, output, reasoning, cache_read, cache_write, requests, reported)
	SELECT s.user_id, new.slot, new.provider, new.model, s.project, s.agent, new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.requests, new.reported
	FROM sessions s WHERE s.n = new.session
	ON CONFLICT (user_id, slot, provider, model, project, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

CREATE TRIGGER charges_out AFTER DELETE ON charges BEGIN
	UPDATE usage SET
		input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning,
		cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write,
		requests = requests - old.requests, reported = reported - old.reported
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model;
	DELETE FROM usage
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model
		AND input = 0 AND output = 0 AND reasoning = 0 AND cache_read = 0 AND cache_write = 0 AND requests = 0 AND reported = 0;
	UPDATE usage_all SET input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning, cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write, requests = requests - old.requests, reported = reported - old.reported
	WHERE slot = old.slot AND provider = old.provider AND model = old.model
		AND (user_id, project, agent) = (SELECT s.user_id, s.project, s.agent FROM sessions s WHERE s.n = old.session);
END;

CREATE TRIGGER charges_move AFTER UPDATE OF session ON charges BEGIN
	UPDATE usage SET
		input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning,
		cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write,
		requests = requests - old.requests, reported = reported - old.reported
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model;
	DELETE FROM usage
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model
		AND input = 0 AND output = 0 AND reasoning = 0 AND cache_read = 0 AND cache_write = 0 AND requests = 0 AND reported = 0;
	INSERT INTO usage (session, slot, provider, model, input, output, reasoning, cache_read, cache_write, requests, reported)
	VALUES (new.session, new.slot, new.provider, new.model, new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.requests, new.reported)
	ON CONFLICT (session, slot, provider, model) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
	UPDATE sessions SET
		input = input + new.input, output = output + new.output, reasoning = reasoning + new.reasoning,
		cache_read = cache_read + new.cache_read, cache_write = cache_write + new.cache_write,
		requests = requests + new.requests, reported = reported + new.reported
	WHERE n = new.session;
	UPDATE usage_all SET input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning, cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write, requests = requests - old.requests, reported = reported - old.reported
	WHERE slot = old.slot AND provider = old.provider AND model = old.model
		AND (user_id, project, agent) = (SELECT s.user_id, s.project, s.agent FROM sessions s WHERE s.n = old.session);
	INSERT INTO usage_all (user_id, slot, provider, model, project, agent, input, output, reasoning, cache_read, cache_write, requests, reported)
	SELECT s.user_id, new.slot, new.provider, new.model, s.project, s.agent, new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.requests, new.reported
	FROM sessions s WHERE s.n = new.session
	ON CONFLICT (user_id, slot, provider, model, project, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

CREATE TRIGGER sessions_usage_moves AFTER UPDATE OF user_id, project, agent ON sessions
WHEN (old.user_id, old.project, old.agent) <> (new.user_id, new.project, new.agent)
BEGIN
	INSERT INTO usage_all (user_id, slot, provider, model, project, agent, input, output, reasoning, cache_read, cache_write, requests, reported)
	SELECT old.user_id, u.slot, u.provider, u.model, old.project, old.agent, -u.input, -u.output, -u.reasoning, -u.cache_read, -u.cache_write, -u.requests, -u.reported
	FROM usage u WHERE u.session = old.n
	ON CONFLICT (user_id, slot, provider, model, project, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, requests = requests + excluded.requests, reported = reported + excluded.reported;
	INSERT INTO usage_all (user_id, slot, provider, model, project, agent, input, output, reasoning, cache_read, cache_write, requests, reported)
	SELECT new.user_id, u.slot, u.provider, u.model, new.project, new.agent, u.input, u.output, u.reasoning, u.cache_read, u.cache_write, u.requests, u.reported
	FROM usage u WHERE u.session = new.n
	ON CONFLICT (user_id, slot, provider, model, project, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

CREATE TRIGGER sessions_usage_out BEFORE DELETE ON sessions BEGIN
	INSERT INTO usage_all (user_id, slot, provider, model, project, agent, input, output, reasoning, cache_read, cache_write, requests, reported)
	SELECT old.user_id, u.slot, u.provider, u.model, old.project, old.agent, -u.input, -u.output, -u.reasoning, -u.cache_read, -u.cache_write, -u.requests, -u.reported
	FROM usage u WHERE u.session = old.n
	ON CONFLICT (user_id, slot, provider, model, project, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, requests = requests + excluded.requests, reported = reported + excluded.reported;
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
-- It is fed later, by skein; what goes away goes from it at once.
CREATE TABLE indexed (
	one  INTEGER PRIMARY KEY CHECK (one = 1),
	upto INTEGER NOT NULL -- events.id
) STRICT;

INSERT INTO indexed (one, upto) VALUES (1, 0);

CREATE VIEW texts (id, text, extra) AS
SELECT id, text, extra FROM events WHERE text IS NOT NULL AND id <= (SELECT upto FROM indexed);

CREATE VIRTUAL TABLE words USING fts5 (
	text, extra, content = 'texts', content_rowid = 'id', tokenize = 'porter unicode61'
);

-- It is fed in small steps; merging every 8 rather than 4 of them saves a third
-- of the work.
INSERT INTO words (words, rank) VALUES ('automerge', 8);

-- Sessions that are being deleted: their rows are gone, their events go or move
-- to the fork heir. skein does that to long ones step by step.
CREATE TABLE doomed (
	session INTEGER PRIMARY KEY,
	heir    INTEGER NOT NULL -- sessions.n; 0 if there is none
) STRICT;

-- What skein has yet to do when nobody waits for it.
CREATE TABLE chores (
	name  TEXT    PRIMARY KEY, -- sweep: take what was deleted out of index, free pages and log
	times INTEGER NOT NULL     -- how often it was asked for
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_out AFTER DELETE ON events BEGIN
	DELETE FROM charges WHERE event = old.id;
	DELETE FROM blob_refs WHERE event = old.id;
END;

CREATE TRIGGER events_out_of_index AFTER DELETE ON events
WHEN old.text IS NOT NULL AND old.id <= (SELECT upto FROM indexed) AND NOT EXISTS (SELECT 1 FROM doomed WHERE session = old.session)
BEGIN
	INSERT INTO words (words, rowid, text, extra) VALUES ('delete', old.id, old.text, old.extra);
END;

CREATE TRIGGER events_text AFTER UPDATE OF text, extra ON events
WHEN old.text IS NOT NULL AND old.id <= (SELECT upto FROM indexed)
BEGIN
	INSERT INTO words (words, rowid, text, extra) VALUES ('delete', old.id, old.text, old.extra);
	INSERT INTO words (rowid, text, extra) SELECT new.id, new.text, new.extra WHERE new.text IS NOT NULL;
END;

CREATE TRIGGER events_move AFTER UPDATE OF session ON events BEGIN
	UPDATE charges SET session = new.session WHERE event = new.id;
	UPDATE sessions SET bytes = bytes + 80 + length(new.payload) + length(CAST(coalesce(new.text, '') || coalesce(new.extra, '') AS BLOB))
	WHERE n = new.session;
END;

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

CREATE TABLE records (
	n     INTEGER PRIMARY KEY, -- files.n * 4294967296 + number in its file of the first record in the block
	count INTEGER NOT NULL,    -- how many records the block has
	raw   BLOB    NOT NULL     -- the block: recordblock.go
) STRICT;

CREATE TRIGGER files_out AFTER DELETE ON files BEGIN
	DELETE FROM records WHERE n >= old.n * 4294967296 AND n < (old.n + 1) * 4294967296;
END;

-- Deleted sessions and origins: SHA-256 of their names, so that no import
-- brings them back.
CREATE TABLE tombstones (
	hash BLOB    PRIMARY KEY,
	at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was deleted in the shell, which has no SHA-256; skein makes tombstones
-- of them when it sees them.
CREATE TABLE graves (
	id     TEXT    NOT NULL,
	origin TEXT    NOT NULL,
	path   TEXT    NOT NULL,
	origin_id TEXT NOT NULL,
	at     INTEGER NOT NULL
) STRICT;

-- A session goes with all it has; events that a fork still shows go to the
-- fork that shows most, and the others look for them there. The order matters.
CREATE TRIGGER sessions_out AFTER DELETE ON sessions
WHEN NOT EXISTS (SELECT 1 FROM doomed WHERE session = old.n)
BEGIN
	INSERT INTO graves (id, origin, path, origin_id, at)
	VALUES (old.id, old.origin, old.origin_path, old.origin_id, CAST(strftime('%s', 'now') AS INTEGER) * 1000);
	INSERT INTO graves (id, origin, path, origin_id, at) -- files that only copied it
	SELECT old.id, format, path, id, CAST(strftime('%s', 'now') AS INTEGER) * 1000 FROM files
	WHERE copy_of = old.id AND copy_of <> '' AND user_id = old.user_id;
	INSERT INTO doomed (session, heir)
	VALUES (old.n, coalesce((SELECT session FROM bases WHERE base = old.n ORDER BY upto DESC, session LIMIT 1), 0));
	UPDATE events SET session = (SELECT heir FROM doomed WHERE session = old.n)
	WHERE session = old.n AND seq <= (SELECT max(upto) FROM bases WHERE base = old.n);
	UPDATE bases SET base = (SELECT heir FROM doomed WHERE session = old.n)
	WHERE base = old.n AND session <> (SELECT heir FROM doomed WHERE session = old.n);
	DELETE FROM bases WHERE session = (SELECT heir FROM doomed WHERE session = old.n);
	UPDATE bases SET session = (SELECT heir FROM doomed WHERE session = old.n)
	WHERE session = old.n AND EXISTS (SELECT 1 FROM doomed WHERE session = old.n AND heir <> 0);
	DELETE FROM bases WHERE session = old.n;
	DELETE FROM doomed WHERE session = old.n;
	DELETE FROM events WHERE session = old.n;
	INSERT INTO chores (name, times) VALUES ('sweep', 1) ON CONFLICT (name) DO UPDATE SET times = times + 1;
	DELETE FROM leases WHERE session = old.id;
	DELETE FROM files WHERE session = old.id AND user_id = old.user_id;
	DELETE FROM files WHERE copy_of = old.id AND copy_of <> '' AND user_id = old.user_id;
END;

-- What people see. A fork's messages are its own part.
CREATE VIEW messages (id, session_id, role, content, created_at) AS
SELECT e.id, s.id, e.role, e.text, CASE e.at WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000.0, 'unixepoch') END
FROM sessions s JOIN events e ON e.session = s.n WHERE e.kind = 'said';

-- A message that goes leaves an empty place, so that the seqs stay without
-- gaps; one that a fork shows stays until its session is deleted.
CREATE TRIGGER messages_out INSTEAD OF DELETE ON messages
WHEN NOT EXISTS (SELECT 1 FROM events e JOIN bases b ON b.base = e.session AND b.upto >= e.seq WHERE e.id = old.id)
BEGIN
	UPDATE sessions SET messages = messages - 1, first_words = '', last_prompt = '' -- whose words they were, nobody can say cheaply
	WHERE n = (SELECT session FROM events WHERE id = old.id AND kind = 'said' AND piece = 0);
	DELETE FROM charges WHERE event = old.id;
	DELETE FROM blob_refs WHERE event = old.id;
	INSERT INTO chores (name, times) VALUES ('sweep', 1) ON CONFLICT (name) DO UPDATE SET times = times + 1;
	UPDATE events SET kind = 'noted', failed = 0, hash = NULL, role = NULL, message = NULL, tools = NULL, paths = NULL,
		text = NULL, extra = NULL, payload = CAST('{"name":"deleted"}' AS BLOB)
	WHERE id = old.id;
END;

CREATE TRIGGER messages_set INSTEAD OF UPDATE ON messages BEGIN
	SELECT RAISE(ABORT, 'messages are never changed: append an amended event, or delete the message');
END;

CREATE TRIGGER messages_new INSTEAD OF INSERT ON messages BEGIN
	SELECT RAISE(ABORT, 'messages are appended with: skein append');
END;

CREATE VIEW items (user_id, session_name, created_at, item_json) AS
SELECT s.user_id, CASE s.key WHEN '' THEN s.id ELSE s.key END, m.created_at,
	json_object('id', m.id, 'session_id', m.session_id, 'role', m.role, 'content', m.content, 'created_at', m.created_at)
FROM sessions s JOIN messages m ON m.session_id = s.id;
