package goose

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader reads a session: its rows, or its file.
type reader struct {
	id      string // session's; "" for the source with rows of no session
	file    bool   // it is a file from before the database
	ledger  bool   // requests are counted individually
	carried skein.Usage
	begun   bool
	items   int
	run     bool // see [interop.Line.Run]
	said    bool // something was said
	private bool // the last message was only for the model
	shown   bool // the model sees something of what was said so far
	tools   map[string]string
	equals  map[[8]byte]int // number of equal messages, by their hash
}

func open(f interop.File) interop.Reader {
	r := &reader{id: f.Name, tools: map[string]string{}, equals: map[[8]byte]int{}}
	if !f.Unit {
		r.id, r.file = strings.TrimSuffix(filepath.Base(f.Path), ".jsonl"), true
	}
	return r
}

// Read implements [interop.Reader]; the error says that the record is damaged.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	r.run = l.Run
	if r.file {
		return m, r.line(&m, l)
	}
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil:
		return m, err
	case !ok:
		r.ledger = r.ledger || strings.HasPrefix(string(l.Body), strings.TrimSpace(ledger))
		return m, nil
	case r.id == "":
		return m, nil
	case row.Damage != "":
		return m, errors.New(row.Damage)
	}
	switch row.Table {
	case "sessions":
		r.session(&m, row)
	case "messages":
		r.row(&m, row)
	case "usage_ledger":
		r.request(&m, row)
	}
	return m, nil
}

// line reads a line of a file.
func (r *reader) line(m *interop.Made, l interop.Line) error {
	o, err := loose.Parse(l.Body)
	switch {
	case err != nil:
		return err
	case isAbout(o):
		r.about(m, o)
	case isMessage(o):
		created, _ := loose.Number(o.Get("created"))
		r.message(m, message{
			id: o.Str("id"), role: o.Str("role"), created: string(o.Get("created")), at: loose.Epoch(created),
			content: o.Get("content"), about: o.Obj("metadata"),
		})
	default:
		m.Key = skein.ClientID("goose:l:" + hash(r.id, string(l.Body)))
		r.unknown(m, skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "goose:line", Data: loose.Raw(jsontext.Value(l.Body))}))
	}
	return nil
}

// row reads the row of a message.
func (r *reader) row(m *interop.Made, row foreign.Row) {
	in := message{id: row.Text("message_id"), role: row.Text("role"), content: jsontext.Value(loose.AsJSON(row.Text("content_json")))}
	created := row.Int("created_timestamp")
	in.created, in.at = strconv.FormatInt(created, 10), loose.Epoch(float64(created))
	if in.at == 0 {
		m.Damage = fmt.Sprintf("created_timestamp %v is no time", row.Get("created_timestamp"))
	}
	if text := row.Text("metadata_json"); text != "" {
		in.about, _ = loose.Parse([]byte(text)) // a value that is not an object has no members
	}
	r.message(m, in)
}

// unknown puts e, which notes what the program is not known to write, unless it
// continues a run of such.
func (r *reader) unknown(m *interop.Made, e skein.Event) {
	if m.Unknown = true; !r.run {
		r.put(m, e)
	}
}

// put makes e the next event of the record.
func (r *reader) put(m *interop.Made, e skein.Event, blobs ...skein.Blob) {
	if !r.begun {
		r.begun = true
		m.Begin = append(m.Begin, interop.Begin{ID: skein.SessionID(r.id), Created: skein.Created{
			Agent: Name, Program: Name, Origin: &skein.Origin{ID: r.id},
		}})
	}
	r.items++
	m.Items = append(m.Items, interop.Item{Event: e, Blobs: blobs})
}

// hash returns 32 hexadecimal digits of the hash of some texts.
func hash(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
