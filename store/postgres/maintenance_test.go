package postgres

import (
	"testing"

	"github.com/skein-dev/skein"
)

// An error in purging does not keep a scrub from being finished.
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
	if err := s.maintain(t.Context()); err == nil {
		t.Errorf("maintain = nil, want what does not work")
	}
	if in := s.traces(t, secret); len(in) > 0 {
		t.Errorf("the secret is in %v", in)
	}
}
