package sessionlog

import (
	"encoding/json"
	"strings"

	"github.com/skein-dev/skein"
)

// Cleared is the name of the noted event after which a log is empty.
const Cleared = "log:cleared"

// ClearedEvent returns the event that empties a session's log.
func ClearedEvent(t skein.Time) skein.Event {
	return skein.NewEvent(skein.KindNoted, t, skein.Noted{Name: Cleared, Level: "info"})
}

// Encoder turns the events of a session into the lines of its log, one event
// after the other. It remembers what lines need of earlier events, no further
// back than the newest user message.
type Encoder struct {
	session  skein.SessionID
	revision int
	agent    string // the agent that answers in the session; "" if it has no name

	seq skein.Seq // of the current event
	at  string    // time of the current event

	busy  bool            // the agent has begun to answer
	text  string          // the last words of the turn
	model string          // of the last answer in the turn
	calls map[string]call // of the turn, by ID
}

// A call is what lines need to know of a tool call.
type call struct {
	name, input string
	took        skein.Time // milliseconds; 0 if not known
	handed      bool       // a line about its child session was written
}

// NewLines returns the Lines of a session whose first own event comes next.
// revision is [skein.Session].Revision.
func NewLines(id skein.SessionID, revision int) *Encoder {
	return &Encoder{session: id, revision: revision}
}

// Append appends the lines of e to b. Only [Cleared] removes lines; it makes
// none itself.
func (l *Encoder) Append(b []byte, e skein.Event) []byte {
	l.seq, l.at = e.Seq, e.Time.String()
	f, err := skein.FactsOf(e)
	if err != nil {
		return l.plain(b, warning, "skein:"+string(e.Kind), raw(e.Payload))
	}
	switch {
	case f.Created != nil:
		return l.created(b, e, f.Created)
	case f.Message != nil:
		return l.message(b, f.Message)
	case f.Tool != nil:
		return l.tool(b, f.Tool)
	case f.Titled != nil:
		return l.plain(b, info, "session-naming:set", raw(e.Payload))
	case f.Changed != nil:
		if f.Changed.Agent != nil {
			l.agent = *f.Changed.Agent
		}
		return l.plain(b, info, "session:config", raw(e.Payload))
	case f.Compacted != nil:
		return l.plain(b, levelIf(f.Compacted.Failed, warning), "context:compaction", raw(e.Payload))
	case f.Rewound != nil:
		return l.plain(b, info, "context:rewind", raw(e.Payload))
	}
	return l.other(b, e)
}

// levelIf returns level if bad, else INFO.
func levelIf(bad bool, level string) string {
	if bad {
		return level
	}
	return info
}

func (l *Encoder) created(b []byte, e skein.Event, c *skein.Created) []byte {
	l.agent = c.Agent
	name := "session:start"
	if c.Parent != nil && c.Parent.Why != skein.Continuation {
		name = "session:fork"
	}
	return l.plain(b, info, name, raw(e.Payload))
}

// other appends the lines of all other kinds.
func (l *Encoder) other(b []byte, e skein.Event) []byte {
	switch e.Kind {
	case skein.KindStep:
		if s, err := skein.Decode[skein.Step](e); err == nil {
			return l.request(b, &s)
		}
	case skein.KindResumed:
		return l.plain(b, info, "session:resume", raw(e.Payload))
	case skein.KindEnded:
		return l.ended(b, e)
	case skein.KindNoted:
		n, err := skein.Decode[skein.Noted](e)
		switch {
		case err != nil || n.Name == "":
		case n.Name == Cleared:
			return b
		default:
			return l.plain(b, noteLevel(n.Level), n.Name, noteData(n.Data))
		}
	}
	return l.plain(b, info, "skein:"+string(e.Kind), raw(e.Payload))
}

// ended appends that a program left the session, and the end of a turn that it
// left without an answer.
func (l *Encoder) ended(b []byte, e skein.Event) []byte {
	p, _ := skein.Decode[skein.Program](e)
	if l.busy {
		b = l.complete(b, p.How)
	}
	return l.plain(b, levelIf(p.How == "error", failure), "session:end", raw(e.Payload))
}

func noteLevel(level string) string {
	switch level {
	case "debug":
		return debug
	case "warning":
		return warning
	case "error":
		return failure
	}
	return info
}

// noteData returns the data of a note as an object.
func noteData(data json.RawMessage) []byte {
	if s := strings.TrimSpace(string(data)); s == "" || s == "null" || s[0] == '{' {
		return raw(data)
	}
	return raw(append(append([]byte(`{"value":`), data...), '}'))
}

// name returns the name of the agent that answers.
func (l *Encoder) name(of string) string {
	switch {
	case of != "":
		return of
	case l.agent != "":
		return l.agent
	}
	return "skein"
}
