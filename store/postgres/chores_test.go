package postgres

import (
	"errors"
	"testing"

	"github.com/skein-dev/skein"
)

// What cannot be taken away does not keep secrets where they are.
func TestAChoreThatFailsKeepsNoOtherFromBeingDone(t *testing.T) {
	s := opened(t)
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, noon, skein.Created{Project: "/" + secret})); err != nil {
		t.Fatal(err)
	}
	s.sql(t, `INSERT INTO scrubs (user_id, id, secrets, alive) VALUES ('local', 'a', '["`+secret+`"]', now() - interval '1 hour')`)
	s.sql(t, `INSERT INTO files (user_id, format, path, session, id, copy_of, size, mtime, inode, "offset", records, damaged, head, state)
		VALUES ('local', '', '', '', '', '', 0, 0, 0, 0, 0, 0, '', '')`)
	if _, err := s.pool.Exec(t.Context(), `SET LOCAL ROLE skein_owner; CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
		CREATE TRIGGER no BEFORE DELETE ON files FOR EACH ROW EXECUTE FUNCTION no()`); err != nil {
		t.Fatal(err)
	}
	if err := s.doChores(t.Context()); err == nil {
		t.Errorf("doChores = nil, want what does not work")
	}
	if in := s.traces(t, secret); len(in) > 0 {
		t.Errorf("the secret is in %v", in)
	}
}

// A session whose rewind says nothing, or whose row cannot be read, does not keep
// those behind it from being worked out.
func TestWhatStandsIsWorkedOutAroundWhatCannotBeRead(t *testing.T) {
	s := opened(t)
	for _, id := range []skein.SessionID{"a", "b", "c"} {
		if _, err := skein.Add(t.Context(), s, id, skein.NewEvent(skein.KindCreated, noon, skein.Created{}), skein.Say(noon, skein.UserSays("one")),
			skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 1}), skein.Say(noon, skein.UserSays("two"))); err != nil {
			t.Fatal(err)
		}
	}
	s.sql(t, `UPDATE events SET payload = '{"to":"x"}', sum = NULL WHERE kind = 'rewound' AND n = (SELECT n FROM heads WHERE id = 'a')`)
	s.sql(t, `UPDATE sessions SET state = '{"messages":' WHERE id = 'b'`)
	s.sql(t, `UPDATE sessions SET state = convert_to(replace(convert_from(state, 'UTF8'), '"messages":1', '"messages":2'), 'UTF8') WHERE id = 'c'`)
	s.sql(t, `DELETE FROM undone`)
	s.sql(t, `INSERT INTO undone (user_id, n, after, upto) SELECT user_id, n, -1, -1 FROM heads`)
	if _, err := s.standAll(t.Context()); !errors.Is(err, skein.ErrCorrupt) {
		t.Errorf("standAll = %v, want that the row of b cannot be read", err)
	}
	s.heads.drop("c")
	if got, err := s.Session(t.Context(), "c"); err != nil || got.Messages != 1 || got.First != "two" {
		t.Errorf("Session(c) = %d messages from %q, %v; want 1 from two", got.Messages, got.First, err)
	}
	var due string
	err := s.write(t.Context(), func(t *tx) error {
		_, err := t.one(`SELECT coalesce(string_agg(h.id, ' '), '') FROM undone u JOIN heads h USING (n) WHERE u.after < 0`, nil, &due)
		return err
	})
	if err != nil || due != "b" {
		t.Errorf("%q are yet to be worked out, %v; want b", due, err)
	}
}
