-- A tombstone bars an ID and an origin for its user. One of local's may have come
-- from a file that did not say whose it was: it barred them for everybody, and does
-- so on for those that there are. Row security hides the rows from whoever migrates.
ALTER TABLE tombstones NO FORCE ROW LEVEL SECURITY;
ALTER TABLE heads NO FORCE ROW LEVEL SECURITY;
ALTER TABLE users NO FORCE ROW LEVEL SECURITY;

INSERT INTO tombstones (user_id, hash, at)
SELECT u.user_id, t.hash, t.at FROM tombstones t CROSS JOIN (SELECT user_id FROM heads UNION SELECT user_id FROM users) u
WHERE t.user_id = 'local' ON CONFLICT DO NOTHING;

ALTER TABLE tombstones FORCE ROW LEVEL SECURITY;
ALTER TABLE heads FORCE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;

DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_proc WHERE proname = 'buried' AND pronamespace = 'public'::regnamespace AND pg_get_userbyid(proowner) = 'skein_all') THEN
		SET LOCAL ROLE skein_all;
	END IF;
	DROP FUNCTION buried(bytea[]);
	DROP FUNCTION lift(bytea[]);
	RESET ROLE;
END $$;
