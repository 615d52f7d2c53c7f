-- To keep the trigrams of every text cost more than everything else about a message.
-- Pieces of texts are looked for by the words in them, and else in the texts. What
-- is indexed is sorted in by more at once.
DROP INDEX IF EXISTS found_by_trigrams;
ALTER INDEX found_by_words SET (gin_pending_list_limit = 8192);

DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT oid FROM pg_proc WHERE proname = 'find' AND pronamespace = 'public'::regnamespace LOOP
		EXECUTE 'DROP FUNCTION ' || f;
	END LOOP;
END $$;

-- The one way from words to rows: row security keeps an index of words from
-- being used, so this sees everybody's rows and itself compares the user. It
-- returns the newest rows, most of them at most, that match the query or, if odd, are
-- odd; are of that role, if it is not '', and failed, if failures; are of since or
-- later and before until; and are those of the sessions inside, if that is not NULL.
-- sure says that the row does match: that there is nothing in it of doubtful. Where
-- newest, it goes from the newest row back, which is faster where most rows match.
-- who may be NULL, for everybody, where the role is skein_all.
--
-- The settings are for the planner. It does not know that the words lie out of line,
-- where it costs more to look at them than at the row, and would read all rows of a
-- user, or all there are, sooner than ask the index.
CREATE FUNCTION find(who text, query tsquery, doubtful tsquery, odd boolean, speaker text, failures boolean, since bigint, until bigint, inside bigint[], most integer, newest boolean)
RETURNS TABLE (user_id text, n bigint, seq bigint, at bigint, amends bigint, score real, sure boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET enable_bitmapscan = on SET enable_seqscan = off SET cpu_operator_cost = 1 SET jit = off
AS $find$
DECLARE
	conds text := 'f.at >= $4';
	back text := '-f.at, f.n, f.seq'; -- the order, newest first
BEGIN
	IF current_setting('role') <> 'skein_all' AND (who IS NULL OR who IS DISTINCT FROM current_setting('skein.user', true)) THEN
		RAISE insufficient_privilege USING MESSAGE = 'find: the rows of another user';
	END IF;
	IF who IS NOT NULL THEN
		conds := conds || ' AND f.user_id = $1';
		back := 'f.at DESC, f.n DESC, f.seq DESC';
	ELSE
		conds := conds || ' AND -f.at <= -greatest($4, -9223372036854775807)'; -- as the index of everybody's times has it
	END IF;
	IF odd THEN
		conds := conds || ' AND (f.words @@ $2 OR f.odd)';
	ELSE
		conds := conds || ' AND f.words @@ $2';
	END IF;
	IF speaker <> '' THEN
		conds := conds || ' AND f.role = $8';
	END IF;
	IF failures THEN
		conds := conds || ' AND f.failed';
	END IF;
	IF until IS NOT NULL THEN
		conds := conds || ' AND f.at < $5 AND f.at <> 0';
	END IF;
	IF inside IS NOT NULL THEN
		conds := conds || ' AND f.n = ANY ($6)';
	END IF;
	IF newest THEN
		PERFORM set_config('enable_bitmapscan', 'off', true); -- for this call
	ELSIF inside IS NULL THEN
		back := replace(back, 'f.at', '(f.at + 0)'); -- else rows may be gone through by time, all of them, for a few that match
	END IF;
	-- Only of those that are taken are the words read: all that match would not fit into memory to be sorted.
	RETURN QUERY EXECUTE format('SELECT c.user_id, c.n, c.seq, c.at, c.amends, ts_rank(w.words, $2, 1), coalesce(NOT w.words @@ $3, false)
		FROM (SELECT f.ctid AS place, f.user_id, f.n, f.seq, f.at, f.amends FROM found f WHERE %s ORDER BY %s LIMIT $7) c
		CROSS JOIN LATERAL (SELECT x.words FROM found x WHERE x.ctid = c.place OFFSET 0) w', conds, back)
		USING who, query, doubtful, since, until, inside, most, speaker;
END $find$;
