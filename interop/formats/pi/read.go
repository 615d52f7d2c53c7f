package pi

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader reads one file.
type reader struct {
	*thread

	tree   tree
	equals map[string]int // number of records without an ID, by hash
}

// A thread is the session of a file.
type thread struct {
	file   interop.File
	id     string // of the session
	folder string // ID of the session whose folder the file is in; "" for none
	headed bool
	begun  bool
	count  int // items so far
	titles map[skein.By]string
}

// open returns a reader for a file.
func open(f interop.File) interop.Reader {
	name := filepath.ToSlash(f.Path)
	th := &thread{file: f, titles: map[skein.By]string{}}
	th.id = strings.TrimSuffix(path.Base(name), ".jsonl")
	if id := idOf(name); id != "" {
		th.id = id
	}
	th.folder = idOf(path.Dir(name) + ".jsonl")
	return &reader{thread: th, tree: newTree(), equals: map[string]int{}}
}

// idOf returns the session's ID after the time in a file's name,
// 2026-11-21T04-36-00-123Z_ID.jsonl; "" for any other name.
func idOf(name string) string {
	stamp, id, ok := strings.Cut(strings.TrimSuffix(path.Base(name), ".jsonl"), "_")
	if !ok || len(stamp) < len("2026-11-21T04-36-00") || stamp[4] != '-' || stamp[10] != 'T' {
		return ""
	}
	return id
}

// A making is what becomes of one record.
type making struct {
	loose.Object
	kind   string
	run    bool // see interop.Line
	time   skein.Time
	beside func(name string) ([]byte, bool) // see interop.File
	blobs  []skein.Blob                     // of the next item
	out    interop.Made
}

// Read implements [interop.Reader].
func (r *reader) Read(l interop.Line) (interop.Made, error) {
	o, err := loose.Parse(l.Body)
	if err != nil {
		return interop.Made{}, err
	}
	m := &making{Object: o, run: l.Run, kind: o.Str("type"), time: loose.Stamp(o.Get("timestamp")), beside: r.file.Beside}
	switch {
	case isSlot(o):
		r.slot(m)
		return m.out, nil
	case m.kind == typeHeader && !r.headed:
		r.header(m)
		r.tree.index(r.count)
		return m.out, nil
	}
	if m.time == 0 {
		m.time = loose.Millis(o.Obj("message").Get("timestamp"))
	}
	before := r.count
	r.enter(m)
	r.entry(m)
	m.out.Key = r.key(m)
	m.out.Floating = !tells(m.out.Items)
	r.tree.settle(id(o), before, r.count)
	r.tree.index(before)
	return m.out, nil
}

// tells reports whether any of the items is a step of the conversation.
func tells(items []interop.Item) bool {
	for _, it := range items {
		if it.Event.Kind == skein.KindSaid || it.Event.Kind == skein.KindCompacted {
			return true
		}
	}
	return false
}

// add adds an event to the session.
func (th *thread) add(m *making, e skein.Event) *interop.Item {
	if !th.begun {
		th.begun = true
		if !th.headed {
			m.out.Begin = append(m.out.Begin, th.begin(m))
		}
	}
	th.count++
	m.out.Items = append(m.out.Items, interop.Item{Event: e, Blobs: m.blobs})
	m.blobs = nil
	return &m.out.Items[len(m.out.Items)-1]
}

// note keeps the record unchanged, except for its place in the tree, which a copy or
// a newer version may change.
func (th *thread) note(m *making, name string) {
	th.add(m, skein.NewEvent(skein.KindNoted, m.time, skein.Noted{Name: Name + ":" + clip(name), Data: []byte(m.Without("id", "parentId"))}))
}

// clip shortens a name that comes from a file.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 64)], "") }

// raw returns v as a part of a payload; nil if it is null.
func raw(v jsontext.Value) []byte {
	if loose.IsNull(v) {
		return nil
	}
	return v
}

var _ interop.Reader = (*reader)(nil)
