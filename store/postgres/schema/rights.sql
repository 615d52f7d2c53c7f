-- The roles and rights: skein_user sees what skein.user owns, skein_all sees
-- everybody's. Neither gets by row security, nor owns anything but the functions
-- that see everybody's rows, which are skein_all's. skein_owner owns all else; the
-- role that programs log in as owns nothing and sees nothing until it takes one of
-- these. They are made before this file is run, for roles are the cluster's, not the
-- database's.
--
-- It is run after the last step of the schema, and where a copy of a database was
-- made without them. Running it again changes nothing.
GRANT USAGE ON SCHEMA public TO skein_user, skein_all;
GRANT SELECT, INSERT, UPDATE, DELETE ON heads, leases, journal, sessions, names, events, bases, rewound_ranges, reparented, purge_queue, scrubs, charges, usage,
	blobs, blob_refs, files, records, tombstones, found, shares TO skein_user, skein_all;
GRANT SELECT, INSERT, UPDATE, DELETE ON indexed, users, tokens, logins, audit TO skein_all;
GRANT SELECT ON indexed, users TO skein_user;
GRANT USAGE ON SEQUENCE numbers, fences TO skein_user, skein_all;
GRANT SELECT ON SEQUENCE numbers, fences TO skein_all; -- pg_dump --role=skein_all reads them
GRANT SELECT ON skein_version TO PUBLIC; -- who opens the database looks there first

DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['heads', 'leases', 'journal', 'sessions', 'names', 'events', 'bases', 'rewound_ranges', 'reparented', 'purge_queue', 'scrubs', 'charges', 'usage',
			'blobs', 'blob_refs', 'files', 'records', 'tombstones', 'found', 'users', 'tokens', 'shares'] LOOP
		EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
		EXECUTE format('DROP POLICY IF EXISTS own ON %I', t);
		EXECUTE format('DROP POLICY IF EXISTS everybodys ON %I', t);
		EXECUTE format('CREATE POLICY own ON %I TO skein_user USING (user_id = current_setting(''skein.user'')) WITH CHECK (user_id = current_setting(''skein.user''))', t);
		EXECUTE format('CREATE POLICY everybodys ON %I TO skein_all USING (true) WITH CHECK (true)', t);
	END LOOP;
	-- Who owns partitions is to see no more in them than in their tables.
	FOR t IN WITH RECURSIVE p AS (SELECT inhrelid FROM pg_inherits JOIN pg_class c ON c.oid = inhparent WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'p' AND c.relforcerowsecurity
			UNION SELECT i.inhrelid FROM pg_inherits i JOIN p ON p.inhrelid = i.inhparent)
			SELECT c.oid::regclass FROM pg_class c JOIN p ON p.inhrelid = c.oid WHERE NOT (c.relrowsecurity AND c.relforcerowsecurity) LOOP
		EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
	END LOOP;
END $$;

-- Logins belong to tokens, and are no user's rows; nor is the audit.
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['logins', 'audit'] LOOP
		EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
		EXECUTE format('DROP POLICY IF EXISTS everybodys ON %I', t);
		EXECUTE format('CREATE POLICY everybodys ON %I TO skein_all USING (true) WITH CHECK (true)', t);
	END LOOP;
END $$;

-- The functions that see everybody's rows. Who gets a function must be one who may
-- make some.
DO $$
DECLARE
	f regprocedure;
	was text := current_setting('role');
BEGIN
	FOR f IN SELECT oid FROM pg_proc WHERE proname IN ('find', 'edited', 'named', 'journal_edge', 'theirs', 'adopt') AND pronamespace = 'public'::regnamespace LOOP
		IF (SELECT proowner FROM pg_proc WHERE oid = f) <> 'skein_all'::regrole THEN
			GRANT CREATE ON SCHEMA public TO skein_all;
			EXECUTE format('ALTER FUNCTION %s OWNER TO skein_all', f);
			REVOKE CREATE ON SCHEMA public FROM skein_all;
		END IF;
		SET LOCAL ROLE skein_all;
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO skein_user, skein_all', f);
		PERFORM set_config('role', was, true);
	END LOOP;
END $$;
