-- Every event has a checksum, and what does not match it is damaged. Events from
-- before get theirs step by step (chores: sums; times is the ID of the last one
-- that has it): those with a client ID only if they still have the content that
-- this was given for. NULL stays of those that have not, and of a message that
-- was deleted in the shell.

ALTER TABLE events ADD COLUMN sum INTEGER; -- skein.Event.Sum with text beside

INSERT INTO chores (name, times) SELECT 'sums', 0 WHERE EXISTS (SELECT 1 FROM events);

DROP TRIGGER messages_out;

-- As before, and without the checksum.
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
	UPDATE events SET kind = 'noted', failed = 0, hash = NULL, sum = NULL, role = NULL, message = NULL, amends = NULL, tools = NULL, paths = NULL,
		text = NULL, extra = NULL, payload = CAST('{"name":"deleted"}' AS BLOB)
	WHERE id = old.id OR id IN ( -- what was put in its place
		SELECT a.id FROM events e JOIN events a ON a.session = e.session AND a.kind IN ('rewound', 'compacted', 'amended') AND a.amends = e.seq
		WHERE e.id = old.id AND e.kind = 'said');
END;
