package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

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
	if err := c.Script(`UPDATE sessions SET title = replace(title, '100', '900'), first_words = replace(first_words, '100', '900'), agent = 'another', project = '/elsewhere',
		state = json_set(state, '$.last_prompt', replace(last_prompt, '100', '900'), '$.tags', json('["bill!"]'))`); err != nil {
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
	if _, err := c.One(`SELECT count(*) FROM sessions WHERE title LIKE '%900%' OR first_words LIKE '%900%' OR project = '/elsewhere'`, nil, &left); err != nil || left != 0 {
		t.Errorf("%d rows have altered texts after the repair (%v), want 0", left, err)
	}

	// Deleting a message in the shell removes its words from the row, too.
	add("b", skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "a title"}), skein.Say(2, skein.UserSays("pay 100 euros")))
	if err := c.Script(`DELETE FROM messages WHERE session_id = 'b'`); err != nil {
		t.Fatal(err)
	}
	if x, err := s.Session(t.Context(), "b"); err != nil || x.First != "" || x.Title != "a title" {
		t.Errorf("after its messages were deleted in the shell a session is %q, %q (%v), want no words and its title", x.First, x.Title, err)
	}
}

// A session whose state cannot be read is what its events say, in every list and to
// every writer, until a repair writes the state again.
func TestALostStateIsMadeOfTheEvents(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Close() }()
	add := func(id skein.SessionID, events ...skein.Event) {
		t.Helper()
		if _, err := skein.Add(t.Context(), s, id, events...); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(at skein.Time, output int64) skein.Event {
		return skein.Say(at, skein.Message{ID: "m", Role: skein.RoleAssistant, Request: "r", Model: "opus", Usage: &skein.Usage{Input: 7, Output: output}, Parts: []skein.Part{skein.TextPart("piece")}})
	}
	tags := []string{"bill"}
	add("a", skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: "k", Agent: "coder", Project: "/shop", Surface: "cli", Origin: &skein.Origin{Format: "f", Path: "/p"}}),
		skein.Say(2, skein.UserSays("one")), answer(3, 5), answer(4, 9), skein.Say(5, skein.UserSays("two")),
		skein.NewEvent(skein.KindRewound, 6, skein.Rewound{To: 4}), skein.Say(7, skein.UserSays("three")),
		skein.NewEvent(skein.KindTitled, 8, skein.Titled{Title: "title", By: "person"}), skein.NewEvent(skein.KindChanged, 9, skein.Changed{Tags: &tags}))
	add("f", skein.NewEvent(skein.KindCreated, 10, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 5, Why: skein.Fork}}), skein.Say(11, skein.UserSays("go on")))
	add("g", skein.NewEvent(skein.KindCreated, 12, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 7, Why: skein.Fork}}))
	ids := []skein.SessionID{"a", "f", "g"}
	all := func() (all []string) {
		t.Helper()
		for _, id := range ids {
			x, err := s.Session(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			es, err := s.Newest(t.Context(), id, 10, 0)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(skein.MustJSON(x)), string(skein.MustJSON(es)))
		}
		return all
	}
	c := testConn(t, s.path)
	lose := func() {
		t.Helper()
		if err := c.Script(`UPDATE sessions SET state = '[' || state`); err != nil {
			t.Fatal(err)
		}
	}
	same := func(when string, want []string) {
		t.Helper()
		for i, is := range all() {
			if is != want[i] {
				t.Errorf("%s there is\n%s\nwant\n%s", when, is, want[i])
			}
		}
	}
	want := all()
	lose()
	same("with the state lost", want)
	for _, err := range s.Sessions(t.Context(), skein.Filter{Model: "opus", Tag: "bill", WithOpenCalls: true}) {
		if err != nil {
			t.Errorf("Sessions: %v", err)
		}
	}
	for range 2 {
		for _, err := range s.Examine(t.Context(), inspect.Examination{Repair: true}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	same("after the repair", want)
	var valid int64
	if _, err := c.One(`SELECT sum(json_valid(state)) FROM sessions`, nil, &valid); err != nil || valid != 3 {
		t.Errorf("after the repair %d states can be read (%v), want 3", valid, err)
	}
	more := func() {
		for i, id := range ids {
			add(id, skein.Say(20, skein.UserSays("more")), skein.NewEvent(skein.KindRewound, 21, skein.Rewound{To: skein.Seq(4 + i)}))
		}
	}
	more()
	want = all()
	lose()
	same("with the state lost after a rewind", want)
	more()
	same("written to", all())
	if err := c.Script(`DELETE FROM messages WHERE session_id = 'a'`); err != nil {
		t.Errorf("messages of a session with a lost state are not deleted in the shell: %v", err)
	}
}

// A session whose row ends too early, or nowhere, ends where its events do after
// a repair, also if the row's texts were altered; and nothing panics before.
func TestADamagedEndIsThatOfTheEvents(t *testing.T) {
	for _, last := range []int64{-74, 0, 2, 1 << 40} {
		s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
		addText(t, s, "a", "one", "two", "three")
		if _, err := skein.Add(t.Context(), s, "f", skein.NewEvent(skein.KindCreated, 6, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 3, Why: skein.Fork}}), skein.Say(7, skein.UserSays("go on"))); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := testConn(t, s.path).Script(fmt.Sprintf(`UPDATE sessions SET last = %d, title = 'altered'`, last)); err != nil {
			t.Fatal(err)
		}
		s = openTest(t, s.path)
		for _, repair := range []bool{false, true, false} {
			for range s.Sessions(t.Context(), skein.Filter{}) { //nolint:revive // whether it panics
			}
			found := 0
			for f, err := range s.Examine(t.Context(), inspect.Examination{Repair: repair}) {
				if err != nil {
					t.Fatalf("with the last seq %d: Examine(repair %v): %v", last, repair, err)
				}
				if f.Level == inspect.Damaged {
					found++
				}
			}
			if repair && found == 0 {
				t.Errorf("with the last seq %d: a repair finds nothing", last)
			}
		}
		for id, want := range map[skein.SessionID]int{"a": 4, "f": 5} {
			n := 0
			for _, err := range s.Events(t.Context(), id, 0) {
				if err != nil {
					t.Fatalf("with the last seq %d: Events(%s): %v", last, id, err)
				}
				n++
			}
			if x, err := s.Session(t.Context(), id); err != nil || n != want || x.Last != skein.Seq(want) || x.Title == "altered" {
				t.Errorf("with the last seq %d: after the repair %s has %d events, ends at %d and is called %q (%v), want %d", last, id, n, x.Last, x.Title, err, want)
			}
		}
	}
}

// The way back from message to message ends where an event is missing, or does not
// lead back: what reads says so, and does not go around in circles.
func TestTheWayBackEnds(t *testing.T) {
	for _, harm := range []string{`DELETE FROM events WHERE seq = 3`, `UPDATE events SET prev = 4 WHERE seq = 3`} {
		s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
		addText(t, s, "a", "one", "two", "three", "four")
		if err := testConn(t, s.path).Script(harm); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if _, err := s.Newest(ctx, "a", 10, 0); !errors.Is(err, skein.ErrCorrupt) {
			t.Errorf("%s: Newest = %v, want ErrCorrupt", harm, err)
		}
		if _, err := s.Window(ctx, "a", 10); ctx.Err() != nil {
			t.Errorf("%s: Window = %v", harm, err)
		}
		for _, err := range s.Examine(ctx, inspect.Examination{Repair: true}) {
			if err != nil {
				t.Errorf("%s: Examine: %v", harm, err)
			}
		}
	}
}
