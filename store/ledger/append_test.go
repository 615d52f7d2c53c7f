package ledger_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
)

// A book answers from values, and records what was looked up and what was written.
type book struct {
	events   []ledger.Event
	places   map[skein.ClientID]ledger.Place
	messages map[string]bool
	charged  map[string]skein.Usage
	targets  map[skein.Seq]ledger.Target
	lease    skein.Lease
	held     bool
	keys     map[string]bool // that other sessions have
	tombs    map[ledger.Tomb]bool
	parents  map[skein.SessionID]*skein.Session
	base     ledger.Base
	blobs    map[skein.Hash]bool

	begun bool
	rows  []ledger.Row
	log   []string // the questions that may cost a caller a lookup
}

func (k *book) Event(i int) *ledger.Event { return &k.events[i] }
func (k *book) Read(int) error            { return nil }
func (k *book) Place(i int) (ledger.Place, error) {
	return k.places[k.events[i].ClientID], nil
}
func (k *book) Joins(m string) (bool, error)                { return k.messages[m], nil }
func (k *book) Charged(r string) (skein.Usage, error)       { return k.charged[r], nil }
func (k *book) Target(seq skein.Seq) (ledger.Target, error) { return k.targets[seq], nil }

func (k *book) Lease(skein.Fence) (skein.Lease, bool, error)           { return k.lease, k.held, nil }
func (k *book) HasTombstone(_ skein.User, t ledger.Tomb) (bool, error) { return k.tombs[t], nil }
func (k *book) Shown(skein.Parent) (ledger.Base, error)                { return k.base, nil }
func (k *book) TakeBlob(h skein.Hash) (bool, error)                    { return k.blobs[h], nil }
func (k *book) Heal(int, skein.Seq, []skein.Hash) error                { return nil }

func (k *book) TakeKey(was string) (bool, error) {
	k.log = append(k.log, "key instead of "+was)
	return len(k.keys) == 0, nil
}

func (k *book) Parent(id skein.SessionID, _ skein.User) (*skein.Session, error) {
	return k.parents[id], nil
}

func (k *book) Lift(_ skein.User, t ledger.Tomb) error {
	delete(k.tombs, t)
	return nil
}

func (k *book) Begin() error {
	k.begun = true
	return nil
}

func (k *book) Put(_ int, r *ledger.Row) error {
	k.rows = append(k.rows, *r)
	if r.ClientID != "" {
		k.places[r.ClientID] = ledger.Place{Seq: r.Seq, Hash: r.Hash}
	}
	return nil
}

// A given is the state that an append finds.
type given struct {
	book
	view ledger.View
	head ledger.Head
}

// begun returns a session of Ann's with three events.
func begun() *given {
	g := empty()
	g.head.User, g.head.Last, g.head.Said, g.head.Key = "ann", 3, 2, "cli:a"
	return g
}

func empty() *given {
	g := &given{view: "ann"}
	g.head.ID = "s"
	g.places = map[skein.ClientID]ledger.Place{}
	g.tombs = map[ledger.Tomb]bool{}
	return g
}

func (g *given) append(t rapid.TB, b skein.Batch) (skein.Receipt, error) {
	t.Helper()
	b.Session = g.head.ID
	if err := ledger.Check(&b); err != nil {
		t.Fatal(err)
	}
	g.events = nil
	for _, e := range b.Events {
		x, err := g.view.Read(e)
		if err != nil {
			t.Fatal(err)
		}
		g.events = append(g.events, x)
	}
	return ledger.Append(&g.book, g.view, &g.head, &b)
}

func says(client skein.ClientID, text string) skein.Event {
	e := skein.Say(1, skein.UserSays(text))
	e.ClientID = client
	return e
}

func creates(c skein.Created) skein.Event { return skein.NewEvent(skein.KindCreated, 1, c) }

func one(e skein.Event) skein.Batch { return skein.Batch{Events: []skein.Event{e}} }

func TestWhatAppendRefuses(t *testing.T) {
	origin := skein.Origin{Format: "f", Path: "/p", ID: "i"}
	fork := func(at skein.Seq) skein.Created {
		return skein.Created{Parent: &skein.Parent{Session: "p", Seq: at, Why: skein.Fork}}
	}
	key := "cli:b"
	tests := map[string]struct {
		given *given
		does  func(*given)
		batch skein.Batch
		want  error
	}{
		"a session that is not there":             {empty(), nil, one(says("", "a")), skein.ErrNotFound},
		"records for a session that is not there": {empty(), nil, skein.Batch{Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p"}}}, skein.ErrNotFound},
		"another user's session":                  {begun(), func(g *given) { g.view = "bob" }, one(says("", "a")), skein.ErrNotFound},
		"the ID of another user's session":        {begun(), func(g *given) { g.view = "bob" }, one(creates(skein.Created{})), skein.ErrExists},
		"a second beginning":                      {begun(), nil, one(creates(skein.Created{})), skein.ErrExists},
		"what was deleted":                        {empty(), func(g *given) { g.tombs[erase.TombOfID("s")] = true }, one(creates(skein.Created{})), skein.ErrDeleted},
		"what was deleted, from where it came":    {empty(), func(g *given) { g.tombs[erase.TombOfOrigin(origin)] = true }, skein.Batch{Events: []skein.Event{creates(skein.Created{Origin: &origin})}, Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p"}}}, skein.ErrDeleted},
		"other content with the same client ID":   {begun(), func(g *given) { g.places["c"] = ledger.Place{Seq: 2, Hash: []byte("other")} }, one(says("c", "a")), skein.ErrMismatch},
		"other content in the same batch":         {begun(), nil, skein.Batch{Events: []skein.Event{says("c", "a"), says("c", "b")}}, skein.ErrMismatch},
		"a number that is not the lease's":        {begun(), func(g *given) { g.lease.Fence = 8 }, skein.Batch{Fence: 7, Events: []skein.Event{says("", "a")}}, skein.ErrFenced},
		"a number where there was no lease":       {begun(), nil, skein.Batch{Fence: 7, Events: []skein.Event{says("", "a")}}, skein.ErrFenced},
		"a key that another session has":          {begun(), func(g *given) { g.keys = map[string]bool{key: true} }, one(skein.NewEvent(skein.KindChanged, 1, skein.Changed{Key: &key})), skein.ErrExists},
		"a blob that nobody has":                  {begun(), nil, one(skein.Say(1, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &skein.File{Blob: skein.NewBlob([]byte("x")).Hash}}}})), skein.ErrInvalid},
		"an amendment that does not fit":          {begun(), func(g *given) { g.targets = map[skein.Seq]ledger.Target{2: {Kind: skein.KindSaid}} }, one(skein.NewEvent(skein.KindAmended, 1, skein.Amended{Seq: 2, Payload: []byte(`{"role":7}`)})), skein.ErrInvalid},
		"a fork of what is not there":             {empty(), nil, one(creates(fork(1))), skein.ErrNotFound},
		"a fork of what was deleted":              {empty(), func(g *given) { g.tombs[erase.TombOfID("p")] = true }, one(creates(fork(1))), skein.ErrDeleted},
		"a fork of another user's session":        {empty(), func(g *given) { g.parents = map[skein.SessionID]*skein.Session{"p": {User: "bob", Last: 9}} }, one(creates(fork(1))), skein.ErrNotFound},
		"a fork after what the parent has":        {empty(), func(g *given) { g.parents = map[skein.SessionID]*skein.Session{"p": {User: "ann", Last: 4}} }, one(creates(fork(5))), skein.ErrInvalid},
	}
	for name, x := range tests {
		t.Run(name, func(t *testing.T) {
			if x.does != nil {
				x.does(x.given)
			}
			if _, err := x.given.append(t, x.batch); !errors.Is(err, x.want) {
				t.Errorf("the error is %v, want %v", err, x.want)
			}
		})
	}
}

func TestAfterIsComparedOnlyIfSomethingIsNew(t *testing.T) {
	for _, x := range []struct {
		after    skein.Seq
		conflict bool
	}{{0, false}, {3, false}, {2, true}, {4, true}, {skein.Fresh, true}} {
		var conflict *skein.ConflictError
		b := skein.Batch{After: x.after, Events: []skein.Event{says("", "a")}}
		if _, err := begun().append(t, b); errors.As(err, &conflict) != x.conflict || x.conflict && conflict.Last != 3 {
			t.Errorf("after %d of 3: the error is %v", x.after, err)
		}
		g := begun()
		g.places["c"] = ledger.Place{Seq: 2}
		b.Events[0].ClientID = "c"
		if r, err := g.append(t, b); err != nil || r.Seqs[0] != 2 || r.New != 0 || len(g.rows) > 0 {
			t.Errorf("after %d, nothing new: %+v, %v", x.after, r, err)
		}
	}
}

func TestTheHolderOfALeaseKeepsOutWhatItSays(t *testing.T) {
	quiet := []skein.Event{
		skein.NewEvent(skein.KindTitled, 1, skein.Titled{Title: "a"}), skein.NewEvent(skein.KindNoted, 1, skein.Noted{Name: "n"}), skein.NewEvent(skein.KindChanged, 1, skein.Changed{}),
	}
	fenced := []skein.Event{
		says("", "a"), skein.NewEvent(skein.KindTool, 1, skein.ToolState{Call: "c", State: skein.Running}), skein.NewEvent(skein.KindStep, 1, skein.Step{}),
		skein.NewEvent(skein.KindCompacted, 1, skein.Compacted{To: 1}), skein.NewEvent(skein.KindRewound, 1, skein.Rewound{To: 1}),
	}
	for _, e := range slices.Concat(quiet, fenced) {
		needs := slices.ContainsFunc(fenced, func(f skein.Event) bool { return f.Kind == e.Kind })
		for _, held := range []bool{false, true} {
			g := begun()
			g.lease, g.held = skein.Lease{Fence: 7}, held
			var locked *skein.LockedError
			if _, err := g.append(t, one(e)); errors.As(err, &locked) != (held && needs) {
				t.Errorf("%s beside a lease that is held: %v: %v", e.Kind, held, err)
			}
			if _, err := g.append(t, skein.Batch{Fence: 7, Events: []skein.Event{e}}); err != nil {
				t.Errorf("%s by the holder: %v", e.Kind, err)
			}
		}
	}
}

func TestATombstoneIsLiftedForWhatIsToComeBack(t *testing.T) {
	g := empty()
	g.tombs[erase.TombOfID("s")] = true
	r, err := g.append(t, skein.Batch{Again: true, Events: []skein.Event{creates(skein.Created{})}})
	if err != nil || r.New != 1 || len(g.tombs) != 0 || !g.begun {
		t.Errorf("%+v, %v; tombstones left: %v", r, err, g.tombs)
	}
}

func TestARowSaysWhatAnAmendmentPutsInItsPlace(t *testing.T) {
	said := skein.MustJSON(skein.UserSays("new words"))
	for name, x := range map[string]struct {
		amended skein.Amended
		of      ledger.Target
		text    string
		role    skein.Role
		shakes  bool
	}{
		"an answer in other words": {skein.Amended{Payload: skein.MustJSON(skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("new words")}})}, ledger.Target{Kind: skein.KindSaid, Role: skein.RoleAssistant}, "new words", skein.RoleAssistant, false},
		"a prompt in other words":  {skein.Amended{Payload: said}, ledger.Target{Kind: skein.KindSaid, Role: skein.RoleUser}, "new words", skein.RoleUser, true},
		"an answer withdrawn":      {skein.Amended{Withdrawn: true}, ledger.Target{Kind: skein.KindSaid, Role: skein.RoleAssistant}, "", "", true},
		"an answer put back":       {skein.Amended{}, ledger.Target{Kind: skein.KindSaid, Role: skein.RoleAssistant, Gone: true}, "", skein.RoleAssistant, true},
		"a note withdrawn":         {skein.Amended{Withdrawn: true}, ledger.Target{Kind: skein.KindNoted}, "", "", false},
		"what is not its own":      {skein.Amended{Payload: said}, ledger.Target{}, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := begun()
			x.amended.Seq = 2
			g.targets = map[skein.Seq]ledger.Target{2: x.of}
			if _, err := g.append(t, one(skein.NewEvent(skein.KindAmended, 1, x.amended))); err != nil {
				t.Fatal(err)
			}
			if r := g.rows[0]; r.Now.Text != x.text || r.Now.Role != x.role || r.Shakes != x.shakes || !r.Added.Stale {
				t.Errorf("it says %q by %q, shakes: %v, stale: %v", r.Now.Text, r.Now.Role, r.Shakes, r.Added.Stale)
			}
		})
	}
}

func TestAForkBeginsWithWhatItShows(t *testing.T) {
	g := empty()
	g.parents = map[skein.SessionID]*skein.Session{"p": {User: "ann", Last: 9}}
	g.base = ledger.Base{Shown: skein.Shown{Messages: 3, Turns: 2, First: "first"}, Said: 4}
	g.places["c"] = ledger.Place{Seq: 4} // the parent's
	r, err := g.append(t, skein.Batch{Events: []skein.Event{
		creates(skein.Created{Parent: &skein.Parent{Session: "p", Seq: 5, Why: skein.Fork}}), says("c", "had"), says("d", "new"),
	}})
	if err != nil || fmt.Sprint(r.Seqs, r.New, r.Last) != "[6 4 7] 2 7" {
		t.Fatalf("%+v, %v", r, err)
	}
	if h := g.head; h.Messages != 4 || h.Turns != 3 || h.First != "first" || h.Said != 7 || g.rows[0].Prev != 4 || g.rows[1].Prev != 4 {
		t.Errorf("%+v; %+v", h, g.rows)
	}
}

// TestAnAppendIsWhatALogWouldBe compares many batches with the simplest possible
// store: a list of events.
func TestAnAppendIsWhatALogWouldBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := empty()
		var log []skein.Event
		at := map[skein.ClientID]int{}
		if _, err := g.append(t, one(creates(skein.Created{}))); err != nil {
			t.Fatal(err)
		}
		log = append(log, creates(skein.Created{}))
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			var b skein.Batch
			for range rapid.IntRange(1, 4).Draw(t, "events") {
				id := rapid.SampledFrom([]skein.ClientID{"", "", "a", "b", "c", "d"}).Draw(t, "client ID")
				b.Events = append(b.Events, says(id, rapid.SampledFrom([]string{"x", "y"}).Draw(t, "text")))
			}
			b.After = rapid.SampledFrom([]skein.Seq{0, 0, 0, skein.Seq(len(log)), 1}).Draw(t, "after")
			want, seqs, places, bad := slices.Clone(log), []skein.Seq{}, maps.Clone(at), false
			for _, e := range b.Events {
				i, had := places[e.ClientID]
				if had && e.ClientID != "" {
					bad = bad || string(want[i].Payload) != string(e.Payload)
				} else {
					i, want = len(want), append(want, e)
					places[e.ClientID] = i
				}
				seqs = append(seqs, skein.Seq(i+1))
			}
			bad = bad || len(want) > len(log) && b.After > 0 && int(b.After) != len(log)
			was, rows, had := g.head, len(g.rows), maps.Clone(g.places)
			r, err := g.append(t, b)
			if (err != nil) != bad {
				t.Fatalf("%v after %d: the error is %v, want one: %v", b, len(log), err, bad)
			}
			if bad { // the store rolls back
				g.head, g.rows, g.places = was, g.rows[:rows], had
				continue
			}
			if !slices.Equal(r.Seqs, seqs) || r.New != len(want)-len(log) || int(r.Last) != len(want) || int(g.head.Last) != len(want) || g.head.Messages != len(want)-1 {
				t.Fatalf("%+v, want %v; %+v", r, seqs, g.head)
			}
			log, at = want, places
		}
		if len(g.rows) != len(log) {
			t.Fatalf("%d rows, want %d", len(g.rows), len(log))
		}
		for i, row := range g.rows {
			if row.Seq != skein.Seq(i+1) || string(row.Payload) != string(log[i].Payload) {
				t.Fatalf("row %d: %+v", i, row)
			}
		}
	})
}

func TestAKeyIsTakenWhenItChanges(t *testing.T) {
	key := "cli:b"
	changes := one(skein.NewEvent(skein.KindChanged, 1, skein.Changed{Key: &key}))
	for name, x := range map[string]struct {
		binned skein.Time
		batch  skein.Batch
		asked  int
	}{"another key": {0, changes, 1}, "in the bin": {1, changes, 0}, "the same key": {0, one(says("", "a")), 0}} {
		g := begun()
		g.head.Binned = x.binned
		if _, err := g.append(t, x.batch); err != nil || len(g.log) != x.asked {
			t.Errorf("%s: asked %q, want %d questions; %v", name, g.log, x.asked, err)
		}
	}
}
