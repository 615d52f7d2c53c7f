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
	*threads

	messages *messages
	spent    spent
	before   map[string]int // ID of an event → number of items before it
	compacts int            // ordinal at which a compaction started; -1 if none is under way
}

// threads are the sessions of a file: its own, and those of its sub-agents.
type threads struct {
	id      string // of the file's own session
	created skein.Created
	start   skein.Time
	model   string
	begun   map[string]bool   // names of the sessions that have begun
	items   map[string]int    // and the number of their items
	seen    map[string]int    // record without an ID → number of them so far
	calls   map[string]string // requested calls → session that requested them
	agents  agents
}

// maxKnown is how many calls and events are remembered.
const maxKnown = 1 << 20

func open(f interop.File) interop.Reader {
	name := filepath.ToSlash(f.Path)
	ts := &threads{begun: map[string]bool{}, items: map[string]int{}, seen: map[string]int{}, calls: map[string]string{}, agents: newAgents()}
	r := &reader{threads: ts, spent: newSpent(), before: map[string]int{}, compacts: -1}
	r.messages = &messages{threads: ts, spent: r.spent, assets: assets{}, system: map[string]string{}}
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
func (ts *threads) started(l line) {
	if id := l.data.Str("sessionId"); id != "" {
		ts.id = id
	}
	where := l.data.Obj("context")
	ts.start = loose.Stamp(l.data.Get("startTime"))
	ts.created.Cwd = where.Str("cwd")
	ts.created.Project = where.Str("gitRoot", "cwd")
	ts.created.Checkout = checkoutOf(where).Known()
	ts.created.Version = l.data.Str("copilotVersion")
	if ts.model = l.data.Str("selectedModel"); ts.model != "" {
		ts.created.Model = ts.model
	}
}

// make returns what an event makes in its session, and the session if this is
// its first.
func (ts *threads) make(l line, ps ...piece) (m interop.Made) {
	if len(ps) == 0 {
		return m
	}
	m.Key = ts.key(l)
	for _, p := range ps {
		m.Begin = append(m.Begin, ts.begin(l.session, l.at)...)
		ts.items[l.session]++
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
func (ts *threads) begin(name string, at skein.Time) []interop.Begin {
	if ts.begun[name] {
		return nil
	}
	ts.begun[name] = true
	if name != "" {
		a := ts.agents.byName[name]
		return append(ts.begin(a.of, at), a.begin(ts, at))
	}
	if ts.start == 0 {
		ts.start = at
	}
	c := ts.created
	c.Origin = &skein.Origin{ID: ts.id, Version: c.Version}
	return []interop.Begin{{ID: skein.SessionID(ts.id), Time: ts.start, Created: c}}
}

// key returns the key of a record: the ID that the program gave it.
func (ts *threads) key(l line) skein.ClientID {
	switch {
	case l.kind == "session.start":
		return startKey(ts.id)
	case len(l.id) == 36:
		return skein.ClientID("cp:" + l.id)
	}
	sum := short(string(l.body))
	ts.seen[sum]++
	return skein.ClientID(fmt.Sprintf("cp:%s:%s:%d", short(ts.id), sum, ts.seen[sum]))
}

// startKey is the key of a session's first event.
func startKey(id string) skein.ClientID { return skein.ClientID("cp:start:" + short(id)) }

// short returns 16 hexadecimal digits of name's hash.
func short(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}
