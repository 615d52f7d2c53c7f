package postgres

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein/store/inspect"
)

// findings returns the findings of an examination that are not fine, by area.
func findings(t testing.TB, s *Store, x inspect.Examination) map[string]inspect.Finding {
	t.Helper()
	found := map[string]inspect.Finding{}
	for f, err := range s.Examine(t.Context(), x) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Level != inspect.Fine {
			found[f.Area] = f
		}
	}
	return found
}

func TestExamineFindsAndMends(t *testing.T) {
	for name, c := range map[string]struct {
		damage, area, says string
		mends              bool
	}{
		"a column is another":            {`UPDATE sessions SET project = '/elsewhere'`, "heads", "was altered", true},
		"a column says another end":      {`UPDATE sessions SET empty = NOT empty, recent = 7`, "heads", "was altered", true},
		"a name is another":              {`UPDATE names SET name = 'another'`, "heads", "was altered", true},
		"a name is gone":                 {`DELETE FROM names`, "heads", "was altered", true},
		"an event is gone":               {`DELETE FROM events WHERE seq = 3`, "heads", "want 1 to 6", false},
		"an end is wrong":                {`UPDATE heads SET last = 99`, "heads", "99 according to heads", false},
		"no row in heads":                {`DELETE FROM heads`, "heads", "no row in heads", false},
		"no session":                     {`DELETE FROM sessions`, "heads", "no session", false},
		"a payload is no JSON":           {`UPDATE events SET payload = '{' WHERE seq = 2`, "events", "event 2", false},
		"a payload is another":           {`UPDATE events SET payload = convert_to('{"role":"user","parts":[]}', 'UTF8') WHERE seq = 2`, "events", "not what was stored", false},
		"a record is damaged":            {`UPDATE records SET raw = 'x'`, "records", "/x/a", false},
		"a sum is wrong":                 {`UPDATE usage SET output = output + 1`, "usage", "sums", true},
		"a sum is missing":               {`DELETE FROM usage`, "usage", "sums", true},
		"the index has another text":     {`UPDATE found SET text = 'other' WHERE seq = 2`, "index", "1 events", true},
		"the index lacks one":            {`DELETE FROM found WHERE seq = 2`, "index", "1 events", true},
		"a blob is damaged":              {`UPDATE blobs SET data = 'x', form = 0`, "blobs", "damaged", false},
		"nothing refers to a blob":       {`DELETE FROM blob_refs`, "blobs", "refers to", true},
		"there is no such blob":          {`DELETE FROM blobs`, "blobs", "missing blobs", false},
		"a deleted session is left":      {`INSERT INTO purge_queue (user_id, n, above) VALUES ('ann', 12345, 0)`, "maintenance", "1 sessions", true},
		"reparented events lead nowhere": {`INSERT INTO reparented (user_id, n, owner, upto) VALUES ('ann', 12345, 12346, 1)`, "heads", "12345", false},
		"a source file is to be gone":    {`UPDATE files SET format = ''`, "maintenance", "1 files", true},
	} {
		t.Run(name, func(t *testing.T) {
			all := opened(t)
			s := all.As("ann").(*Store)
			long(t, s, "a", 5)
			all.caughtUp(t)
			if found := findings(t, all, inspect.Examination{}); len(found) > 0 {
				t.Fatalf("Examine finds %+v in a whole store", found)
			}
			all.sql(t, c.damage)
			f := findings(t, all, inspect.Examination{})[c.area]
			if !strings.Contains(f.Text, c.says) || f.Mendable != c.mends {
				t.Errorf("Examine finds %+v in %s, want %q", f, c.area, c.says)
			}
			if !c.mends {
				return
			}
			if f, found := findings(t, all, inspect.Examination{Repair: true})[c.area]; found && !f.Mended { // maintenance may come first
				t.Errorf("Examine with Repair finds %+v, want it mended", f)
			}
			if found := findings(t, all, inspect.Examination{}); len(found) > 0 {
				t.Errorf("Examine finds %+v after it was mended", found)
			}
			if all.number(t, `SELECT count(*) FROM blob_refs`) == 0 {
				t.Error("the repair dropped a blob that an event names")
			}
		})
	}
}

// An event that waits to be indexed is not damage.
func TestExamineWhileTheIndexIsBehind(t *testing.T) {
	s := opened(t)
	s.index.stepping.Lock() // the index is not built
	defer s.index.stepping.Unlock()
	long(t, s, "a", 5)
	if found := findings(t, s, inspect.Examination{}); len(found) > 0 {
		t.Errorf("Examine finds %+v in a whole store", found)
	}
}

// An event that is indexed during an examination was not in the index when the events
// were read, and no longer waits when that is checked.
func TestExamineTakesNoIndexThatIsBeingFedForDamaged(t *testing.T) {
	all := opened(t)
	keep, err := all.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keep.Exec(t.Context(), `SELECT pg_advisory_lock($1::int, $2::int)`, indexLockClass, indexLockKey); err != nil {
		t.Fatal(err)
	}
	long(t, all.As("ann").(*Store), "a", 5)
	ex := &exam{s: all, ctx: t.Context()}
	some, err := ex.misfits()
	if err != nil || len(some) == 0 {
		t.Fatalf("misfits = %v, %v, want what the index does not have yet", some, err)
	}
	if _, err := keep.Exec(t.Context(), `SELECT pg_advisory_unlock_all()`); err != nil {
		t.Fatal(err)
	}
	keep.Release()
	all.caughtUp(t)
	if wrong, err := ex.lasting(some); err != nil || len(wrong) > 0 {
		t.Errorf("of %d events the index is said to have %d wrong, %v, want none", len(some), len(wrong), err)
	}
}
