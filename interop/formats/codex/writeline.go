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

// look reads the state of the rollout that is continued.
func (w *writer) look() error {
	begun := false
	for r, err := range w.d.Known {
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
			w.file.bare, begun = l.Payload == nil, true
		}
		if l.Ordinal != nil {
			w.file.counted, w.file.next = true, *l.Ordinal+1
		}
	}
	return nil
}

// emit writes a line, unless the file has it.
func (w *writer) emit(t skein.Time, typ string, payload any) {
	if w.quiet {
		return
	}
	if t == 0 {
		t = w.at
	}
	t = max(t, w.since)
	w.at = t
	if w.file.bare {
		if typ == typeItem {
			w.out = append(w.out, interop.OutLine{Body: append(interop.JSON(payload), '\n'), Seq: w.seq})
		}
		return
	}
	l := lineOut{Timestamp: stampOf(t), Type: typ, Payload: payload}
	if w.file.counted {
		n := w.file.next
		l.Ordinal = &n
		w.file.next++
	}
	w.out = append(w.out, interop.OutLine{Body: append(interop.JSON(l), '\n'), Seq: w.seq})
}

// item writes what goes to the model.
func (w *writer) item(t skein.Time, payload any) { w.emit(t, typeItem, payload) }

// shows reports whether what is being written is also sent to the screen: not if
// Codex's own lines do so.
func (w *writer) shows() bool { return !w.ours[w.acting] }

// show writes a line for the screen.
func (w *writer) show(t skein.Time, payload any) {
	if w.shows() {
		w.emit(t, typeEvent, payload)
	}
}

// lose reports that something is lost, unless the file already has it.
func (w *writer) lose(at skein.Seq, what string) {
	if !w.quiet {
		w.losses.Add(at, what)
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

// startTurn ends the turn that is open and begins one. Its ID is the same in a
// session and in its forks, so that their common part is recognized.
func (w *writer) startTurn(t skein.Time, at skein.Seq) {
	w.endTurn()
	if !w.shows() {
		return
	}
	root := ""
	if len(w.d.Events) > 0 {
		root = strconv.FormatInt(int64(w.d.Events[0].Time), 10) + string(w.d.Events[0].Payload)
	}
	w.turn, w.last = uuidOf("codex turn "+strconv.FormatInt(int64(at), 10)+" "+root), ""
	w.show(t, startedOut{"task_started", w.turn, int64(t) / 1000, nil})
}

// endTurn ends the turn that is open.
func (w *writer) endTurn() {
	if w.turn == "" {
		return
	}
	out := completeOut{Type: "task_complete", Turn: w.turn, Completed: int64(w.at) / 1000}
	if w.last != "" {
		out.Last = &w.last
	}
	w.emit(w.at, typeEvent, out)
	w.turn = ""
}

// completed reports a message to the screen in a rollout with ordinals.
func (w *writer) completed(t skein.Time, item any) {
	w.show(t, completedOut{"item_completed", w.id, w.turn, item, int64(t), int64(t)})
}

// A namedOut is a line of session_index.jsonl.
type namedOut struct {
	ID   string `json:"id"`
	Name string `json:"thread_name"`
	Time string `json:"updated_at"`
}

// named gives the thread a name.
func (w *writer) named(t skein.Time, title string) {
	l := namedOut{w.id, strings.TrimSpace(utf8(title)), t.Std().UTC().Format(time.RFC3339Nano)}
	if l.Name != "" && isUUID().MatchString(w.id) {
		w.names = append(w.names, interop.OutLine{Body: append(skein.MustJSON(l), '\n'), Seq: w.seq})
	}
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

// spent writes the usage of a request.
func (w *writer) spent(t skein.Time, c *skein.Charge) {
	now := c.Usage
	var more skein.Usage
	if c.Request == "" {
		more = now
	} else {
		was := w.charged[c.Request]
		now = was.Merge(now)
		w.charged[c.Request], more = now, now.Minus(was)
	}
	last := tokensOf(more)
	if last == (tokens{}) {
		return
	}
	w.total = w.total.plus(last)
	w.emit(t, typeEvent, tokenCountOut{Type: "token_count", Info: tokenInfoOut{Total: w.total, Last: last}})
}

// tokensOf returns u as Codex counts.
func tokensOf(u skein.Usage) tokens {
	in := u.Prompt()
	return tokens{Input: in, Cached: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning, All: in + u.Output}
}

func (t tokens) plus(u tokens) tokens { return t.minus(tokens{}.minus(u)) }
