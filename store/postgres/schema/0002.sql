-- Schema 2: which messages change which files, and add which lines.

-- Of what a message's calls change: edits.IndexKey, each once; NULL if there are none.
ALTER TABLE found ADD COLUMN edits integer[];
-- The user is in the index if that of words has it: a user's query does not read those of others.
DO $$
BEGIN
	EXECUTE format('CREATE INDEX found_by_edits ON found USING gin (%s edits) WHERE edits IS NOT NULL',
		CASE WHEN EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'btree_gin') THEN 'user_id, ' ELSE '' END);
END $$;

-- The rows of found are made again, in the background. Those that are there stay until
-- then, so that searches still find by them.
UPDATE indexed SET xid = '0', ordinal = -1, seq = 0;

-- As find, from keys to rows: those that have any of them.
CREATE FUNCTION edited(who text, keys integer[]) RETURNS TABLE (user_id text, n bigint, seq bigint, at bigint, amends bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET enable_bitmapscan = on SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $edited$
BEGIN
	IF current_setting('role') <> 'skein_all' AND (who IS NULL OR who IS DISTINCT FROM current_setting('skein.user', true)) THEN
		RAISE insufficient_privilege USING MESSAGE = 'edited: the rows of another user';
	END IF;
	IF who IS NULL THEN
		RETURN QUERY SELECT f.user_id, f.n, f.seq, f.at, f.amends FROM found f WHERE f.edits && keys;
	ELSE
		RETURN QUERY SELECT f.user_id, f.n, f.seq, f.at, f.amends FROM found f WHERE f.user_id = who AND f.edits && keys;
	END IF;
END $edited$;
