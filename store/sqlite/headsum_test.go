package sqlite

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
)

// The texts in a session's row are shown only while they are what was stored:
// otherwise they are read from its events. An append does not make the row
// valid, a repair does.
func TestAlteredTitlesAreNotShown(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(id skein.SessionID, events ...skein.Event) {
		t.Helper()
		if _, err := skein.Add(t.Context(), s, id, events...); err != nil {
			t.Fatal(err)
		}
	}
	tags := []string{"bill"}
	add("a", skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: "k", Agent: "coder", Project: "/shop"}),
		skein.Say(2, skein.UserSays("pay 100 euros")), skein.Say(3, skein.UserSays("now pay 100 euros")),
		skein.NewEvent(skein.KindTitled, 4, skein.Titled{Title: "the 100 euros", By: "person"}),
		skein.NewEvent(skein.KindChanged, 5, skein.Changed{Tags: &tags}))
	add("f", skein.NewEvent(skein.KindCreated, 6, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 3, Why: skein.Fork}}), skein.Say(7, skein.UserSays("go on")))
	list := func(f skein.Filter) (all []skein.Session) {
		t.Helper()
		for x, err := range s.Sessions(t.Context(), f) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, x)
		}
		return all
	}
	texts := func(x skein.Session) []string {
		return append([]string{x.Key, x.Title, x.First, x.LastPrompt, x.Agent, x.Project, x.Model}, x.Tags...)
	}
	truth := map[skein.SessionID][]string{}
	for _, x := range list(skein.Filter{}) {
		truth[x.ID] = texts(x)
	}
	same := func(when string, n int) {
		t.Helper()
		all := list(skein.Filter{})
		if len(all) != n {
			t.Errorf("%s there are %d sessions, want %d", when, len(all), n)
		}
		for _, x := range all {
			if is := texts(x); !slices.Equal(is, truth[x.ID]) {
				t.Errorf("%s the list says of %s %q, want %q", when, x.ID, is, truth[x.ID])
			}
		}
	}
	c := testConn(t, name)
	if err := c.script(`UPDATE sessions SET title = replace(title, '100', '900'), first_words = replace(first_words, '100', '900'),
		last_prompt = replace(last_prompt, '100', '900'), agent = 'another', project = '/elsewhere', tags = '["bill!"]'`); err != nil {
		t.Fatal(err)
	}
	same("altered", 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), name, Options{}); err != nil {
		t.Fatal(err)
	}
	defer func() { s.Close() }()
	add("a", skein.NewEvent(skein.KindNoted, 8, skein.Noted{Name: "x"}))
	add("f", skein.NewEvent(skein.KindNoted, 8, skein.Noted{Name: "x"}))
	same("written to", 2)

	for _, repair := range []bool{false, true, false} {
		var found []inspect.Finding
		for f, err := range s.Examine(t.Context(), inspect.Examination{Repair: repair}) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Level == inspect.Damaged {
				found = append(found, f)
			}
		}
		want := 2
		if !repair && len(list(skein.Filter{Project: "/shop"})) == 2 {
			want = 0 // it was repaired
		}
		if len(found) != want {
			t.Errorf("an examination (repair: %v) finds %d damages, want %d: %v", repair, len(found), want, found)
		}
		same("examined", 2)
	}
	var left int64
	if _, err := c.one(`SELECT count(*) FROM sessions WHERE title LIKE '%900%' OR first_words LIKE '%900%' OR project = '/elsewhere'`, nil, &left); err != nil || left != 0 {
		t.Errorf("%d rows have altered texts after the repair (%v), want 0", left, err)
	}

	// Deleting a message in the shell removes its words from the row, too.
	add("b", skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "a title"}), skein.Say(2, skein.UserSays("pay 100 euros")))
	if err := c.script(`DELETE FROM messages WHERE session_id = 'b'`); err != nil {
		t.Fatal(err)
	}
	if x, err := s.Session(t.Context(), "b"); err != nil || x.First != "" || x.Title != "a title" {
		t.Errorf("after its messages were deleted in the shell a session is %q, %q (%v), want no words and its title", x.First, x.Title, err)
	}
}
