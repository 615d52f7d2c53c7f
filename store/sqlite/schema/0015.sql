-- Checksum of the texts in the row (headsum.go). NULL: it is not known, of rows that
-- an older version wrote last, or whose words were taken out by the triggers.
ALTER TABLE sessions ADD COLUMN sum INTEGER;

CREATE TRIGGER sessions_emptied AFTER UPDATE OF first_words ON sessions
WHEN new.sum IS old.sum AND new.first_words = '' AND new.last_prompt = '' AND (old.first_words <> '' OR old.last_prompt <> '')
BEGIN
	UPDATE sessions SET sum = NULL WHERE n = new.n;
END;
