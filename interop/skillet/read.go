package skillet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// A reader turns the rows and the log of one session into events.
type reader struct {
	project    string // folder of the repository; "" if not known
	user, name string // as the rows have them, or as the log's path does
	begun      bool
	rows       bool // there are some: the log's turns stand in them
	count      int  // items
	batch      int64
	batchBegan int // count before the first row with the created_at of batch
	group      group
	tools      map[string]string // call → tool
	agent      string
	model      string
	turns      turn
	asked      map[string]int // what a person said in the rows, and how often
	shared     bool           // other sessions write to the log too
	compacted  bool           // rows were removed, in whose place one stands
	aside      aside
	mark       string // hash that tells keys of this session from others'
}

// open returns a reader for a source.
func open(f interop.File) interop.Reader {
	r := &reader{tools: map[string]string{}, asked: map[string]int{}, project: projectOf(f.Path)}
	r.user, r.name, _ = strings.Cut(f.Name, "/")
	r.name, _, _ = strings.Cut(r.name, "/")
	r.mark = short(f.Name)
	return r
}

// projectOf returns the repository that a database lies in:
// REPOSITORY/.skilled-agent/state/….
func projectOf(path string) string {
	home := filepath.Dir(filepath.Dir(path))
	if filepath.Base(home) != ".skilled-agent" {
		return ""
	}
	return filepath.Dir(home)
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// Read implements [interop.Reader]; the error says that the line is no row and
// no part of a log, or that this is damaged.
func (r *reader) Read(l interop.Line) (interop.Made, error) {
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil:
		return interop.Made{}, err
	case ok && row.Damage != "":
		return interop.Made{Damage: row.Damage}, nil
	case ok && row.Table == tableName:
		return r.row(row), nil
	case ok:
		return interop.Made{}, nil
	}
	return r.file(l.Body)
}

// file reads a line of the log, or of a folder that logs are in.
func (r *reader) file(body []byte) (interop.Made, error) {
	var known struct {
		File, Folder string
		Shared       int
	}
	err := json.Unmarshal(body, &known)
	if r.shared = r.shared || known.Shared > 0; err != nil || known.File == "" {
		return interop.Made{}, err // of the frame, if it is any
	}
	l, err := folder.Parse(body)
	switch {
	case err != nil:
		return interop.Made{}, err
	case l.Damage != "":
		return interop.Made{Damage: l.Damage}, nil
	case l.Line == nil:
		return interop.Made{}, nil
	}
	return r.log(*l.Line, l.Data())
}

// row reads a row of session_items.
func (r *reader) row(row foreign.Row) interop.Made {
	if !r.rows {
		r.user, r.name, r.rows = row.Text("user_id"), row.Text("session_name"), true
	}
	at := row.Int("created_at")
	if at != r.batch {
		r.batch, r.batchBegan = at, r.count
	}
	id := row.Int("id")
	if row.Rowid != nil {
		id = *row.Rowid
	}
	l := line{
		key:  skein.ClientID(fmt.Sprintf("sk:%s:%d:%d", r.mark, id, at)),
		time: timeOf(at), text: row.Text("item_json"),
	}
	l.id = "sk:" + strconv.FormatInt(id, 10) + ":" + strconv.FormatInt(at, 10)
	if !isObject(l.text) {
		made := r.note(l, "item", skein.MustJSON(skein.Text(l.text)))
		made.Damage = "item_json is no JSON object"
		return made
	}
	it, err := unmarshal[item]([]byte(l.text))
	if err != nil {
		made := r.note(l, "item", json.RawMessage(l.text))
		made.Damage = "item_json: " + err.Error()
		return made
	}
	return r.item(l, &it)
}

// timeOf returns a time in milliseconds, 0 for one that there cannot be.
func timeOf(ms int64) skein.Time {
	if t := skein.Time(ms); skein.At(t.Std()) == t {
		return t
	}
	return 0
}

// A line is a row or a line of a log while it is read.
type line struct {
	key  skein.ClientID
	id   string // that tells it from the others of its session
	time skein.Time
	text string // JSON
}

// make returns what a line makes: these events, and the session if they are
// its first.
func (r *reader) make(l line, evs ...skein.Event) interop.Made {
	made := interop.Made{Key: l.key}
	if !r.begun {
		r.begun = true
		made.Begin = []interop.Begin{r.begin(l.time)}
	}
	for _, e := range evs {
		r.count++
		made.Items = append(made.Items, interop.Item{Event: e})
	}
	return made
}

func (r *reader) note(l line, name string, data json.RawMessage) interop.Made {
	return r.make(l, skein.NewEvent(skein.KindNoted, l.time, skein.Noted{Name: Name + ":" + name, Data: data}))
}

// begin returns the beginning of the session: its ID is what the SDK calls it.
func (r *reader) begin(t skein.Time) interop.Begin {
	id := r.user + ":" + r.name
	c := skein.Created{
		Surface: "cli", Project: r.project, Cwd: r.project, Agent: Name, Program: Name,
		Origin: &skein.Origin{Format: Name, ID: id},
		Config: skein.MustJSON(struct {
			User skein.Text `json:"user_id"`
			Name skein.Text `json:"session_name"`
		}{skein.Text(r.user), skein.Text(r.name)}),
	}
	if !strings.HasPrefix(r.name, "session_2") { // the program's own, of time and chance
		c.Title = skein.Text(r.name).UTF8()
	}
	return interop.Begin{ID: skein.SessionID(id), Time: t, Created: c}
}
