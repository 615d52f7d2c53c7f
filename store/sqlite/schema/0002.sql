-- Names and windows are found through indexes, and the counts of a session stay
-- true when the stock shell deletes its messages.
--
-- chores.name has three more values: merging and merged say how far the sweep
-- is, as the value that sweep.times had (residue.go); recount N is to work
-- session N's row out anew.

CREATE INDEX sessions_by_end ON sessions (substr(id, -4)); -- people name a session by its last characters
CREATE INDEX sessions_by_name ON sessions (CASE title WHEN '' THEN first_words ELSE title END); -- narrow, to be gone through
CREATE INDEX events_rewound ON events (session, seq) WHERE kind = 'rewound';
CREATE INDEX events_compacted ON events (session, seq) WHERE kind = 'compacted';
CREATE INDEX events_amended ON events (session, seq, amends) WHERE kind = 'amended';
CREATE INDEX files_by_other_id ON files (id) WHERE id <> session;

DROP TRIGGER messages_out;

-- A message that goes leaves an empty place, so that the seqs stay without
-- gaps. One that a fork shows stays until the session is deleted: then the
-- fork gets it. What the session's row counts is right at once; its first words
-- and last prompt, and to which turn the later events belong, skein works out
-- at its next start.
CREATE TRIGGER messages_out INSTEAD OF DELETE ON messages
WHEN NOT EXISTS (SELECT 1 FROM events e JOIN bases b ON b.base = e.session AND b.upto >= e.seq WHERE e.id = old.id)
BEGIN
	UPDATE sessions SET messages = messages - 1, turns = turns - coalesce((
			SELECT e.turn - p.turn FROM events e JOIN events p ON p.session = e.session AND p.seq = e.seq - 1 WHERE e.id = old.id), 0)
	WHERE n = (SELECT e.session FROM events e WHERE e.id = old.id AND e.kind = 'said' AND NOT EXISTS ( -- else another piece of it stays
		SELECT 1 FROM events o WHERE o.session = e.session AND o.message = e.message AND o.id <> e.id));
	UPDATE sessions SET first_words = '', last_prompt = '' WHERE n = (SELECT session FROM events WHERE id = old.id);
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
	INSERT INTO chores (name, times) SELECT 'recount ' || session, 1 FROM events WHERE id = old.id ON CONFLICT (name) DO UPDATE SET times = times + 1;
	UPDATE events SET kind = 'noted', failed = 0, hash = NULL, role = NULL, message = NULL, amends = NULL, tools = NULL, paths = NULL,
		text = NULL, extra = NULL, payload = CAST('{"name":"deleted"}' AS BLOB)
	WHERE id = old.id OR id IN ( -- what was put in its place
		SELECT a.id FROM events e JOIN events a ON a.session = e.session AND a.kind IN ('rewound', 'compacted', 'amended') AND a.amends = e.seq
		WHERE e.id = old.id AND e.kind = 'said');
END;

-- What the trigger before could not say of messages that were deleted is
-- worked out anew, and what forks that nobody wrote to show as last prompt.
INSERT OR IGNORE INTO chores (name, times) SELECT 'recount ' || n, 1 FROM sessions
WHERE messages > 0 AND first_words = '' OR turns > 0 AND base > 0 AND last_prompt = '';
