-- What a session takes counts its texts once: they stand in the index too, which is
-- not what was said.
UPDATE sessions s SET bytes = greatest(0, s.bytes - x.bytes)
FROM (SELECT f.user_id, f.n, sum(octet_length(f.text)) AS bytes FROM found f GROUP BY f.user_id, f.n) x
WHERE s.user_id = x.user_id AND s.n = x.n;
