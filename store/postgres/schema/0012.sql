-- Which pages have rows of which times. Together with the index of words it gives the
-- newest rows that match without all the others; it is small, and costs appends nothing.
CREATE INDEX IF NOT EXISTS found_times ON found USING brin (at) WITH (pages_per_range = 16, autosummarize = on);

DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT oid FROM pg_proc WHERE proname = 'find' AND pronamespace = 'public'::regnamespace LOOP
		EXECUTE 'DROP FUNCTION ' || f;
	END LOOP;
END $$;

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
