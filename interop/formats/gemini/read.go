package gemini

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader turns one session file into events.
type reader struct {
	program
	file  interop.File
	id    string       // of the session
	start skein.Time   // of the session
	meta  loose.Object // the session's metadata, before the messages
	saved string       // tag of a checkpoint; "" if it is not one
	begun bool
	items int

	live  []*entry          // messages that are in the conversation, in order
	byID  map[string]*entry // of these
	seen  map[string]int    // ID → number of its records so far
	calls map[string]string // ID of an answered call → of the message with its result
	title string

	waiting map[string][]string // see said
}

func (p program) open(f interop.File) interop.Reader {
	name := filepath.ToSlash(f.Path)
	r := &reader{program: p, file: f, byID: map[string]*entry{}, seen: map[string]int{}, calls: map[string]string{}, waiting: map[string][]string{}}
	r.id = strings.TrimSuffix(path.Base(name), path.Ext(name))
	if unit(name) == "" && !f.Unit {
		return r
	}
	if isCheckpoint(name) {
		r.saved = tagOf(r.id)
		return checkpoint{r}
	}
	return document{r}
}

// Read implements [interop.Reader] for a line of a session; the error says that it is
// not a JSON object.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	o, err := loose.Parse(l.Body)
	if err != nil {
		return m, err
	}
	switch {
	case loose.Str(o.Get("$rewindTo")) != "":
		return r.rewind(l.Body, loose.Str(o.Get("$rewindTo"))), nil
	case loose.Str(o.Get("id")) != "":
		return r.update(l.Body, o), nil
	case o.Obj("$set") != nil:
		return r.set(l.Body, o.Obj("$set")), nil
	case o.Has("sessionId"):
		return r.head(l.Body, o), nil
	}
	if !l.Run {
		m = r.make(r.key(string(l.Body)), piece{event: noted("unknown", "", 0, l.Body)})
	}
	m.Unknown = true
	return m, nil
}

// A document reads the pieces of a JSON document.
type document struct{ *reader }

// Read implements [interop.Reader] for a piece; the error says that it is not a
// piece, or has no JSON object.
func (d document) Read(l interop.Line) (m interop.Made, err error) {
	text, err := interop.Piece(l.Body)
	if err != nil {
		return m, err
	}
	e := loose.Element(text)
	switch {
	case l.N == 0:
		o, err := loose.Parse(bytes.TrimPrefix(e, []byte("\xef\xbb\xbf")))
		if err != nil && len(o) == 0 {
			return m, err
		}
		return d.head(nil, o), nil // continued in the next piece
	case bytes.HasPrefix(e, []byte("]")):
		return d.tail(e[1:]), nil
	case !bytes.HasPrefix(e, []byte("{")):
		return m, fmt.Errorf("no message: %.40q", e)
	}
	o, err := loose.Parse(e)
	if err != nil {
		return m, err
	}
	id := loose.Str(o.Get("id"))
	if id == "" {
		id = "#" + short(string(e))
	}
	made := d.make(d.key(id), d.pieces(id, o, o.Without())...)
	return made, nil
}

// head reads a session's metadata before the messages.
func (r *reader) head(body []byte, o loose.Object) (m interop.Made) {
	if id := o.Str("sessionId"); id != "" {
		r.id = id
	}
	r.meta, r.start = o, loose.Stamp(o.Get("startTime"))
	if !r.begun {
		m.Begin = []interop.Begin{r.begin()}
	}
	if t := r.titled(o); t != nil {
		m = merge(m, r.make(r.key(string(body)), *t))
		m.Floating = true
	}
	return m
}

// tail reads what follows the messages.
func (r *reader) tail(rest []byte) (m interop.Made) {
	rest = bytes.TrimSpace(rest)
	o, _ := loose.Parse(append([]byte("{"), bytes.TrimPrefix(rest, []byte(","))...)) // if it is torn, what there is
	if t := r.titled(o); t != nil {
		m = r.make("gm:tail:"+skein.ClientID(short(r.id)), *t)
		m.Floating = true
	}
	return m
}

// titled returns the title in o, if it is new. A model wrote it.
func (r *reader) titled(o loose.Object) *piece {
	title := o.Str("summary")
	if title == "" || title == r.title {
		return nil
	}
	r.title = title
	return &piece{event: skein.NewEvent(skein.KindTitled, loose.Stamp(o.Get("lastUpdated")), skein.Titled{Title: title, By: skein.ByModel})}
}

// make returns what a record makes: these events, and the session if they are
// its first.
func (r *reader) make(key skein.ClientID, ps ...piece) (m interop.Made) {
	if len(ps) == 0 {
		return m
	}
	if m.Key = key; !r.begun {
		m.Begin = []interop.Begin{r.begin()}
		r.begun = true
	}
	for _, p := range ps {
		r.items++
		m.Items = append(m.Items, interop.Item{Event: p.event, Blobs: p.blobs, To: p.to})
	}
	m.Floating = !slices.ContainsFunc(ps, isContent)
	return m
}

// isContent reports whether an event makes a file a session: each start of the
// program leaves a file that has only a head, its context and notices.
func isContent(p piece) bool {
	switch p.event.Kind {
	case skein.KindNoted, skein.KindTitled:
		return false
	case skein.KindSaid:
		m, err := skein.Decode[skein.Message](p.event)
		return err != nil || !m.Synthetic
	}
	return true
}

// merge combines what two parts of a record make.
func merge(a, b interop.Made) interop.Made {
	b.Begin = append(a.Begin, b.Begin...)
	b.Items = append(a.Items, b.Items...)
	if b.Key == "" {
		b.Key = a.Key
	}
	return b
}

// key returns the key of the next record of a message: the same in a copy of the
// file, and if a document was turned into lines.
func (r *reader) key(id string) skein.ClientID {
	n := r.seen[id] + 1
	r.seen[id] = n
	key := "gm:" + r.global(id)
	if n > 1 {
		key += fmt.Sprintf(":%d", n)
	}
	return skein.ClientID(key)
}

// global returns a name for a message that no other session has.
func (r *reader) global(id string) string {
	if len(id) == 36 && strings.Count(id, "-") == 4 {
		return id
	}
	return short(r.id) + ":" + short(id)
}

// short returns 16 hexadecimal digits of name's hash.
func short(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}
