-- What stands of a session is what its row counts and what messages shows: not
-- what was taken back or withdrawn. turn and ordinal of events go on counting all.

ALTER TABLE sessions ADD COLUMN undone_messages INTEGER NOT NULL DEFAULT 0; -- that were taken back or withdrawn: not in messages
ALTER TABLE sessions ADD COLUMN undone_turns INTEGER NOT NULL DEFAULT 0;

-- What a message's items are, for the view of that name (items.go). NULL: one,
-- with all of text.
ALTER TABLE events ADD COLUMN items TEXT;

-- The places of a session, a fork's parent's included, that were taken back:
-- those behind after, up to and with upto.
CREATE TABLE undone (
	session INTEGER NOT NULL,
	after   INTEGER NOT NULL,
	upto    INTEGER NOT NULL,
	PRIMARY KEY (session, after)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER undone_out AFTER DELETE ON sessions BEGIN
	DELETE FROM undone WHERE session = old.n;
END;

-- What was put in an event's place is looked for by that event.
DROP INDEX events_amended;
CREATE INDEX events_amends ON events (session, amends, seq, role) WHERE kind = 'amended';

-- Rows from before are worked out anew, step by step: those of sessions in which
-- anything was undone, and the items of events.
INSERT INTO chores (name, times)
SELECT 'recount ' || n, 1 FROM (
	SELECT session AS n FROM events WHERE kind IN ('rewound', 'compacted', 'amended')
	UNION SELECT session FROM bases WHERE EXISTS (SELECT 1 FROM events WHERE kind IN ('rewound', 'compacted', 'amended')))
WHERE true ON CONFLICT (name) DO UPDATE SET times = times + 1;
INSERT INTO chores (name, times) SELECT 'sums', 0 WHERE EXISTS (SELECT 1 FROM events)
ON CONFLICT (name) DO UPDATE SET times = 0;

DROP VIEW items;
DROP VIEW messages;

-- The said events that stand in session number viewer, with what stands there
-- now: of a fork, those that it shows of its parent too. The + keeps SQLite from
-- looking for a message's other pieces by seq, through the whole session, rather
-- than by events_by_message.
CREATE VIEW stands (viewer, id, seq, message, role, text, items, at) AS
SELECT s.n, e.id, e.seq, e.message, coalesce(a.role, e.role), CASE WHEN a.id IS NULL THEN e.text ELSE a.text END,
	CASE WHEN a.id IS NULL THEN e.items ELSE a.items END, e.at
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
	AND NOT EXISTS (SELECT 1 FROM undone u WHERE u.session = s.n AND u.after < e.seq AND u.upto >= e.seq);

-- The same without pieces of a message of which a later piece repeats all.
CREATE VIEW spoken (viewer, id, seq, message, role, text, items, at) AS
SELECT x.viewer, x.id, x.seq, x.message, x.role, x.text, x.items, x.at FROM stands x
WHERE x.message IS NULL OR NOT EXISTS (SELECT 1 FROM stands p
	WHERE p.viewer = x.viewer AND p.message = x.message AND +p.seq > x.seq AND substr(p.text, 1, length(x.text)) = x.text);

-- What people see: the conversation as it is now, a fork's whole. What else was
-- said is in events.
CREATE VIEW messages (id, session_id, role, content, created_at) AS
SELECT x.id, s.id, x.role,
	CASE WHEN x.message IS NULL THEN x.text ELSE (SELECT group_concat(k.text, char(10)) FROM
		(SELECT p.text FROM spoken p WHERE p.viewer = x.viewer AND p.message = x.message ORDER BY p.seq) k) END,
	CASE x.at WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', x.at / 1000.0, 'unixepoch') END
FROM stands x JOIN sessions s ON s.n = x.viewer
WHERE x.message IS NULL OR NOT EXISTS (SELECT 1 FROM stands p WHERE p.viewer = x.viewer AND p.message = x.message AND +p.seq < x.seq);

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
	UPDATE sessions SET messages = messages - 1, turns = turns - coalesce((
			SELECT e.turn - p.turn FROM events e JOIN events p ON p.session = e.session AND p.seq = e.seq - 1 WHERE e.id = old.id), 0)
	WHERE n = old.session AND EXISTS (SELECT 1 FROM stands x WHERE x.viewer = old.session AND x.id = old.id)
		AND NOT EXISTS ( -- else another piece of it stays
			SELECT 1 FROM stands x JOIN stands o ON o.viewer = x.viewer AND o.message = x.message AND o.id <> x.id
			WHERE x.viewer = old.session AND x.id = old.id);
	UPDATE sessions SET first_words = '', last_prompt = '' WHERE n = old.session;
	UPDATE sessions SET input = input - (SELECT c.input FROM charges c WHERE c.event = old.id),
		output = output - (SELECT c.output FROM charges c WHERE c.event = old.id),
		reasoning = reasoning - (SELECT c.reasoning FROM charges c WHERE c.event = old.id),
		cache_read = cache_read - (SELECT c.cache_read FROM charges c WHERE c.event = old.id),
		cache_write = cache_write - (SELECT c.cache_write FROM charges c WHERE c.event = old.id),
		requests = requests - (SELECT c.requests FROM charges c WHERE c.event = old.id),
		reported = reported - (SELECT c.reported FROM charges c WHERE c.event = old.id)
	WHERE n = (SELECT c.session FROM charges c WHERE c.event = old.id);
	DELETE FROM charges WHERE event = old.id;
	DELETE FROM blob_refs WHERE event = old.id;
	INSERT INTO chores (name, times) VALUES ('sweep', 1) ON CONFLICT (name) DO UPDATE SET times = times + 1;
	INSERT INTO chores (name, times) VALUES ('recount ' || old.session, 1) ON CONFLICT (name) DO UPDATE SET times = times + 1;
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
				WHERE o.session = s.n AND o.kind = 'said' AND EXISTS (SELECT 1 FROM stands x WHERE x.viewer = s.n AND x.id = o.id)
				ORDER BY o.seq DESC LIMIT 1) IS NULL END);
END;

CREATE TRIGGER messages_set INSTEAD OF UPDATE ON messages BEGIN
	SELECT RAISE(ABORT, 'messages are never changed: append an amended event, or delete the message');
END;

CREATE TRIGGER messages_new INSTEAD OF INSERT ON messages BEGIN
	SELECT RAISE(ABORT, 'messages are appended with: skein append');
END;

-- The same messages as items of OpenAI's Responses API, in their order. To
-- delete an item deletes the message that it is of.
CREATE VIEW items (id, user_id, session_name, created_at, item_json, session_id) AS
SELECT x.id * 65536 + min(coalesce(i.key, 0), 65535), s.user_id, CASE s.key WHEN '' THEN s.id ELSE s.key END,
	CASE x.at WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', x.at / 1000.0, 'unixepoch') END,
	CASE json_extract(i.value, '$[0]')
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
	s.id
FROM spoken x JOIN sessions s ON s.n = x.viewer LEFT JOIN json_each(x.items) i ON true;

CREATE TRIGGER items_out INSTEAD OF DELETE ON items BEGIN
	DELETE FROM messages WHERE session_id = old.session_id AND id = (SELECT id FROM (
		SELECT e.id, e.seq FROM sessions s JOIN stands e ON e.viewer = s.n AND e.id = old.id / 65536 WHERE s.id = old.session_id
		UNION SELECT p.id, p.seq FROM sessions s JOIN stands e ON e.viewer = s.n AND e.id = old.id / 65536
			JOIN stands p ON p.viewer = e.viewer AND p.message = e.message
		WHERE s.id = old.session_id ORDER BY 2 LIMIT 1));
END;

CREATE TRIGGER items_set INSTEAD OF UPDATE ON items BEGIN
	SELECT RAISE(ABORT, 'messages are never changed: append an amended event, or delete the item');
END;

CREATE TRIGGER items_new INSTEAD OF INSERT ON items BEGIN
	SELECT RAISE(ABORT, 'messages are appended with: skein append');
END;
