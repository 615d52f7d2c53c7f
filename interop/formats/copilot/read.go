package copilot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader turns the events of one file into skein's.
type reader struct {
	id      string // of the session
	created skein.Created
	start   skein.Time
	begun   map[string]bool // names of the sessions that have begun
	items   map[string]int  // and the number of their items
	seen    map[string]int  // record without an ID → number of them so far
	before  map[string]int  // ID of an event → number of items before it

	model    string
	system   map[string]string // newest system message of a session, hashed
	thought  string            // newest reasoning in an event of its own
	calls    map[string]string // requested calls → session that requested them
	agents   agents
	assets   assets
	spent    spent
	compacts int // ordinal at which a compaction started; -1 if none is under way
}

// maxKnown is how many calls and events are remembered.
const maxKnown = 1 << 20

func open(f interop.File) interop.Reader {
	name := filepath.ToSlash(f.Path)
	r := &reader{
		begun: map[string]bool{}, items: map[string]int{}, seen: map[string]int{}, before: map[string]int{},
		system: map[string]string{}, calls: map[string]string{}, agents: newAgents(), assets: assets{}, spent: newSpent(), compacts: -1,
	}
	r.id = strings.TrimSuffix(path.Base(name), path.Ext(name))
	if dir := path.Base(path.Dir(name)); path.Base(name) == "events.jsonl" || path.Base(name) == notes {
		r.id = dir
	}
	r.created = skein.Created{Surface: "cli", Agent: agent, Provider: provider, Program: agent}
	switch {
	case path.Base(name) == notes:
		return noteReader{r.id}
	case unit(name) != "":
		return document{r}
	}
	return r
}

// provider is the provider of the models.
const provider = "github-copilot"

// A line is one of the program's events.
type line struct {
	id, kind string
	at       skein.Time
	data     loose.Object
	raw      jsontext.Value // of data
	agent    string         // ID of its sub-agent; "" for none
	session  string         // name of the session that it belongs to: "" or that of a sub-agent
	body     []byte
	run      bool // see interop.Line
}

// Read implements [interop.Reader]; the error says that the record is not a JSON
// object.
func (r *reader) Read(in interop.Line) (m interop.Made, err error) {
	o, err := loose.Parse(in.Body)
	if err != nil {
		return m, err
	}
	if o.Has("session_id") && !o.Has("data") {
		return r.flat(o, in), nil
	}
	l := line{id: o.Str("id"), kind: o.Str("type"), at: loose.Stamp(o.Get("timestamp")), data: o.Obj("data"), raw: o.Get("data"), body: in.Body, agent: o.Str("agentId"), run: in.Run}
	if l.kind == "session.start" {
		r.started(l)
	}
	l.session = r.sessionOf(l)
	if l.id != "" && l.session == "" && len(r.before) < maxKnown {
		r.before[l.id] = r.items[""]
	}
	return r.event(l), nil
}

// started reads what the first event says about the session.
func (r *reader) started(l line) {
	if id := l.data.Str("sessionId"); id != "" {
		r.id = id
	}
	where := l.data.Obj("context")
	r.start = loose.Stamp(l.data.Get("startTime"))
	r.created.Cwd = where.Str("cwd")
	r.created.Project = where.Str("gitRoot", "cwd")
	r.created.Version = l.data.Str("copilotVersion")
	if r.model = l.data.Str("selectedModel"); r.model != "" {
		r.created.Model = r.model
	}
}

// make returns what an event makes in its session, and the session if this is
// its first.
func (r *reader) make(l line, ps ...piece) (m interop.Made) {
	if len(ps) == 0 {
		return m
	}
	m.Key = r.key(l)
	for _, p := range ps {
		m.Begin = append(m.Begin, r.begin(l.session, l.at)...)
		r.items[l.session]++
		m.Items = append(m.Items, interop.Item{Session: l.session, Event: p.event, Blobs: p.blobs, To: p.to})
	}
	return m
}

// A piece is one of the events that a record makes.
type piece struct {
	event skein.Event
	blobs []skein.Blob
	to    int // see interop.Item
}

func say(at skein.Time, m skein.Message) piece { return piece{event: skein.Say(at, m)} }

// begin returns the beginnings of a session and of its ancestors.
func (r *reader) begin(name string, at skein.Time) []interop.Begin {
	if r.begun[name] {
		return nil
	}
	r.begun[name] = true
	if name != "" {
		a := r.agents.byName[name]
		return append(r.begin(a.of, at), a.begin(r, at))
	}
	if r.start == 0 {
		r.start = at
	}
	c := r.created
	c.Origin = &skein.Origin{ID: r.id, Version: c.Version}
	return []interop.Begin{{ID: skein.SessionID(r.id), Time: r.start, Created: c}}
}

// key returns the key of a record: the ID that the program gave it.
func (r *reader) key(l line) skein.ClientID {
	switch {
	case l.kind == "session.start":
		return startKey(r.id)
	case len(l.id) == 36:
		return skein.ClientID("cp:" + l.id)
	}
	sum := short(string(l.body))
	r.seen[sum]++
	return skein.ClientID(fmt.Sprintf("cp:%s:%s:%d", short(r.id), sum, r.seen[sum]))
}

// startKey is the key of a session's first event.
func startKey(id string) skein.ClientID { return skein.ClientID("cp:start:" + short(id)) }

// short returns 16 hexadecimal digits of name's hash.
func short(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}
