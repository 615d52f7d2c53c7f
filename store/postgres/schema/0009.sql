-- Ends a transaction of a program that knows the tables in another version. Its
-- error's detail is the one that they have.
CREATE OR REPLACE FUNCTION other_schema() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'the tables have another version' USING ERRCODE = 'SK002', DETAIL = (SELECT m.version::text FROM skein_meta m);
END $$;
