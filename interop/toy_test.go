package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// toy is a format with everything that the engine handles and nothing else. A line
// is {"id", "say"}, and may have "to" (go back to that line), "child" (said in
// that child session), "for" (a title for the session of another file's line),
// "and" (said too), "beside" (a child session that it is said in too), "mute" (it
// says nothing), "put" (a program said it), "agent" (the agent did), "at" (when), "spent" (tokens), "cost" (of them), "copy" (the ID that it
// has in the file that this one may be a copy of), "note" (it is noted, not said), "float" and,
// in the first line, "cwd" (the session's folder).
func toy() interop.Format {
	return interop.Format{
		Name:   "toy",
		Doc:    "for tests",
		Places: func(h interop.Home) []string { return []string{filepath.Join(h.Dir, ".toy")} },
		Match:  ending(".toy"),
		Open: func(f interop.File) interop.Reader {
			return &toyReader{id: strings.TrimSuffix(filepath.Base(f.Path), ".toy"), at: map[string]int{}}
		},
		Write: writeToy,
	}
}

type toyReader struct {
	id    string
	begun bool
	count int
	at    map[string]int
	kids  map[string]int
}

func (r *toyReader) Read(l interop.Line) (m interop.Made, err error) {
	var in struct {
		ID, Say, To, Child, Beside, For, Cwd, Copy string
		Float, Void, Mute, Note, Put, Agent        bool
		At, Spent, Cost                            int64
		And                                        []string
	}
	if err := json.Unmarshal(l.Body, &in); err != nil {
		return m, errors.New("no toy")
	}
	if in.Void {
		return m, nil
	}
	if in.For != "" {
		m.Apart = append(m.Apart, interop.Apart{Of: skein.ClientID(in.For), Event: skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: in.Say, By: skein.BySource})})
		return m, nil
	}
	m.Key, m.CopyKey, m.Floating = skein.ClientID(in.ID), skein.ClientID(in.Copy), in.Float
	if in.Mute {
		return m, nil
	}
	if !r.begun {
		r.begun = true
		m.Begin = append(m.Begin, interop.Begin{ID: skein.SessionID(r.id), Created: skein.Created{Cwd: in.Cwd, Project: in.Cwd, Origin: &skein.Origin{ID: r.id}}})
	}
	if in.To != "" {
		r.count++
		m.Items = append(m.Items, interop.Item{Event: skein.NewEvent(skein.KindRewound, 0, skein.Rewound{}), To: r.at[in.To]})
	}
	said := skein.UserSays(in.Say)
	said.Synthetic = in.Put
	if in.Agent {
		said.Role = skein.RoleAssistant
	}
	e := skein.Say(skein.Time(in.At), said)
	if in.Note {
		m.Key = skein.ClientID(fmt.Sprintf("%s.%d", in.ID, r.count)) // as where records have no ID: its number among equals
	}
	if in.Float || in.Note {
		e = skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: in.Say})
	}
	if in.Child == "" {
		r.count++
		r.at[in.ID] = r.count
		m.Items = append(m.Items, interop.Item{Event: e})
		for _, say := range in.And {
			r.count++
			m.Items = append(m.Items, interop.Item{Event: skein.Say(0, skein.UserSays(say))})
		}
		if in.Spent > 0 {
			r.count++
			m.Items = append(m.Items, interop.Item{Event: skein.NewEvent(skein.KindStep, skein.Time(in.At), skein.Step{Phase: "finish", Model: "m", Request: in.ID, Usage: &skein.Usage{Input: in.Spent, Reported: in.Cost}})})
		}
		if in.Beside != "" {
			r.child(&m, in.Beside, e)
		}
		return m, nil
	}
	r.child(&m, in.Child, e)
	return m, nil
}

// child makes e an event of a child session.
func (r *toyReader) child(m *interop.Made, name string, e skein.Event) {
	if r.kids == nil {
		r.kids = map[string]int{}
	}
	if r.kids[name]++; r.kids[name] == 1 {
		m.Begin = append(m.Begin, interop.Begin{Name: name, ID: skein.SessionID(name), At: r.count, Created: skein.Created{
			Origin: &skein.Origin{ID: name}, Parent: &skein.Parent{Why: skein.Child},
		}})
	}
	m.Items = append(m.Items, interop.Item{Session: name, Event: e})
}

// A place is a folder of toys and a store.
type place struct {
	*testing.T
	dir   string
	store skein.Store
	hour  time.Time
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	return &place{t, dir, s, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (p *place) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// write makes a file of toys, later than all before it. Each line is given as a
// word: "a" says a, "b>a" goes back to a and says b, "c/k" says c in the child k,
// "~f" floats, "!n" is noted, "a=x" says x under the ID a; others are written
// unchanged.
func (p *place) write(name string, words ...string) {
	p.Helper()
	var b strings.Builder
	for _, w := range words {
		b.WriteString(line(w))
	}
	p.raw(name, b.String())
}

func line(w string) string {
	if strings.ContainsAny(w, "{\n") {
		return w
	}
	id, say := w, w
	extra := ""
	if strings.HasPrefix(w, "~") {
		extra = `,"float":true`
	}
	if strings.HasPrefix(w, "!") {
		extra = `,"note":true`
	}
	if a, b, ok := strings.Cut(w, ">"); ok {
		id, say, extra = a, a, fmt.Sprintf(`,"to":%q`, b)
	}
	if a, b, ok := strings.Cut(w, "/"); ok {
		id, say, extra = a, a, fmt.Sprintf(`,"child":%q`, b)
	}
	if a, b, ok := strings.Cut(w, "="); ok {
		id, say = a, b
	}
	return fmt.Sprintf(`{"id":%q,"say":%q%s}`, id, say, extra) + "\n"
}

func (p *place) raw(name, text string) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
	p.hour = p.hour.Add(time.Hour)
	if err := os.Chtimes(p.path(name), p.hour, p.hour); err != nil {
		p.Fatal(err)
	}
}

func (p *place) bring(o interop.Options) interop.Report {
	p.Helper()
	rep, err := importer.Import(context.Background(), p.store, []interop.Format{toy()}, []string{p.dir}, o)
	if err != nil {
		p.Fatalf("Import(%s) = %v", p.dir, err)
	}
	return rep
}

// tell returns the events of a session, a word for each.
func (p *place) tell(id string) string {
	p.Helper()
	var words []string
	for e, err := range p.store.Events(context.Background(), skein.SessionID(id), 0) {
		if err != nil {
			p.Fatalf("Events(%s) = %v", id, err)
		}
		words = append(words, word(p.T, e))
	}
	return strings.Join(words, " ")
}

func word(t *testing.T, e skein.Event) string {
	t.Helper()
	f, err := skein.FactsOf(e)
	switch {
	case err != nil:
		t.Fatal(err)
	case f.Created != nil && f.Created.Parent != nil:
		return fmt.Sprintf("%s(%s@%d)", f.Created.Parent.Why, f.Created.Parent.Session, f.Created.Parent.Seq)
	case f.Message != nil:
		return f.Message.Words()
	case f.Rewound != nil:
		return fmt.Sprintf("<%d", f.Rewound.To)
	case f.Titled != nil:
		return "T:" + f.Titled.Title
	case f.Amended != nil && f.Amended.Withdrawn:
		return fmt.Sprintf("-%d", f.Amended.Seq)
	case f.Amended != nil:
		of, _ := skein.FactsOf(skein.Event{Kind: skein.KindSaid, Payload: f.Amended.Payload})
		return fmt.Sprintf("%d:=%s", f.Amended.Seq, of.Message.Words())
	case e.Kind == skein.KindNoted:
		n, _ := skein.Decode[skein.Noted](e)
		return n.Name
	}
	return string(e.Kind)
}

// sessions returns the IDs of all sessions.
func (p *place) sessions() []string {
	p.Helper()
	ids := map[string]bool{}
	for s, err := range p.store.Sessions(context.Background(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			p.Fatal(err)
		}
		ids[string(s.ID)] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

func (p *place) exact(name string) {
	p.Helper()
	want, err := os.ReadFile(p.path(name))
	if err != nil {
		p.Fatal(err)
	}
	var got strings.Builder
	if err := writeback.WriteSource(context.Background(), p.store, "toy", p.path(name), &got); err != nil || got.String() != string(want) {
		p.Errorf("WriteSource(%s) gives %q and the error %v, want %q", name, got.String(), err, want)
	}
}

// wants compares the events of a session with want.
func (p *place) wants(id, want string) {
	p.Helper()
	if got := p.tell(id); got != want {
		p.Errorf("events of %s: %s, want %s", id, got, want)
	}
}

func (p *place) move(from, to string) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(to)), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.Rename(p.path(from), p.path(to)); err != nil {
		p.Fatal(err)
	}
}

// ending returns a Match that goes by the end of a file's name.
func ending(with string) func(string, []byte) interop.Guess {
	return func(path string, _ []byte) interop.Guess {
		if strings.HasSuffix(path, with) {
			return interop.PlacedBy("it ends in " + with)
		}
		return interop.Guess{}
	}
}
