package interoptest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/llm/window"
	"github.com/skein-dev/skein/store/memory"
)

// A Back tests a format that is written back: whatever was said in a session here,
// rewound, continued and, if Sums, summed up, and whenever that was written back in
// between, from its file another store gets what a model is shown here; and an import
// of the file would change nothing in the session. A write that is killed at any point
// is completed by the next one, and nothing of it is mistaken for the program's own.
type Back struct {
	Format  interop.Format
	Session skein.SessionID               // of the file, which has a message or more
	Lay     func(t testing.TB) string     // makes the file and returns its path
	Sums    bool                          // the format holds summaries
	Waits   bool                          // a rewind is not written while nothing was said after it
	Holds   func(shown string) string     // the part of Shown that the format can hold; nil for all
	Check   func(t testing.TB, at string) // checks the file; may be nil
	From    int                           // the first seed
	Seeds   int                           // how many seeds
}

// Run runs the tests.
func (b Back) Run(t *testing.T) {
	steps := rapid.Custom(func(rt *rapid.T) []int { return rapid.SliceOfN(rapid.IntRange(0, 99), 12, 24).Draw(rt, "steps") })
	for seed := b.From; seed < b.From+b.Seeds; seed++ {
		s := memory.New()
		defer s.Close()
		g := goes{b, t, s, b.Lay(t)}
		g.bring(s)
		start := g.last()
		for i, n := range steps.Example(seed) {
			g.step(i, n, start)
		}
		at := g.time(1000)
		g.add(skein.Say(at, skein.UserSays("the end")))
		g.end(seed)
	}
	b.killed(t, steps.Example(b.From))
}

// goes is one session that is written back repeatedly.
type goes struct {
	Back
	t    testing.TB
	s    skein.Store
	path string
}

func (g goes) bring(s skein.Store) interop.Report {
	g.t.Helper()
	rep, err := importer.Import(g.t.Context(), s, []interop.Format{g.Format}, []string{g.path}, interop.Options{})
	if err != nil {
		g.t.Fatalf("Import(%s) = %v", g.path, err)
	}
	return rep
}

func (g goes) add(evs ...skein.Event) {
	g.t.Helper()
	if _, err := skein.Add(g.t.Context(), g.s, g.Session, evs...); err != nil {
		g.t.Fatal(err)
	}
}

func (g goes) last() skein.Seq {
	g.t.Helper()
	sess, err := g.s.Session(g.t.Context(), g.Session)
	if err != nil {
		g.t.Fatal(err)
	}
	return sess.Last
}

// time returns the time of step i.
func (g goes) time(i int) skein.Time { return 1_795_000_000_000 + skein.Time(i)*60_000 }

// step takes a step: a turn, a rewind to the end of one, a summary, or writing
// back.
func (g goes) step(i, n int, start skein.Seq) {
	at, end := g.time(i), g.last()
	switch {
	case n < 45:
		g.add(skein.Say(at, skein.UserSays(fmt.Sprint("ask ", i))))
		if n < 15 {
			id := fmt.Sprint("call_", i)
			call := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "bash", Input: []byte(`{"command":"ls"}`)}}
			res := skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Name: "bash", Text: "ok"}}
			g.add(skein.Say(at+1000, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("so"), call}}),
				skein.Say(at+2000, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{res}}))
		}
		g.add(skein.Say(at+3000, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(fmt.Sprint("answer ", i))}}))
	case n < 70:
		g.add(skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: g.turnEnd(n)}))
	case n < 80 && g.Sums:
		g.add(skein.NewEvent(skein.KindCompacted, at, skein.Compacted{To: g.turnEnd(n), Summary: fmt.Sprint("summary ", i)}))
	case end > start:
		done, err := writeback.Sync(g.t.Context(), g.s, g.Format, g.Session)
		switch {
		case g.Waits && errors.Is(err, skein.ErrInvalid):
		case err != nil:
			g.t.Fatalf("step %d: Sync = %+v, %v", i, done, err)
		default:
			g.same(fmt.Sprint("step ", i))
		}
	}
}

// turnEnd returns the end of some turn, which a person may go back to.
func (g goes) turnEnd(n int) skein.Seq {
	g.t.Helper()
	var ends []skein.Seq
	for e, err := range g.s.Events(g.t.Context(), g.Session, 0) {
		if err != nil {
			g.t.Fatal(err)
		}
		m, err := skein.Decode[skein.Message](e)
		if e.Kind != skein.KindSaid || err != nil {
			continue
		}
		if m.Role == skein.RoleAssistant && len(m.Parts) == 1 && m.Parts[0].Kind == skein.PartText {
			ends = append(ends, e.Seq)
		}
	}
	if len(ends) == 0 {
		return g.last()
	}
	return ends[n%len(ends)]
}

// end writes the session back for the last time.
func (g goes) end(seed int) {
	g.t.Helper()
	if done, err := writeback.Sync(g.t.Context(), g.s, g.Format, g.Session); err != nil || done.Events == 0 {
		g.t.Fatalf("seed %d: Sync = %+v, %v, want events written", seed, done, err)
	}
	if done, err := writeback.Sync(g.t.Context(), g.s, g.Format, g.Session); err != nil || done.Events != 0 {
		g.t.Fatalf("seed %d: Sync again = %+v, %v, want nothing new", seed, done, err)
	}
	if rep := g.bring(g.s); rep.Events != 0 || rep.Damaged != 0 {
		g.t.Fatalf("seed %d: Import of what was written back = %+v, want nothing new", seed, rep)
	}
	g.same(fmt.Sprint("seed ", seed))
	if g.Check != nil {
		g.Check(g.t, g.path)
	}
}

// same compares what a model is shown with what it is shown by a store that reads the
// file for the first time.
func (g goes) same(when string) {
	g.t.Helper()
	fresh := memory.New()
	defer fresh.Close()
	g.bring(fresh)
	got, want := Shown(g.t, fresh, g.Session), Shown(g.t, g.s, g.Session)
	if g.Holds != nil {
		got, want = g.Holds(got), g.Holds(want)
	}
	if got != want {
		g.t.Fatalf("%s: another store is shown\n%swant\n%s", when, got, want)
	}
}

// Shown returns what a model is shown of a session, a line for each part.
func Shown(t testing.TB, s skein.Store, id skein.SessionID) string {
	t.Helper()
	var evs []skein.Event
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, e)
	}
	v, err := window.Context(evs, window.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range v.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				fmt.Fprintf(&b, "%s calls %s\n", m.Role, p.Call.ID)
			case p.Result != nil:
				fmt.Fprintf(&b, "%s answers %s %q\n", m.Role, p.Result.CallID, p.Result.Text)
			case p.Text != "":
				fmt.Fprintf(&b, "%s %q\n", m.Role, p.Text)
			}
		}
	}
	return b.String()
}
