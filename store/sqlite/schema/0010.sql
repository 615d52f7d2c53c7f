-- What a request costs hangs on more than its model: on how long the provider keeps
-- what was put into its cache, and on its tier (skein.Tier), which is the service tier
-- and how long the prompt was. So sums are kept by tier.

ALTER TABLE sessions ADD COLUMN cache_hour INTEGER NOT NULL DEFAULT 0; -- part of cache_write: for an hour
ALTER TABLE charges ADD COLUMN tier TEXT NOT NULL DEFAULT '';
ALTER TABLE charges ADD COLUMN cache_hour INTEGER NOT NULL DEFAULT 0;

-- Rows from before say how long a prompt was, all rows of a request together. They
-- do not say for how long it was cached, nor the service tier.
UPDATE charges SET tier = '>' || CASE WHEN w.prompt > 512000 THEN 512000 WHEN w.prompt > 272000 THEN 272000
	WHEN w.prompt > 271999 THEN 271999 WHEN w.prompt > 200000 THEN 200000 WHEN w.prompt > 199999 THEN 199999 ELSE 128000 END
FROM (SELECT request, user_id, sum(input + cache_read + cache_write) AS prompt FROM charges WHERE request IS NOT NULL
	GROUP BY request, user_id HAVING sum(input + cache_read + cache_write) > 128000) w
WHERE charges.request = w.request AND charges.user_id = w.user_id;
UPDATE charges SET tier = '>' || CASE WHEN input + cache_read + cache_write > 512000 THEN 512000 WHEN input + cache_read + cache_write > 272000 THEN 272000
	WHEN input + cache_read + cache_write > 271999 THEN 271999 WHEN input + cache_read + cache_write > 200000 THEN 200000 WHEN input + cache_read + cache_write > 199999 THEN 199999 ELSE 128000 END
WHERE request IS NULL AND input + cache_read + cache_write > 128000;

DROP TRIGGER charges_in;
DROP TRIGGER charges_out;
DROP TRIGGER charges_move;
DROP TRIGGER sessions_usage_moves;
DROP TRIGGER sessions_usage_out;
DROP TRIGGER said_out;
DROP TABLE usage;
DROP TABLE usage_all;

CREATE TABLE usage (
	session     INTEGER NOT NULL,
	slot        INTEGER NOT NULL,
	provider    TEXT    NOT NULL,
	model       TEXT    NOT NULL,
	tier        TEXT    NOT NULL,
	input       INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	cache_hour  INTEGER NOT NULL,
	requests    INTEGER NOT NULL,
	reported    INTEGER NOT NULL,
	PRIMARY KEY (session, slot, provider, model, tier)
) STRICT, WITHOUT ROWID;

INSERT INTO usage (session, slot, provider, model, tier, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
SELECT session, slot, provider, model, tier, sum(input), sum(output), sum(reasoning), sum(cache_read), sum(cache_write), sum(cache_hour), sum(requests), sum(reported)
FROM charges GROUP BY 1, 2, 3, 4, 5;

-- The same for all sessions of a user, by project and agent: so that a question
-- about days or models need not go through every session.
CREATE TABLE usage_all (
	user_id     TEXT    NOT NULL,
	slot        INTEGER NOT NULL,
	provider    TEXT    NOT NULL,
	model       TEXT    NOT NULL,
	tier        TEXT    NOT NULL,
	project     TEXT    NOT NULL,
	agent       TEXT    NOT NULL,
	input       INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	cache_hour  INTEGER NOT NULL,
	requests    INTEGER NOT NULL,
	reported    INTEGER NOT NULL,
	PRIMARY KEY (user_id, slot, provider, model, tier, project, agent)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_all (user_id, slot, provider, model, tier, project, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
SELECT s.user_id, u.slot, u.provider, u.model, u.tier, s.project, s.agent, sum(u.input), sum(u.output), sum(u.reasoning), sum(u.cache_read), sum(u.cache_write), sum(u.cache_hour), sum(u.requests), sum(u.reported)
FROM usage u JOIN sessions s ON s.n = u.session GROUP BY 1, 2, 3, 4, 5, 6, 7;

CREATE TRIGGER charges_in AFTER INSERT ON charges BEGIN
	INSERT INTO usage (session, slot, provider, model, tier, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	VALUES (new.session, new.slot, new.provider, new.model, new.tier, new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.cache_hour, new.requests, new.reported)
	ON CONFLICT (session, slot, provider, model, tier) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
	INSERT INTO usage_all (user_id, slot, provider, model, tier, project, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT s.user_id, new.slot, new.provider, new.model, new.tier, s.project, s.agent, new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.cache_hour, new.requests, new.reported
	FROM sessions s WHERE s.n = new.session
	ON CONFLICT (user_id, slot, provider, model, tier, project, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour, requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

CREATE TRIGGER charges_out AFTER DELETE ON charges BEGIN
	UPDATE usage SET
		input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning,
		cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write, cache_hour = cache_hour - old.cache_hour,
		requests = requests - old.requests, reported = reported - old.reported
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier;
	DELETE FROM usage
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier
		AND input = 0 AND output = 0 AND reasoning = 0 AND cache_read = 0 AND cache_write = 0 AND cache_hour = 0 AND requests = 0 AND reported = 0;
	UPDATE usage_all SET input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning, cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write, cache_hour = cache_hour - old.cache_hour, requests = requests - old.requests, reported = reported - old.reported
	WHERE slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier
		AND (user_id, project, agent) = (SELECT s.user_id, s.project, s.agent FROM sessions s WHERE s.n = old.session);
END;

CREATE TRIGGER charges_move AFTER UPDATE OF session ON charges BEGIN
	UPDATE usage SET
		input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning,
		cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write, cache_hour = cache_hour - old.cache_hour,
		requests = requests - old.requests, reported = reported - old.reported
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier;
	DELETE FROM usage
	WHERE session = old.session AND slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier
		AND input = 0 AND output = 0 AND reasoning = 0 AND cache_read = 0 AND cache_write = 0 AND cache_hour = 0 AND requests = 0 AND reported = 0;
	INSERT INTO usage (session, slot, provider, model, tier, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	VALUES (new.session, new.slot, new.provider, new.model, new.tier, new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.cache_hour, new.requests, new.reported)
	ON CONFLICT (session, slot, provider, model, tier) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour,
		requests = requests + excluded.requests, reported = reported + excluded.reported;
	UPDATE sessions SET
		input = input + new.input, output = output + new.output, reasoning = reasoning + new.reasoning,
		cache_read = cache_read + new.cache_read, cache_write = cache_write + new.cache_write, cache_hour = cache_hour + new.cache_hour,
		requests = requests + new.requests, reported = reported + new.reported
	WHERE n = new.session;
	UPDATE usage_all SET input = input - old.input, output = output - old.output, reasoning = reasoning - old.reasoning, cache_read = cache_read - old.cache_read, cache_write = cache_write - old.cache_write, cache_hour = cache_hour - old.cache_hour, requests = requests - old.requests, reported = reported - old.reported
	WHERE slot = old.slot AND provider = old.provider AND model = old.model AND tier = old.tier
		AND (user_id, project, agent) = (SELECT s.user_id, s.project, s.agent FROM sessions s WHERE s.n = old.session);
	INSERT INTO usage_all (user_id, slot, provider, model, tier, project, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT s.user_id, new.slot, new.provider, new.model, new.tier, s.project, s.agent, new.input, new.output, new.reasoning, new.cache_read, new.cache_write, new.cache_hour, new.requests, new.reported
	FROM sessions s WHERE s.n = new.session
	ON CONFLICT (user_id, slot, provider, model, tier, project, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour, requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

CREATE TRIGGER sessions_usage_moves AFTER UPDATE OF user_id, project, agent ON sessions
WHEN (old.user_id, old.project, old.agent) <> (new.user_id, new.project, new.agent)
BEGIN
	INSERT INTO usage_all (user_id, slot, provider, model, tier, project, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT old.user_id, u.slot, u.provider, u.model, u.tier, old.project, old.agent, -u.input, -u.output, -u.reasoning, -u.cache_read, -u.cache_write, -u.cache_hour, -u.requests, -u.reported
	FROM usage u WHERE u.session = old.n
	ON CONFLICT (user_id, slot, provider, model, tier, project, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour, requests = requests + excluded.requests, reported = reported + excluded.reported;
	INSERT INTO usage_all (user_id, slot, provider, model, tier, project, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT new.user_id, u.slot, u.provider, u.model, u.tier, new.project, new.agent, u.input, u.output, u.reasoning, u.cache_read, u.cache_write, u.cache_hour, u.requests, u.reported
	FROM usage u WHERE u.session = new.n
	ON CONFLICT (user_id, slot, provider, model, tier, project, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour, requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

CREATE TRIGGER sessions_usage_out BEFORE DELETE ON sessions BEGIN
	INSERT INTO usage_all (user_id, slot, provider, model, tier, project, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT old.user_id, u.slot, u.provider, u.model, u.tier, old.project, old.agent, -u.input, -u.output, -u.reasoning, -u.cache_read, -u.cache_write, -u.cache_hour, -u.requests, -u.reported
	FROM usage u WHERE u.session = old.n
	ON CONFLICT (user_id, slot, provider, model, tier, project, agent) DO UPDATE SET
		input = input + excluded.input, output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_hour = cache_hour + excluded.cache_hour, requests = requests + excluded.requests, reported = reported + excluded.reported;
END;

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
		cache_hour = cache_hour - (SELECT c.cache_hour FROM charges c WHERE c.event = old.id),
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
