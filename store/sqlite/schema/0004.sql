-- Schema 4: links by which anybody can read a part of a session.

CREATE TABLE shares (
	id      TEXT    NOT NULL PRIMARY KEY, -- a few letters, for people
	hash    BLOB    NOT NULL UNIQUE, -- SHA-256 of the secret in the link
	user_id TEXT    NOT NULL, -- who owns the session
	session TEXT    NOT NULL, -- sessions.id
	shows   TEXT    NOT NULL, -- JSON: which part of it, and what is left out
	by      TEXT    NOT NULL, -- name of the token that made it
	created INTEGER NOT NULL, -- ms since 1970
	expires INTEGER NOT NULL, -- ms since 1970
	views   INTEGER NOT NULL DEFAULT 0, -- how often it was opened
	viewed  INTEGER NOT NULL DEFAULT 0  -- when last, ms since 1970
) STRICT, WITHOUT ROWID;

CREATE INDEX shares_by_session ON shares (user_id, session);

CREATE TRIGGER shares_out AFTER DELETE ON sessions BEGIN
	DELETE FROM shares WHERE user_id = old.user_id AND session = old.id;
END;
