-- Schema 2: which messages change which files, and add which lines.

-- Those of the events up to and with edits_fed.upto. It is fed later, by skein, like the
-- index of words; what goes away goes from it at once.
CREATE TABLE edits (
	key   INTEGER NOT NULL, -- edits.IndexKey, of a name or a line
	event INTEGER NOT NULL, -- events.id
	PRIMARY KEY (key, event)
) STRICT, WITHOUT ROWID;

CREATE INDEX edits_by_event ON edits (event);

CREATE TABLE edits_fed (
	one  INTEGER PRIMARY KEY CHECK (one = 1),
	upto INTEGER NOT NULL -- events.id
) STRICT;

INSERT INTO edits_fed (one, upto) VALUES (1, 0);

CREATE TRIGGER events_out_of_edits AFTER DELETE ON events BEGIN
	DELETE FROM edits WHERE event = old.id;
END;

-- What is in its place now, skein puts in: the shell cannot.
CREATE TRIGGER events_edited AFTER UPDATE OF payload ON events BEGIN
	DELETE FROM edits WHERE event = new.id;
END;
