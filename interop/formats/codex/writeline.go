package codex

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A fileState is the relevant state of a rollout that is continued.
type fileState struct {
	bare    bool   // of the first generation: items without an envelope
	counted bool   // its lines have ordinals, and its turns items
	next    uint64 // ordinal of the next line
}

// A lineOut is a line that is written.
type lineOut struct {
	Timestamp string  `json:"timestamp"`
	Ordinal   *uint64 `json:"ordinal,omitempty"`
	Type      string  `json:"type"`
	Payload   any     `json:"payload"`
}

// An output is the rollout that is written, line by line.
type output struct {
	d    interop.Draft
	id   string // of the thread
	path string
	ours map[skein.Seq]bool // events that were read from Codex
	file fileState

	acting skein.Seq // event that is being written
	seq    skein.Seq
	quiet  bool // the file has it already
	some   bool // something was said
	at     skein.Time
	since  skein.Time // when the session was rewound: what it returned to is said again then
	lines  []interop.OutLine
	names  []interop.OutLine // for the index
	losses interop.Losses
}

// look reads the state of the rollout that is continued.
func (o *output) look() error {
	begun := false
	for r, err := range o.d.Known {
		if err != nil {
			return err
		}
		if begun && !bytes.Contains(r.Raw, []byte(`"ordinal"`)) {
			continue
		}
		l, err := unmarshal[struct {
			Type    string          `json:"type"`
			Payload json.RawMessage `json:"payload"`
			Ordinal *uint64         `json:"ordinal"`
		}](bytes.TrimSpace(r.Raw))
		if err != nil {
			continue // damaged: Codex skips it too
		}
		if !begun {
			o.file.bare, begun = l.Payload == nil, true
		}
		if l.Ordinal != nil {
			o.file.counted, o.file.next = true, *l.Ordinal+1
		}
	}
	return nil
}

// emit writes a line, unless the file has it.
func (o *output) emit(t skein.Time, typ string, payload any) {
	if o.quiet {
		return
	}
	if t == 0 {
		t = o.at
	}
	t = max(t, o.since)
	o.at = t
	if o.file.bare {
		if typ == typeItem {
			o.lines = append(o.lines, interop.OutLine{Body: interop.JSONLine(payload), Seq: o.seq})
		}
		return
	}
	l := lineOut{Timestamp: stampOf(t), Type: typ, Payload: payload}
	if o.file.counted {
		n := o.file.next
		l.Ordinal = &n
		o.file.next++
	}
	o.lines = append(o.lines, interop.OutLine{Body: interop.JSONLine(l), Seq: o.seq})
}

// item writes what goes to the model.
func (o *output) item(t skein.Time, payload any) { o.emit(t, typeItem, payload) }

// shows reports whether what is being written is also sent to the screen: not if
// Codex's own lines do so.
func (o *output) shows() bool { return !o.ours[o.acting] }

// show writes a line for the screen.
func (o *output) show(t skein.Time, payload any) {
	if o.shows() {
		o.emit(t, typeEvent, payload)
	}
}

// lose reports that something is lost, unless the file already has it.
func (o *output) lose(at skein.Seq, what string) {
	if !o.quiet {
		o.losses.Add(at, what)
	}
}

// A namedOut is a line of session_index.jsonl.
type namedOut struct {
	ID   string `json:"id"`
	Name string `json:"thread_name"`
	Time string `json:"updated_at"`
}

// named gives the thread a name.
func (o *output) named(t skein.Time, title string) {
	l := namedOut{o.id, strings.TrimSpace(utf8(title)), t.Std().UTC().Format(time.RFC3339Nano)}
	if l.Name != "" && isUUID().MatchString(o.id) {
		o.names = append(o.names, interop.OutLine{Body: interop.JSONLine(l), Seq: o.seq})
	}
}

type startedOut struct {
	Type    string `json:"type"` // task_started
	Turn    string `json:"turn_id"`
	Started int64  `json:"started_at"` // seconds
	Window  *int64 `json:"model_context_window"`
}

type completeOut struct {
	Type      string  `json:"type"` // task_complete
	Turn      string  `json:"turn_id"`
	Last      *string `json:"last_agent_message"`
	Completed int64   `json:"completed_at"` // seconds
}

// A completedOut reports a message to the screen if lines have ordinals.
type completedOut struct {
	Type      string `json:"type"` // item_completed
	Thread    string `json:"thread_id"`
	Turn      string `json:"turn_id"`
	Item      any    `json:"item"`
	Started   int64  `json:"started_at_ms"`
	Completed int64  `json:"completed_at_ms"`
}

// A turn is the turn that is open: from a prompt to the next one.
type turn struct {
	out  *output
	id   string // "" if none is open
	last string // the model's last text in it
}

// start ends the turn that is open and begins one. Its ID is the same in a
// session and in its forks, so that their common part is recognized.
func (tn *turn) start(t skein.Time, at skein.Seq) {
	tn.end()
	if !tn.out.shows() {
		return
	}
	root := ""
	if len(tn.out.d.Events) > 0 {
		root = strconv.FormatInt(int64(tn.out.d.Events[0].Time), 10) + string(tn.out.d.Events[0].Payload)
	}
	tn.id, tn.last = uuidOf("codex turn "+strconv.FormatInt(int64(at), 10)+" "+root), ""
	tn.out.show(t, startedOut{"task_started", tn.id, int64(t) / 1000, nil})
}

// end ends the turn that is open.
func (tn *turn) end() {
	if tn.id == "" {
		return
	}
	out := completeOut{Type: "task_complete", Turn: tn.id, Completed: int64(tn.out.at) / 1000}
	if tn.last != "" {
		out.Last = &tn.last
	}
	tn.out.emit(tn.out.at, typeEvent, out)
	tn.id = ""
}

// completed reports a message to the screen in a rollout with ordinals.
func (tn *turn) completed(t skein.Time, item any) {
	tn.out.show(t, completedOut{"item_completed", tn.out.id, tn.id, item, int64(t), int64(t)})
}

type tokenCountOut struct {
	Type string          `json:"type"` // token_count
	Info tokenInfoOut    `json:"info"`
	Rate json.RawMessage `json:"rate_limits"` // null
}

type tokenInfoOut struct {
	Total  tokens `json:"total_token_usage"`
	Last   tokens `json:"last_token_usage"`
	Window *int64 `json:"model_context_window"`
}

// charges are what the requests so far consumed.
type charges struct {
	out      *output
	total    tokens
	requests map[string]skein.Usage
}

// spent writes the usage of a request.
func (c *charges) spent(t skein.Time, of *skein.Charge) {
	now := of.Usage
	var more skein.Usage
	if of.Request == "" {
		more = now
	} else {
		was := c.requests[of.Request]
		now = was.Merge(now)
		c.requests[of.Request], more = now, now.Minus(was)
	}
	last := tokensOf(more)
	if last == (tokens{}) {
		return
	}
	c.total = c.total.plus(last)
	c.out.emit(t, typeEvent, tokenCountOut{Type: "token_count", Info: tokenInfoOut{Total: c.total, Last: last}})
}

// tokensOf returns u as Codex counts.
func tokensOf(u skein.Usage) tokens {
	in := u.Prompt()
	return tokens{Input: in, Cached: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning, All: in + u.Output}
}

func (t tokens) plus(u tokens) tokens { return t.minus(tokens{}.minus(u)) }
