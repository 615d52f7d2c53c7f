-- Whole copies that were made of the store are known to it, so that a scrub can
-- name them all. Each copy is a store of its own: it has another id.

CREATE TABLE store (
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	id    BLOB    NOT NULL, -- random; also tells whether another file was copied over this one
	begun INTEGER NOT NULL  -- ms since 1970: when this table was made
) STRICT;

INSERT INTO store (one, id, begun) VALUES (1, randomblob(16), CAST(strftime('%s', 'now') AS INTEGER) * 1000);

CREATE TABLE copies (
	path  TEXT    NOT NULL UNIQUE, -- absolute
	made  INTEGER NOT NULL,        -- ms since 1970: when it was begun
	kind  TEXT    NOT NULL,        -- inspect.CopyKind
	state TEXT    NOT NULL         -- what the store had then (rolling.go); '' if nobody noted it
) STRICT; -- its rows are told from others when a damaged file is salvaged
