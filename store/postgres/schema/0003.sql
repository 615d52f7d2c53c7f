-- The browsers that are logged in. What signed their cookies before is needed no
-- more: they log in once again.
CREATE TABLE logins (
	id      text COLLATE "C" PRIMARY KEY,
	hash    bytea  NOT NULL UNIQUE, -- SHA-256 of what the browser shows
	token   text COLLATE "C" NOT NULL REFERENCES tokens (name) ON DELETE CASCADE ON UPDATE CASCADE,
	device  text   NOT NULL, -- what the browser says that it is
	address text   NOT NULL, -- from which it came last
	created bigint NOT NULL,
	used    bigint NOT NULL, -- last, to about a minute
	expires bigint NOT NULL
);
CREATE INDEX logins_token ON logins (token, used);

DROP TABLE secrets;
