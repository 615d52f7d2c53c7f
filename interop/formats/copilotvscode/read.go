package copilotvscode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader turns one session into events.
type reader struct {
	file  interop.File
	id    string
	head  loose.Object
	begun bool
	seen  map[string]int // ID of a request → number of them so far
}

func open(f interop.File) interop.Reader {
	name := filepath.ToSlash(f.Path)
	r := &reader{file: f, id: strings.TrimSuffix(path.Base(name), path.Ext(name)), seen: map[string]int{}}
	if unit(name) == "" && !f.Unit {
		return &log{reader: r}
	}
	return r
}

// Read implements [interop.Reader]; the error says that the piece holds no JSON
// object.
func (r *reader) Read(in interop.Line) (m interop.Made, err error) {
	text, err := interop.Piece(in.Body)
	if err != nil {
		return m, err
	}
	e := loose.Element(text)
	switch {
	case in.N == 0:
		o, err := loose.Parse(bytes.TrimPrefix(e, []byte("\xef\xbb\xbf")))
		if len(o) == 0 && err != nil {
			return m, err
		}
		r.head = o // continued in the next piece
		if id := o.Str("sessionId"); id != "" {
			r.id = id
		}
		return r.titled(m, o), nil
	case bytes.HasPrefix(e, []byte("]")):
		return r.tail(e[1:]), nil
	case !bytes.HasPrefix(e, []byte("{")):
		return m, fmt.Errorf("no request: %.40q", e)
	}
	o, err := loose.Parse(e)
	if err != nil {
		return m, err
	}
	return r.make(r.key(o, e), pieces(o)...), nil
}

// tail reads what follows the requests: the title, and in most versions the ID of the
// session, which is the file's name too.
func (r *reader) tail(rest []byte) (m interop.Made) {
	rest = bytes.TrimSpace(rest)
	o, _ := loose.Parse(append([]byte("{"), bytes.TrimPrefix(rest, []byte(","))...)) // if it is torn, what there is
	return r.titled(m, o)
}

// titled adds the title in o. It may be the user's or a model's.
func (r *reader) titled(m interop.Made, o loose.Object) interop.Made {
	title := o.Str("customTitle", "computedTitle")
	if title == "" {
		return m
	}
	m = r.make(skein.ClientID("vs:title:"+short(r.id)), piece{event: skein.NewEvent(skein.KindTitled, loose.Millis(o.Get("lastMessageDate")), skein.Titled{Title: title, By: skein.ByModel})})
	m.Floating = true
	return m
}

// make returns what a record makes: these events, and the session if they are
// its first.
func (r *reader) make(key skein.ClientID, ps ...piece) (m interop.Made) {
	if len(ps) == 0 {
		return m
	}
	if m.Key = key; !r.begun {
		r.begun = true
		m.Begin = []interop.Begin{r.begin(ps[0].event.Time)}
	}
	for _, p := range ps {
		m.Items = append(m.Items, interop.Item{Event: p.event, Blobs: p.blobs})
	}
	return m
}

func (r *reader) begin(first skein.Time) interop.Begin {
	start := loose.Millis(r.head.Get("creationDate"))
	if start == 0 {
		start = first
	}
	cwd := r.folder()
	return interop.Begin{ID: skein.SessionID(r.id), Time: start, Created: skein.Created{
		Surface: "vscode", Project: cwd, Cwd: cwd, Agent: Name, Program: "vscode", Origin: &skein.Origin{ID: r.id},
	}}
}

// folder returns the folder that is open in the session's window, which is named in
// the storage that has the file.
func (r *reader) folder() string {
	b, ok := r.file.Beside("../workspace.json")
	if !ok {
		return ""
	}
	o, err := loose.Parse(b)
	if err != nil {
		return ""
	}
	u, err := url.Parse(o.Str("folder"))
	if err != nil || len(u.Path) > 4096 {
		return ""
	}
	name := skein.Text(u.Path).UTF8()
	if len(name) > 2 && name[0] == '/' && name[2] == ':' { // file:///c:/Users
		name = name[1:]
	}
	return name
}

func (r *reader) key(o loose.Object, e jsontext.Value) skein.ClientID {
	id := o.Str("requestId")
	if id == "" || len(id) > 80 {
		id = short(r.id) + ":" + short(string(e))
	}
	if r.seen[id]++; r.seen[id] > 1 {
		id += fmt.Sprintf(":%d", r.seen[id])
	}
	return skein.ClientID("vs:" + id)
}

// short returns 16 hexadecimal digits of name's hash.
func short(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}
