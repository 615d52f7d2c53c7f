package atif

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader turns the pieces of one document into events.
type reader struct {
	file interop.File
	in   section
	at   int // elements of the section read so far
	*trajectory
}

// A trajectory is one session while it is read.
type trajectory struct {
	file     interop.File
	name     string // of the Begin; "" for the document's own
	id       string
	key      string // prefix of its records' keys
	head     loose.Object
	begun    bool
	items    int
	steps    int
	used     skein.Usage    // by the steps so far
	children map[string]ref // by the trajectory_id that a step gave
}

// A ref is where a step referred to an embedded trajectory.
type ref struct {
	call string
	at   int // ordinal
}

func open(f interop.File) interop.Reader {
	return &reader{file: f, trajectory: &trajectory{file: f, children: map[string]ref{}}}
}

// Read implements [interop.Reader]; an error says what is wrong with a step.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	text, err := interop.Piece(l.Body)
	if err != nil {
		return m, err
	}
	e := loose.Element(text)
	if l.N == 0 || r.in == "" || len(e) == 0 || e[0] == ']' {
		in := r.in
		r.in, r.at = after(e), 0
		o := members(e)
		if l.N == 0 {
			r.begin(o, e)
			return m, nil
		}
		if in == "" && !r.begun {
			return m, nil
		}
		return r.ends(o), nil
	}
	r.at++
	o, err := parse(e)
	if err != nil {
		return m, err
	}
	if r.in == embedded {
		return r.embedded(o), nil
	}
	return r.step(o), nil
}

// begin reads what a document says before its steps.
func (t *trajectory) begin(o loose.Object, text []byte) {
	t.head = o
	if t.id = o.Str("trajectory_id", "session_id"); t.id == "" {
		stem := strings.TrimSuffix(filepath.Base(t.file.Path), filepath.Ext(t.file.Path))
		t.id = skein.Text(stem).UTF8() + "-" + short(string(text))[:8]
	}
	t.key = "atif:" + short(t.id)
}

// session returns the beginning of a trajectory's session.
func (t *trajectory) session() interop.Begin {
	agent, extra := t.head.Obj("agent"), t.head.Obj("extra").Obj("skein")
	b := interop.Begin{Name: t.name, ID: skein.SessionID(t.id), Created: skein.Created{
		Surface: "import", Title: extra.Str("title"), Cwd: extra.Str("cwd"), Project: extra.Str("project"), Checkout: checkoutOf(extra.Obj("checkout")).Known(),
		Agent: agent.Str("name"), Model: agent.Str("model_name"), Provider: extra.Str("provider"),
		Program: agent.Str("name"), Version: agent.Str("version"), Origin: &skein.Origin{ID: t.id},
	}}
	if b.ID.Check() != nil {
		b.ID = skein.SessionID(Name + "-" + short(t.id))
	}
	if c := loose.Raw(t.head.Without(steps, embedded, "final_metrics")); len(c) > len("{}") {
		b.Created.Config = c
	}
	if parent := extra.Str("parent"); parent != "" && t.name == "" {
		b.ParentID, b.Created.Parent = parent, &skein.Parent{Why: skein.Child, Call: extra.Str("call")}
	}
	return b
}

// make returns what a record makes: these events, and the session if they are
// its first.
func (t *trajectory) make(key string, ps ...piece) (m interop.Made) {
	if len(ps) == 0 {
		return m
	}
	m.Key = skein.ClientID(key)
	t.add(&m, ps...)
	return m
}

func (t *trajectory) add(m *interop.Made, ps ...piece) {
	if !t.begun && len(ps) > 0 {
		b := t.session()
		b.Time = ps[0].event.Time
		m.Begin = append(m.Begin, b)
		t.begun = true
	}
	for _, p := range ps {
		m.Items = append(m.Items, interop.Item{Session: t.name, Event: p.event, Blobs: p.blobs, To: p.to})
	}
}

// step makes the events of a step of the document's own trajectory.
func (r *reader) step(o loose.Object) interop.Made {
	return r.make(fmt.Sprintf("%s:%d", r.key, r.at), r.pieces(o)...)
}

// embedded reads a trajectory inside the document: a session that a step of
// this one started.
func (r *reader) embedded(o loose.Object) (m interop.Made) {
	id := o.Str("trajectory_id", "session_id")
	if id == "" {
		id = fmt.Sprint("sub-", r.at)
	}
	t := &trajectory{file: r.file, name: fmt.Sprint(r.at, " ", id), children: map[string]ref{}, head: o, id: id}
	if !strings.Contains(id, r.id) && len(id) < 32 { // it is unique only here
		t.id = r.id + "." + id
	}
	t.key = "atif:" + short(r.id+"\x00"+id)
	var ps []piece
	for _, v := range o.List(steps) {
		if s, err := loose.Parse(v); err == nil {
			ps = append(ps, t.pieces(s)...)
		}
	}
	ps = append(ps, t.final(o)...)
	if len(ps) == 0 || !r.begun {
		return m
	}
	b := t.session()
	at := r.children[id]
	b.Of, b.At, b.Time = r.name, at.at, ps[0].event.Time
	b.Created.Parent = &skein.Parent{Why: skein.Child, Call: at.call}
	t.begun = true
	m = t.make(t.key, ps...)
	m.Begin = append(m.Begin, b)
	return m
}

// ends makes the events of what a document has after its steps.
func (r *reader) ends(o loose.Object) interop.Made {
	ps := r.final(o)
	if next := o.Str("continued_trajectory_ref"); next != "" {
		ps = append(ps, piece{event: noted("continued", 0, skein.MustJSON(map[string]string{"path": next}))})
	}
	if notes := o.Str("notes"); notes != "" {
		ps = append(ps, piece{event: noted("notes", 0, skein.MustJSON(map[string]string{"text": notes}))})
	}
	if len(ps) == 0 {
		return interop.Made{}
	}
	r.items += len(ps)
	m := r.make(fmt.Sprintf("%s:end:%s", r.key, short(strings.Join(names(o), " "))), ps...)
	m.Floating = true
	return m
}

func names(o loose.Object) (all []string) {
	for _, m := range o {
		all = append(all, m.Name)
	}
	return all
}

// short returns 16 hexadecimal digits of name's hash.
func short(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}
