package amp

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/blocks"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader reads the pieces of one thread.
type reader struct {
	id     string
	fork   string // thread whose messages it repeats
	begin  interop.Begin
	begun  bool
	n      int // messages so far
	items  int
	usage  bool // some message has usage
	blocks blocks.Reader
}

func open(f interop.File) interop.Reader {
	r := &reader{id: strings.TrimSuffix(path.Base(filepath.ToSlash(f.Path)), ".json")}
	r.begin = interop.Begin{ID: skein.SessionID(r.id), Created: r.created(nil)}
	return r
}

// Read implements [interop.Reader]; the error says that a piece cannot be read.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	var own struct{ About json.RawMessage }
	if json.Unmarshal(l.Body, &own) == nil && own.About != nil {
		r.about(own.About)
		return m, nil
	}
	piece, err := interop.Piece(l.Body)
	if err != nil {
		return m, err
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(piece, []byte("\xef\xbb\xbf")))
	switch {
	case r.n == 0 && bytes.HasSuffix(text, []byte("[")): // what is before the messages
		o, _ := loose.Parse(text)
		r.rest(&m, "head", o)
		return m, nil
	case bytes.HasPrefix(text, []byte("]")):
		return m, r.tail(&m, text)
	}
	o, err := loose.Parse(loose.Element(piece))
	if err != nil {
		return m, err
	}
	if r.n == 0 && (o.Has("messages") || !o.Has("role") && o.Has("id")) { // a thread without messages is one piece
		r.rest(&m, "head", o)
		return m, nil
	}
	r.message(&m, o)
	return m, nil
}

// about reads what the thread is.
func (r *reader) about(raw json.RawMessage) {
	o, err := loose.Parse(raw)
	if err != nil {
		return
	}
	r.begin.Time = loose.Millis(o.Get("created"))
	r.begin.Created = r.created(o)
	if up := o.Str("mainThreadID"); up != "" && up != r.id {
		r.begin.ParentID, r.begin.Created.Parent = up, &skein.Parent{Why: skein.Child}
	}
	for _, v := range o.List("relationships") {
		rel, err := loose.Parse(v)
		kind, up := rel.Str("type"), rel.Str("threadID")
		if err != nil || rel.Str("role") != "child" || up == "" || up == r.id || r.begin.ParentID != "" || kind != "handoff" && kind != "fork" {
			continue
		}
		r.begin.ParentID, r.begin.Created.Parent = up, &skein.Parent{Why: skein.Continuation}
		if kind == "fork" {
			r.fork = up
		}
	}
}

func (r *reader) created(o loose.Object) skein.Created {
	c := skein.Created{Surface: "cli", Agent: Name, Program: Name, Origin: &skein.Origin{ID: r.id}}
	initial := o.Obj("env").Obj("initial")
	if trees := initial.List("trees"); len(trees) > 0 {
		if t, err := loose.Parse(trees[0]); err == nil {
			c.Cwd = pathOf(t.Str("uri"))
			c.Project = c.Cwd
			at := t.Obj("repository")
			c.Checkout = interop.Recorded(at.Str("url"), at.Str("ref"), at.Str("sha")).Known()
		}
	}
	if p := initial.Obj("platform"); p != nil {
		c.Version = p.Str("clientVersion")
		if client := p.Str("client"); client != "" && client != "CLI" {
			c.Surface = "ide"
		}
	}
	c.Origin.Version = c.Version
	return c
}

// pathOf returns the path of a file URI, "" if it is not one.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	p := skein.Text(u.Path).UTF8()
	if len(p) > 2 && p[0] == '/' && p[2] == ':' { // /c:/Users
		return p[1:]
	}
	return p
}

// put makes e the next event of the record.
func (r *reader) put(m *interop.Made, e skein.Event, blobs ...skein.Blob) {
	if !r.begun {
		r.begun = true
		m.Begin = append(m.Begin, r.begin)
	}
	r.items++
	m.Items = append(m.Items, interop.Item{Event: e, Blobs: blobs})
}

// rest reads what a thread has besides messages. It floats: it differs in another
// copy of the thread.
func (r *reader) rest(m *interop.Made, where string, o loose.Object) {
	m.Key, m.Floating = skein.ClientID("amp:"+r.id+":"+where), true
	r.begun = true
	m.Begin = append(m.Begin, r.begin)
	if title := o.Str("title"); title != "" {
		r.put(m, skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: title, By: skein.ByModel}))
	}
	if !r.usage {
		r.ledger(m, o.Obj("usageLedger"))
	}
	left := o.Without("v", "id", "created", "messages", "title", "env", "relationships", "mainThreadID", "nextMessageId", "usageLedger")
	if raw := loose.Raw(left); len(raw) > len("{}") {
		r.put(m, skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "amp:thread", Data: raw}))
	}
}

// tail reads what is after the messages.
func (r *reader) tail(m *interop.Made, text []byte) error {
	text = bytes.TrimSpace(text[1:])
	text = bytes.TrimPrefix(text, []byte(","))
	if bytes.Equal(text, []byte("}")) {
		return nil
	}
	o, err := loose.Parse(append([]byte("{"), text...))
	if err != nil {
		return err
	}
	r.rest(m, "tail", o)
	return nil
}

// ledger counts requests if the messages do not.
func (r *reader) ledger(m *interop.Made, o loose.Object) {
	for i, v := range o.List("events") {
		e, err := loose.Parse(v)
		tokens := e.Obj("tokens")
		if err != nil || tokens == nil {
			continue
		}
		id := e.Str("id")
		if id == "" {
			id = strconv.Itoa(i)
		}
		u := skein.Usage{Input: tokens.Count("input"), Output: tokens.Count("output"), CacheRead: tokens.Count("cacheRead"), CacheWrite: tokens.Count("cacheWrite")}
		r.put(m, skein.NewEvent(skein.KindStep, loose.Stamp(e.Get("timestamp")), skein.Step{
			Phase: "finish", Request: "amp:" + r.id + ":" + id, Model: e.Str("model"), Usage: &u,
		}))
	}
}
