-- What broke off says so in messages and items: events.items has it (items.go).
-- Those of events from before are made anew, step by step.

INSERT INTO chores (name, times) SELECT 'sums', 0 WHERE EXISTS (SELECT 1 FROM events)
ON CONFLICT (name) DO UPDATE SET times = 0;

DROP VIEW items;
DROP VIEW messages;

-- What people see: the conversation as it is now, a fork's whole. What else was
-- said is in events. interrupted is 1 of what broke off.
CREATE VIEW messages (id, session_id, role, content, created_at, interrupted) AS
SELECT x.id, s.id, x.role,
	CASE WHEN x.message IS NULL THEN x.text ELSE (SELECT group_concat(k.text, char(10)) FROM
		(SELECT p.text FROM spoken p WHERE p.viewer = x.viewer AND p.message = x.message ORDER BY p.seq) k) END,
	CASE x.at WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', x.at / 1000.0, 'unixepoch') END,
	coalesce(json_extract(CASE WHEN x.message IS NULL THEN x.items ELSE (SELECT p.items FROM stands p
		WHERE p.viewer = x.viewer AND p.message = x.message ORDER BY p.seq DESC LIMIT 1) END, '$[#-1][0]') = 'incomplete', 0)
FROM stands x JOIN sessions s ON s.n = x.viewer
WHERE x.message IS NULL OR NOT EXISTS (SELECT 1 FROM stands p WHERE p.viewer = x.viewer AND p.message = x.message AND +p.seq < x.seq);

-- A message goes with all its pieces, and with the last one that stands what was
-- taken back or withdrawn. What a fork shows of its parent is not its own to
-- delete. Whether a fork has any left is looked for from its end, since messages
-- go from the start.
CREATE TRIGGER messages_out INSTEAD OF DELETE ON messages BEGIN
	DELETE FROM said WHERE id IN (
		SELECT e.id FROM sessions s JOIN events e ON e.id = old.id AND e.session = s.n WHERE s.id = old.session_id
		UNION SELECT p.id FROM sessions s JOIN events e ON e.id = old.id AND e.session = s.n
			JOIN events p ON p.session = e.session AND p.message = e.message
		WHERE s.id = old.session_id);
	DELETE FROM said WHERE id IN (
		SELECT e.id FROM sessions s CROSS JOIN events e ON e.session = s.n
		WHERE s.id = old.session_id AND e.kind = 'said'
			AND CASE s.base WHEN 0 THEN s.messages = 0 ELSE (SELECT o.id FROM events o
				WHERE o.session = s.n AND o.kind = 'said' AND EXISTS (SELECT 1 FROM stands x WHERE x.viewer = s.n AND x.id = o.id)
				ORDER BY o.seq DESC LIMIT 1) IS NULL END);
END;

CREATE TRIGGER messages_set INSTEAD OF UPDATE ON messages BEGIN
	SELECT RAISE(ABORT, 'messages are never changed: append an amended event, or delete the message');
END;

CREATE TRIGGER messages_new INSTEAD OF INSERT ON messages BEGIN
	SELECT RAISE(ABORT, 'messages are appended with: skein append');
END;

-- The same messages as items of OpenAI's Responses API, in their order. To
-- delete an item deletes the message that it is of. Those of a message that broke
-- off have the status incomplete.
CREATE VIEW items (id, user_id, session_name, created_at, item_json, session_id) AS
SELECT x.id * 65536 + min(coalesce(i.key, 0), 65535), s.user_id, CASE s.key WHEN '' THEN s.id ELSE s.key END,
	CASE x.at WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', x.at / 1000.0, 'unixepoch') END,
	json_insert(CASE json_extract(i.value, '$[0]')
	WHEN 'message' THEN json_object('type', 'message', 'role', x.role,
		'content', substr(x.text, json_extract(i.value, '$[1][0]'), json_extract(i.value, '$[1][1]')))
	WHEN 'reasoning' THEN json_object('type', 'reasoning', 'summary', json_array(json_object('type', 'summary_text',
		'text', substr(x.text, json_extract(i.value, '$[1][0]'), json_extract(i.value, '$[1][1]')))))
	WHEN 'function_call' THEN json_object('type', 'function_call', 'call_id', json_extract(i.value, '$[1]'), 'name', json_extract(i.value, '$[2]'),
		'arguments', CASE json_type(i.value, '$[3]') WHEN 'array' THEN (
			SELECT '{' || coalesce(group_concat(json_quote(json_extract(a.value, '$[0]')) || ':' || CASE json_array_length(a.value)
				WHEN 2 THEN json_quote(substr(x.text, json_extract(a.value, '$[1][0]'), json_extract(a.value, '$[1][1]')))
				ELSE a.value -> '$[2]' END), '') || '}'
			FROM json_each(i.value, '$[3]') a) ELSE json_extract(i.value, '$[3]') END)
	WHEN 'function_call_output' THEN json_object('type', 'function_call_output', 'call_id', json_extract(i.value, '$[1]'), 'name', json_extract(i.value, '$[2]'),
		'output', substr(x.text, json_extract(i.value, '$[3][0]'), json_extract(i.value, '$[3][1]')))
	WHEN 'file' THEN json_object('type', 'message', 'role', x.role,
		'content', json_array(json_object('type', 'input_file', 'filename', json_extract(i.value, '$[1]'))))
	ELSE json_object('type', 'message', 'role', x.role, 'content', coalesce(x.text, '')) END,
		CASE json_extract(x.items, '$[#-1][0]') WHEN 'incomplete' THEN '$.status' ELSE '$.type' END, 'incomplete'), -- each has a type, which stays
	s.id
FROM spoken x JOIN sessions s ON s.n = x.viewer LEFT JOIN json_each(x.items) i ON json_extract(i.value, '$[0]') <> 'incomplete';

CREATE TRIGGER items_out INSTEAD OF DELETE ON items BEGIN
	DELETE FROM messages WHERE session_id = old.session_id AND id = (SELECT id FROM (
		SELECT e.id, e.seq FROM sessions s JOIN stands e ON e.viewer = s.n AND e.id = old.id / 65536 WHERE s.id = old.session_id
		UNION SELECT p.id, p.seq FROM sessions s JOIN stands e ON e.viewer = s.n AND e.id = old.id / 65536
			JOIN stands p ON p.viewer = e.viewer AND p.message = e.message
		WHERE s.id = old.session_id ORDER BY 2 LIMIT 1));
END;

CREATE TRIGGER items_set INSTEAD OF UPDATE ON items BEGIN
	SELECT RAISE(ABORT, 'messages are never changed: append an amended event, or delete the item');
END;

CREATE TRIGGER items_new INSTEAD OF INSERT ON items BEGIN
	SELECT RAISE(ABORT, 'messages are appended with: skein append');
END;
