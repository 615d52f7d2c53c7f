package adk

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader reads the rows of one session.
type reader struct {
	name, app, user, id string
	agent               string // folder of the agent; "" if unknown from the path
	begun               bool
	times               []skein.Time      // of the items
	invocations         map[string]int    // where each began: the items before it
	tools               map[string]call   // by call ID
	byName              map[string]string // tool → its last call, for those that have no ID
	summaries           []summary
}

// A call is what is remembered of one.
type call struct {
	name string
	long bool // its answer comes from outside
}

func open(f interop.File) interop.Reader {
	r := &reader{name: f.Name, invocations: map[string]int{}, tools: map[string]call{}, byName: map[string]string{}}
	r.app, r.user, r.id = parts(f.Name)
	if dir := filepath.Dir(f.Path); filepath.Base(dir) == dirName {
		r.agent = filepath.Dir(dir)
	}
	return r
}

// Read implements [interop.Reader]; the error says that the row is damaged.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil:
		return m, err
	case !ok || r.name == "":
		return m, nil
	case row.Damage != "":
		return m, errors.New(row.Damage)
	}
	switch row.Table {
	case "sessions":
		r.session(&m, row)
	case "events":
		r.event(&m, row)
	}
	return m, nil
}

// put makes e the next event of the record.
func (r *reader) put(m *interop.Made, e skein.Event, blobs ...skein.Blob) {
	if !r.begun {
		r.begun = true
		m.Begin = append(m.Begin, interop.Begin{ID: skein.SessionID(r.id), Created: r.created()})
	}
	r.times = append(r.times, e.Time)
	m.Items = append(m.Items, interop.Item{Event: e, Blobs: blobs})
}

func (r *reader) created() skein.Created {
	return skein.Created{
		Surface: "api", Cwd: r.agent, Project: r.agent, Agent: r.app, Program: Name, Origin: &skein.Origin{ID: r.id},
	}
}

// session reads the session's row. Its state is only in the record: every event
// changes it and says how.
func (r *reader) session(m *interop.Made, row foreign.Row) {
	at, ok := loose.SQLTime(row.Get("create_time"))
	if !ok {
		m.Damage = fmt.Sprintf("create_time %.40q is no time", fmt.Sprint(row.Get("create_time")))
	}
	r.begun = true
	m.Begin, m.Floating = append(m.Begin, interop.Begin{ID: skein.SessionID(r.id), Time: at, Created: r.created()}), true
	m.Key = skein.ClientID("adk:s:" + hash(r.name))
	r.put(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "adk:session", Data: skein.MustJSON(map[string]skein.Text{
		"app_name": skein.Text(r.app), "user_id": skein.Text(r.user),
	})}))
}

// hash returns 32 hexadecimal digits of a text's hash.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
