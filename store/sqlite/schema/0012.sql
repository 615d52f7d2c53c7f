-- A call is not another one because it has the same words: it is by its ID that a
-- later piece of a message repeats it. Nor is a text reasoning.

DROP VIEW spoken;

-- What stands, without pieces of a message of which a later piece repeats all: the
-- words, and each item (items.go), those of texts by their kind.
CREATE VIEW spoken (viewer, id, seq, message, role, text, items, at) AS
SELECT x.viewer, x.id, x.seq, x.message, x.role, x.text, x.items, x.at FROM stands x
WHERE x.message IS NULL OR NOT EXISTS (SELECT 1 FROM stands p
	WHERE p.viewer = x.viewer AND p.message = x.message AND +p.seq > x.seq AND substr(p.text, 1, length(x.text)) = x.text
		AND NOT EXISTS (SELECT 1 FROM json_each(coalesce(x.items, '[["message"]]')) i
			WHERE json_extract(i.value, '$[0]') <> 'incomplete' AND NOT EXISTS (
				SELECT 1 FROM json_each(coalesce(nullif(p.items, '[["incomplete"]]'), '[["message"]]')) j
				WHERE json_extract(j.value, '$[0]') = json_extract(i.value, '$[0]')
					AND (json_extract(j.value, '$[0]') IN ('message', 'reasoning') OR json_extract(j.value, '$[1]') = json_extract(i.value, '$[1]')))));
