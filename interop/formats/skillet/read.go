package skillet

import (
	"cmp"
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
	project    string // folder of the repository; "" if unknown
	source     string // name of it
	user, name string // as in the rows; before the first row, as in the log's path
	begun      bool
	titled     bool
	rows       bool // there are rows, which have the log's turns
	count      int  // items
	batch      int64
	batchBegan int // count before the first row with the created_at of batch
	group      group
	tools      map[string]string // call → tool
	agent      string
	model      string
	turns      turn
	asked      map[string]int // user messages in the rows → number
	shared     bool           // other sessions write to the log too
	compacted  bool           // rows were removed and replaced by one
	aside      aside
	mark       string // hash that distinguishes keys of this session from others'
}

// open returns a reader for a source.
func open(f interop.File) interop.Reader {
	r := &reader{tools: map[string]string{}, asked: map[string]int{}, project: projectOf(f.Path), source: f.Name}
	r.user, r.name, _ = cleaned(f.Name)
	r.mark = short(f.Name)
	return r
}

// cleaned returns the name of a source's log, and whether the log is another's: see
// [unit.Sources].
func cleaned(source string) (user, name string, others bool) {
	user, rest, _ := strings.Cut(source, "/")
	name, _, others = strings.Cut(rest, "/")
	return user, name, others
}

// projectOf returns the repository that a database is in:
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

// Read implements [interop.Reader]; the error says that the line is neither a row nor
// part of a log, or that it is damaged.
func (r *reader) Read(l interop.Line) (interop.Made, error) {
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil:
		return interop.Made{}, err
	case ok && row.Damage != "":
		return interop.Made{Damage: row.Damage}, nil
	case ok && row.Table == tableName:
		return r.called(r.row(row, l.Run)), nil
	case ok:
		return interop.Made{}, nil
	}
	return r.file(l)
}

// file reads a line of the log, or of a folder of logs.
func (r *reader) file(in interop.Line) (interop.Made, error) {
	var known struct {
		File, Folder string
		Shared       int
	}
	err := json.Unmarshal(in.Body, &known)
	if r.shared = r.shared || known.Shared > 0; err != nil || known.File == "" {
		return interop.Made{}, err // part of the frame, if anything
	}
	l, err := folder.Parse(in.Body)
	switch {
	case err != nil:
		return interop.Made{}, err
	case l.Damage != "":
		return interop.Made{Damage: l.Damage}, nil
	case l.Line == nil:
		return interop.Made{}, nil
	}
	return r.log(*l.Line, l.Data(), in.Run)
}

// row reads a row of session_items. run is [interop.Line.Run].
func (r *reader) row(row foreign.Row, run bool) interop.Made {
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
		time: timeOf(at), text: row.Text("item_json"), run: run,
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

// timeOf returns a time in milliseconds, 0 for an impossible one.
func timeOf(ms int64) skein.Time {
	if t := skein.Time(ms); skein.At(t.Std()) == t {
		return t
	}
	return 0
}

// A line is a row or a line of a log while it is read.
type line struct {
	key  skein.ClientID
	id   string // unique within its session
	time skein.Time
	text string // JSON
	run  bool   // see [interop.Line.Run]
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

// unknown keeps a line that Skillet is not known to write, but only the first of a run.
func (r *reader) unknown(l line, name string) (made interop.Made) {
	if !l.run {
		made = r.note(l, name, json.RawMessage(l.text))
	}
	made.Unknown = true
	return made
}

// begin returns the beginning of the session. It is made as if there were only the
// log, as in the first turn; Origin has the SDK's name of the session, as far as it
// is known.
func (r *reader) begin(t skein.Time) interop.Begin {
	user, name, others := cleaned(r.source)
	// A log alone names no user, and an ID that begins like a flag cannot be typed.
	id := cmp.Or(strings.TrimLeft(user+":"+name, "-:"), name)
	if others {
		id += "~" + r.mark
	}
	return interop.Begin{ID: skein.SessionID(id), Time: t, Created: skein.Created{
		Title: titleOf(name), Surface: "cli", Project: r.project, Cwd: r.project, Agent: Name, Program: Name,
		Origin: &skein.Origin{Format: Name, ID: r.user + ":" + r.name},
	}}
}

// titleOf returns the title of a session with this name: none if the program
// generated the name.
func titleOf(name string) string {
	if strings.HasPrefix(name, "session_2") {
		return ""
	}
	return skein.Text(name).UTF8()
}

// called adds the session's title to what the first row makes, if it differs from
// that of the log. Not to a row that a compaction left: it may make less than it has.
func (r *reader) called(made interop.Made) interop.Made {
	if r.titled || len(made.Items) == 0 || made.Instead {
		return made
	}
	r.titled = true
	_, name, _ := cleaned(r.source)
	if title := titleOf(r.name); title != "" && title != titleOf(name) {
		r.count++
		made.Items = append(made.Items, interop.Item{Event: skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: title, By: skein.BySource})})
	}
	return made
}
