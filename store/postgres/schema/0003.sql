-- Schema 3: links by which anybody can read a part of a session.
CREATE TABLE shares (
	user_id text COLLATE "C" NOT NULL, -- who owns the session
	id      text COLLATE "C" NOT NULL UNIQUE, -- a few letters, for people
	hash    bytea  NOT NULL UNIQUE, -- SHA-256 of the secret in the link
	session text COLLATE "C" NOT NULL, -- sessions.id
	shows   text   NOT NULL, -- JSON: which part of it, and what is left out
	by      text   NOT NULL, -- name of the token that made it
	created bigint NOT NULL, -- ms since 1970
	expires bigint NOT NULL, -- ms since 1970
	views   bigint NOT NULL DEFAULT 0, -- how often it was opened
	viewed  bigint NOT NULL DEFAULT 0, -- when last, ms since 1970
	PRIMARY KEY (user_id, session, id)
);
