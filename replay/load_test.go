package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/replay"
	"github.com/skein-dev/skein/store/memory"
)

func TestASessionLoadedElsewhereIsEqual(t *testing.T) {
	from := family(t)
	for _, ids := range [][]skein.SessionID{{"p"}, {"p", "f"}, {"f", "p"}, {"g"}, {"g", "f", "p", "c"}, {"c"}, {"p", "f", "g", "c"}} {
		to := memory.New()
		done := load(t, to, write(t, from, ids...))
		for _, id := range ids {
			sameSession(t, "loaded", from, to, id)
		}
		if again := write(t, to, ids...); again != write(t, from, ids...) {
			t.Errorf("the log of %v, written again, differs", ids)
		}
		if done.Damaged > 0 {
			t.Errorf("load of %v: %d damaged: %q", ids, done.Damaged, done.Damage)
		}
		got, err := to.Blob(context.Background(), ids[0], picture.Hash)
		if ids[0] != "c" && (err != nil || string(got) != string(picture.Data)) {
			t.Errorf("blob of %s: %d bytes, %v, want %d", ids[0], len(got), err, len(picture.Data))
		}
	}
}

func TestLoadingTwiceAddsNothing(t *testing.T) {
	from, to := family(t), memory.New()
	log := write(t, from, "p", "g", "c")
	first := load(t, to, log)
	second := load(t, to, log+log)
	for _, s := range second.Sessions {
		if s.New != 0 || s.Err != nil {
			t.Errorf("second load: session %+v, want nothing new", s)
		}
	}
	if len(second.Sessions) != 2*len(first.Sessions) {
		t.Errorf("second load tells of %d sessions, want %d", len(second.Sessions), 2*len(first.Sessions))
	}
}

func TestOnlyWhatIsNewIsAppended(t *testing.T) {
	from, to := family(t), memory.New()
	load(t, to, write(t, from, "p"))
	if _, err := skein.Add(context.Background(), from, "p", skein.Say(noon, skein.UserSays("one more"))); err != nil {
		t.Fatal(err)
	}
	if done := load(t, to, write(t, from, "p")); done.Sessions[0].New != 1 {
		t.Errorf("load of a log that grew by one event: %+v, want 1 new", done.Sessions[0])
	}
	sameSession(t, "grown", from, to, "p")
}

// Whatever a cut leaves is loaded, and the whole log adds the rest.
func TestALogCutAtEveryByteGivesAPrefix(t *testing.T) {
	from := small(t)
	full := eventsOf(t, from, "g")
	log := write(t, from, "g")
	for cut := 0; cut <= len(log); cut++ {
		to := memory.New()
		done, err := replay.Load(context.Background(), to, strings.NewReader(log[:cut]), replay.Options{})
		first := strings.IndexByte(log, '\n')
		if err != nil && cut > first {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := 0
		for _, s := range done.Sessions {
			whole += s.Lacks
			if s.Events > 0 {
				got := eventsOf(t, to, s.Session)
				sameEvents(t, "a prefix", full[:len(got)], got)
			}
		}
		if cut > first && cut < len(log)-1 && whole == 0 && len(done.Sessions) == 3 {
			t.Errorf("cut at %d of %d: nothing is said to be lacking: %+v", cut, len(log), done)
		}
		if cut%997 == 0 || cut > len(log)-3 {
			load(t, to, log)
			sameSession(t, "completed", from, to, "g")
		}
		_ = to.Close()
	}
}

func TestOtherContentIsRefusedAndNamed(t *testing.T) {
	from := family(t)
	log := write(t, from, "p")
	for _, c := range []struct{ old, now string }{
		{"only in p", "only in q"},
		{`"client_id":"c2"`, `"client_id":"c9"`},
		{`"kind":"unheard-of"`, `"kind":"unheard"`},
	} {
		to := memory.New()
		load(t, to, log)
		_, err := replay.Load(context.Background(), to, strings.NewReader(strings.Replace(log, c.old, c.now, 1)), replay.Options{})
		if !errors.Is(err, skein.ErrMismatch) || !strings.Contains(err.Error(), "session p: event ") {
			t.Errorf("Load with %s for %s = %v, want ErrMismatch naming the event", c.now, c.old, err)
		}
		sameSession(t, "left alone", from, to, "p")
	}
}

func TestOneBadSessionDoesNotKeepTheOthersOut(t *testing.T) {
	from, to := family(t), memory.New()
	load(t, to, strings.Replace(write(t, from, "p"), "only in p", "only in q", 1))
	done, err := replay.Load(context.Background(), to, strings.NewReader(write(t, from, "p", "c")), replay.Options{})
	if !errors.Is(err, skein.ErrMismatch) || len(done.Sessions) != 2 || done.Sessions[1].Err != nil {
		t.Errorf("Load = %+v, %v, want the second loaded", done, err)
	}
	sameSession(t, "the other", from, to, "c")
}

func TestDeletedSessionsStayDeleted(t *testing.T) {
	from, to := family(t), memory.New()
	ctx := context.Background()
	log := write(t, from, "g")
	load(t, to, log)
	for _, id := range []skein.SessionID{"g", "f", "p"} {
		if _, err := to.Delete(ctx, id, skein.Deletion{}); err != nil {
			t.Fatal(err)
		}
		done, err := replay.Load(ctx, to, strings.NewReader(log), replay.Options{})
		if !errors.Is(err, skein.ErrDeleted) {
			t.Errorf("after the deletion of %s: Load = %+v, %v, want ErrDeleted", id, done, err)
		}
		if _, err := to.Session(ctx, id); !errors.Is(err, skein.ErrNotFound) {
			t.Errorf("after Load, session %s: %v, want ErrNotFound", id, err)
		}
	}
	if done, err := replay.Load(ctx, to, strings.NewReader(log), replay.Options{Again: true}); err != nil {
		t.Fatalf("Load again = %+v, %v", done, err)
	}
	sameSession(t, "again", from, to, "g")
}

// A fork outlives its deleted parent, also in its log.
func TestAForkOfADeletedParentIsWhole(t *testing.T) {
	from, to := family(t), memory.New()
	want := eventsOf(t, from, "g")
	for _, id := range []skein.SessionID{"f", "p"} {
		if _, err := from.Delete(context.Background(), id, skein.Deletion{}); err != nil {
			t.Fatal(err)
		}
	}
	load(t, to, write(t, from, "g"))
	sameEvents(t, "fork of a deleted parent", want, eventsOf(t, to, "g"))
}

func TestATakenKeyStaysWhereItIs(t *testing.T) {
	from, to := family(t), memory.New()
	ctx := context.Background()
	if _, err := skein.Add(ctx, to, "mine", skein.NewEvent(skein.KindCreated, noon, skein.Created{Key: "cli:p"}), skein.Say(noon, skein.UserSays("hi"))); err != nil {
		t.Fatal(err)
	}
	log := write(t, from, "p")
	if done := load(t, to, log); done.Sessions[0].Key != "cli:p" {
		t.Errorf("Load = %+v, want the key cli:p left out", done)
	}
	got, err := to.Session(ctx, "p")
	if err != nil || got.Key != "" || got.Title != "Mine" {
		t.Errorf("session p = %+v, %v, want it without a key", got, err)
	}
	if done := load(t, to, log); done.Sessions[0].New != 0 {
		t.Errorf("second Load = %+v, want nothing new", done)
	}
}

func TestMissingEventsAreSaid(t *testing.T) {
	from, to := family(t), memory.New()
	lines := strings.SplitAfter(write(t, from, "p"), "\n")
	log := strings.Join(append(lines[:3:3], lines[4:]...), "")
	done, err := replay.Load(context.Background(), to, strings.NewReader(log), replay.Options{})
	if !errors.Is(err, skein.ErrCorrupt) || done.Sessions[0].New != 2 {
		t.Errorf("Load of a log without a line = %+v, %v, want 2 events and ErrCorrupt", done, err)
	}
}

func TestHostileLogs(t *testing.T) {
	head := `{"skein":"replay","version":1,"session":"s","first":1,"last":3}` + "\n"
	created := `{"seq":1,"time":"","kind":"created","payload":{}}` + "\n"
	for _, c := range []struct {
		log  string
		want error
	}{
		{"", nil},
		{"\n\n", nil},
		{"hello\n", skein.ErrInvalid},
		{created, skein.ErrInvalid},
		{`{"type":"user","message":{}}` + "\n", skein.ErrInvalid},
		{`{"skein":"other","version":1}` + "\n", skein.ErrInvalid},
		{`{"skein":"replay","version":2,"session":"s","first":1}` + "\n", skein.ErrNewer},
		{strings.Replace(head, `"s"`, `"../s"`, 1) + created, skein.ErrInvalid},
		{strings.Replace(head, `"s"`, `""`, 1) + created, skein.ErrInvalid},
		{strings.Replace(head, `"first":1`, `"first":0`, 1) + created, skein.ErrInvalid},
		{strings.Replace(head, `"first":1`, `"first":7`, 1) + strings.Replace(created, `"seq":1`, `"seq":7`, 1), skein.ErrCorrupt},
		{head + `{"seq":1,"time":"","kind":"said","payload":{"role":"user","parts":[]}}` + "\n", skein.ErrNotFound},
		{head + `{"seq":1,"time":"","kind":"created","payload":[]}` + "\n", skein.ErrInvalid},
		{head + `{"seq":1,"time":"","kind":"created","payload":{"parent":{"session":"x","seq":4,"why":"fork"}}}` + "\n", skein.ErrCorrupt},
		{head + created + created, skein.ErrCorrupt},
		{head + created + strings.Replace(created, `"seq":1`, `"seq":2`, 1), skein.ErrCorrupt},
		{head + created + `{"seq":9223372036854775807,"time":"","kind":"noted","payload":{}}` + "\n", skein.ErrCorrupt},
		{head + created + "damage\n" + `{"seq":2,"time":"","kind":"noted","payload":{"name":"n"}}` + "\n", nil},
	} {
		to := memory.New()
		_, err := replay.Load(context.Background(), to, strings.NewReader(c.log), replay.Options{})
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("Load(%q) = %v, want %v", c.log, err, c.want)
		}
	}
}
