package opencode

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader turns the rows or files of one session into events.
type reader struct {
	id       string // the session's; "" for the source with rows of no session
	begun    bool
	items    int
	messages map[string]*message // by ID
	keys     map[string]int      // number of messages with this key
	revert   revert
	reverted bool   // what follows was rewound
	tail     string // the first message that the next summary does not cover; "" for none
	seen     bool   // there was a message, so those of the newer table repeat it
	run      bool   // see [interop.Line.Run]
	unplaced bool   // the session does not say where it is, as in the first versions: its answers do
	beside   func(string) ([]byte, bool)
}

// A revert is the place in a session to which the user has reverted it.
type revert struct{ message, part string }

// A message is the state of a message while its parts come.
type message struct {
	key      skein.ClientID
	role     skein.Role
	at       skein.Time
	model    string
	provider string
	agent    string
	summary  bool // it is a compaction's summary
	done     bool
	hidden   bool
	first    int    // ordinal of the last item before it
	parts    int    // that have come
	round    int    // of the model, in it
	ran      bool   // a tool did
	tail     string // if it is a summary: the first message that it does not cover
}

func open(f interop.File) interop.Reader {
	if f.Beside == nil {
		f.Beside = func(string) ([]byte, bool) { return nil, false }
	}
	return &reader{id: f.Name, beside: f.Beside, messages: map[string]*message{}, keys: map[string]int{}}
}

// Read implements [interop.Reader]; the error says that the record is damaged.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	r.run = l.Run
	if m, err = r.read(l); len(m.Items) == 0 {
		m.Key = ""
	}
	return m, err
}

func (r *reader) read(l interop.Line) (m interop.Made, err error) {
	if r.id == "" {
		return m, nil
	}
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil:
		return m, err
	case !ok:
		return r.file(l.Body)
	case row.Damage != "":
		return m, errors.New(row.Damage)
	}
	id := row.Text("id")
	switch row.Table {
	case "session":
		r.session(&m, ofRow(row))
	case "todo":
		r.todo(&m, row)
	case "message", "part", "session_message":
		o, err := loose.Parse([]byte(row.Text("data")))
		if err != nil {
			return m, err
		}
		at := timeOf(row, "time_created")
		switch {
		case row.Table == "message":
			r.message(&m, id, at, o)
		case row.Table == "part":
			r.part(&m, id, row.Text("message_id"), at, o)
		case !r.seen:
			r.newer(&m, id, row.Text("type"), at, o)
		}
	}
	return m, nil
}

// file reads a file of the early versions' folder.
func (r *reader) file(line []byte) (m interop.Made, err error) {
	f, err := folder.Parse(line)
	switch {
	case err != nil:
		return m, err
	case f.Damage != "":
		return m, errors.New(f.Damage)
	case f.File == "":
		return m, nil
	}
	dirs := strings.Split(path.Dir(f.File), "/")
	id := strings.TrimSuffix(path.Base(f.File), ".json")
	if dirs[0] == "session" && len(dirs) > 2 { // of one project, in early versions
		dirs = dirs[1:]
	}
	kind := dirs[0]
	if kind == "todo" || kind == "session_diff" {
		m.Key = skein.ClientID(Name + ":" + kind + ":" + r.id)
		m.Floating = true
		r.put(&m, noted(0, kind, loose.AsJSON(string(f.Data()))))
		return m, nil
	}
	o, err := loose.Parse(f.Data())
	if err != nil {
		return m, err
	}
	switch kind {
	case "session":
		r.session(&m, ofFile(o))
	case "message":
		r.message(&m, id, 0, o)
	case "part":
		r.part(&m, id, path.Base(path.Dir(f.File)), 0, o)
	}
	return m, nil
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

// unknown puts e, which notes a part that the program is not known to write, unless
// the part continues a run of such.
func (r *reader) unknown(m *interop.Made, e skein.Event) {
	if m.Unknown = true; !r.run {
		r.put(m, e)
	}
}

// todo notes the to-do list.
func (r *reader) todo(m *interop.Made, row foreign.Row) {
	m.Key = skein.ClientID(Name + ":todo:" + r.id + ":" + strconv.FormatInt(row.Int("position"), 10))
	m.Floating = true
	at := timeOf(row, "time_created")
	r.put(m, noted(at, "todo", skein.MustJSON(todo{row.Text("content"), row.Text("status"), row.Text("priority"), row.Int("position")})))
}

// todo is an entry of the model's to-do list.
type todo struct {
	Content  string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority"`
	Position int64  `json:"position"`
}

func noted(at skein.Time, name string, data []byte) skein.Event {
	return skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: Name + ":" + name, Data: data})
}
