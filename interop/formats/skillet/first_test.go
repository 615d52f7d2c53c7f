package skillet

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
)

// begun returns the beginning of each session in a store: its title, and what it was
// created with except the ID in its origin.
func begun(t *testing.T, s skein.Store) (all []string) {
	t.Helper()
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range s.Events(t.Context(), sess.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if c, err := skein.Decode[skein.Created](e); err == nil && e.Kind == skein.KindCreated {
				c.Origin = nil
				all = append(all, strings.Join([]string{string(sess.ID), sess.Title, string(skein.MustJSON(c))}, " "))
			}
		}
	}
	slices.Sort(all)
	return all
}

// Skillet writes the log while the turn runs, and the rows when the turn has ended.
func TestASessionSeenInItsFirstTurnIsTheOneThatIsReadAfterwards(t *testing.T) {
	for _, c := range []struct{ user, name, log, id, title string }{
		{"ada@example.org", "trees", "ada_example_org/trees.jsonl", "ada_example_org:trees", "trees"},
		{"u", "my trees", "u/my_trees.jsonl", "u:my_trees", "my trees"},
		{"u", "木", "u/.jsonl", "u:", "木"},
		{"u", "session_2026-01-01T00:00:00.000Z_ab12", "u/session_2026-01-01T00_00_00_000Z_ab12.jsonl", "u:session_2026-01-01T00_00_00_000Z_ab12", ""},
	} {
		s := newState(t)
		s.open()
		s.log(c.log, `{"kind":"user_message","userInput":"hello","timestamp":"2026-01-01T00:00:00.000Z"}`)
		s.bring()
		s.log(c.log, `{"kind":"step","stepResult":{"type":"text","text":"done"},"timestamp":"2026-01-01T00:00:01.000Z"}`)
		s.bring()
		s.add(c.user, c.name, 1767225600000, hello, answer)
		s.bring()
		s.log(c.log, `{"kind":"final_result","finalResult":{"text":"done"},"timestamp":"2026-01-01T00:00:02.000Z"}`)
		s.bring()
		if got := s.bring(); got.Events != 0 {
			t.Errorf("%s: Import again = %+v, want nothing new", c.id, got)
		}
		after := read(t, s.dir)
		if diff := cmp.Diff(begun(t, after), begun(t, s.store)); diff != "" {
			t.Errorf("%s, -read afterwards +seen as it was made:\n%s", c.id, diff)
		}
		for _, store := range []skein.Store{s.store, after} {
			sess, err := store.Session(t.Context(), skein.SessionID(c.id))
			if err != nil || sess.Title != c.title {
				t.Fatalf("session %s = %+v, %v, want the title %q", c.id, sess, err, c.title)
			}
			f, err := skein.SourcesOf(store).File(t.Context(), Name, sess.Origin.Path)
			if want := c.user + ":" + c.name; err != nil || f.ID != want {
				t.Errorf("the source of %s has the ID %q, %v, want %q", c.id, f.ID, err, want)
			}
			if got := shown(t, store, c.id); got != "user hello | assistant done" {
				t.Errorf("%s shows %q, want the turn", c.id, got)
			}
		}
		if _, err := skein.Add(t.Context(), s.store, skein.SessionID(c.id), skein.Say(1767225700000, skein.UserSays("more"))); err != nil {
			t.Fatal(err)
		}
		done, err := writeback.Sync(t.Context(), s.store, Format(), skein.SessionID(c.id))
		if err != nil || done.Events != 1 || done.ID != c.user+":"+c.name {
			t.Errorf("Sync = %+v, %v, want 1 event written, and what names the rows", done, err)
		}
		command, _ := Format().Resume(interop.Spot{ID: done.ID}, skein.Session{})
		if !slices.Contains(command, c.user) || !slices.Contains(command, c.name) {
			t.Errorf("%s is gone on with by %q, want the user %s and the name %s", c.id, command, c.user, c.name)
		}
		var n int
		if err := s.db.QueryRow(`SELECT count(*) FROM session_items WHERE user_id = ? AND session_name = ?`, c.user, c.name).Scan(&n); err != nil || n != 3 {
			t.Errorf("%s has %d rows (%v), want 3", c.id, n, err)
		}
	}
}

func TestASyncThatBringsTheFirstRowsTellsWhoseTheyAre(t *testing.T) {
	s := newState(t)
	s.open()
	s.log("ada_example_org/trees.jsonl", `{"kind":"user_message","userInput":"hello","timestamp":"2026-01-01T00:00:00.000Z"}`)
	s.bring()
	s.add("ada@example.org", "trees", 1767225600000, hello, answer)
	done, err := writeback.Sync(t.Context(), s.store, Format(), "ada_example_org:trees")
	if err != nil || done.ID != "ada@example.org:trees" {
		t.Errorf("Sync = %+v, %v, want the name of the rows", done, err)
	}
}

// Two users have the same cleaned name, and both are in their first turn: the one
// whose rows come first has the log, before and after.
func TestFirstTurnsInOneLogBecomeTheSameSessionsAfterwards(t *testing.T) {
	s := newState(t)
	s.open()
	asks := func(words string) {
		s.log("ann_x/plan.jsonl", `{"kind":"user_message","userInput":"`+words+`","timestamp":"2026-01-01T00:00:00.000Z"}`)
		s.bring()
	}
	rows := func(user string, at int64, words string) {
		s.add(user, "plan", at, `{"type":"message","role":"user","content":"`+words+`"}`, answer)
		s.bring()
	}
	asks("pears")
	asks("apples")
	rows("ann@x", 2000, "apples")
	rows("ann.x", 3000, "pears")
	after := read(t, s.dir)
	if diff := cmp.Diff(begun(t, after), begun(t, s.store)); diff != "" {
		t.Errorf("-read afterwards +seen as it was made:\n%s", diff)
	}
	for _, store := range []skein.Store{s.store, after} {
		for id, want := range map[string]string{"ann_x:plan": "user apples | assistant done", second("ann.x", "plan"): "user pears | assistant done"} {
			if got := shown(t, store, id); got != want {
				t.Errorf("%s shows %q, want %q", id, got, want)
			}
		}
	}
}

// Rows of a guessed user would be another session's.
func TestALogAloneIsWrittenBackOnlyIfItIsKnownWhose(t *testing.T) {
	for log, want := range map[string]struct{ user, name string }{
		"ada_example_org/trees": {}, "john_example_com/trees": {"john@example.com", "trees"},
		"john_example_com/session_2026-01-01T00_00_00_000Z_ab12": {},
	} {
		s := newState(t)
		s.open()
		s.log(log+".jsonl", `{"kind":"user_message","userInput":"hello","timestamp":"2026-01-01T00:00:00.000Z"}`)
		s.bring()
		id := skein.SessionID(strings.Replace(log, "/", ":", 1))
		if _, err := skein.Add(t.Context(), s.store, id, skein.Say(1767225700000, skein.UserSays("more"))); err != nil {
			t.Fatal(err)
		}
		done, err := writeback.Sync(t.Context(), s.store, Format(), id)
		if refused := errors.Is(err, skein.ErrInvalid); refused != (want.user == "") || !refused && err != nil {
			t.Errorf("Sync of %s = %+v, %v", id, done, err)
		}
		var rows, theirs int
		if err := s.db.QueryRow(`SELECT count(*), count(*) FILTER (WHERE user_id = ? AND session_name = ?) FROM session_items`, want.user, want.name).Scan(&rows, &theirs); err != nil || rows != theirs || (rows > 0) != (want.user != "") {
			t.Errorf("after Sync of %s there are %d rows, %d of them of %+v (%v)", id, rows, theirs, want, err)
		}
		if command, _ := Format().Resume(interop.Spot{ID: string(id)}, skein.Session{}); want.user != "" && !slices.Contains(command, want.user) {
			t.Errorf("%s is gone on with by %q, want the user %s", id, command, want.user)
		}
		if rep := s.bring(); rep.Sessions != 0 {
			t.Errorf("Import after Sync of %s = %+v, want no other session", id, rep)
		}
	}
}

func TestACompactionLeavesTheTitle(t *testing.T) {
	s := newState(t)
	s.add("u", "my trees", 1, hello, answer)
	s.bring()
	s.exec(`DELETE FROM session_items`)
	s.add("u", "my trees", 2, `{"id":"m","type":"message","status":"completed","content":[{"type":"input_text","text":"hello"}],"role":"user"}`,
		`{"id":"cmp","type":"compaction","encrypted_content":"AAA"}`)
	s.bring()
	s.add("u", "my trees", 3, `{"role":"user","content":"more"}`)
	s.bring()
	s.wants("u:my_trees", "created | user hello | titled | assistant done | compacted to 4 | user more | titled")
	if rep := s.bring(); rep.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", rep)
	}
	for _, store := range []skein.Store{s.store, read(t, s.dir)} {
		if sess, err := store.Session(t.Context(), "u:my_trees"); err != nil || sess.Title != "my trees" {
			t.Errorf("session = %+v, %v, want the title my trees", sess, err)
		}
	}
}

// second is the ID of a session that has no log, because another with the same
// cleaned name has it.
func second(user, name string) string {
	clean := sanitise(user) + "/" + sanitise(name)
	return strings.Replace(clean, "/", ":", 1) + "~" + short(clean+"/"+user+"/"+name)
}
