package codex

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader turns the lines of one rollout into events.
type reader struct {
	named    string // ID in the file's name; "" if there is none
	id       string // thread's ID
	own      *meta  // the thread's session_meta; nil if it has not come yet
	bare     bool   // of the first generation
	start    skein.Time
	leading  bool   // nothing but session_meta lines so far
	provider string // of the thread that the family began with
	begun    bool
	items    int

	place   place
	model   string
	cwd     string
	context string // newest turn_context, unchanged
	prompts []int  // ordinals of the prompts that were not rolled back
	total   *tokens
	names   map[string]string // call ID → tool
	group   group
}

// maxNames is the number of calls whose tool is remembered: more than are ever open
// at a time.
const maxNames = 10000

// open returns a reader for the rollout f.
func open(f interop.File) interop.Reader {
	if isIndex(f.Path) {
		return &indexReader{}
	}
	r := &reader{named: idOfName(f.Path), leading: true, place: newPlace(), names: map[string]string{}}
	r.id = r.named
	if r.id == "" {
		name, _, _ := strings.Cut(filepath.Base(f.Path), ".jsonl")
		r.id = "codex-" + short(name)
	}
	r.place.root = r.id
	return r
}

// Read implements [interop.Reader]; the error says that the record is not a JSON
// object with a payload.
func (r *reader) Read(in interop.Line) (interop.Made, error) {
	l, err := split(in.Body)
	if err != nil {
		return interop.Made{}, err
	}
	l.Run = in.Run
	if l.Type == typeMeta {
		return r.meta(l)
	}
	r.leading = false
	switch l.Type {
	case typeItem:
		return r.response(l), nil
	case typeEvent:
		return r.event(l), nil
	case typeContext:
		return r.turn(l), nil
	case typeCompact:
		return r.compact(l), nil
	case typeAgents:
		return r.agents(l), nil
	case typeState, "world_state", "token_usage_record":
		return r.note(l), nil
	}
	return r.unknown(l), nil
}

// make returns what a record makes: these events, and the session if they are
// its first.
func (r *reader) make(l line, evs ...skein.Event) interop.Made {
	var made interop.Made
	if len(evs) == 0 {
		return made
	}
	if !r.begun {
		r.begun = true
		made.Begin = []interop.Begin{r.begin(l)}
	}
	for _, e := range evs {
		made.Items = append(made.Items, r.item(e))
	}
	made.Key = r.place.key(made.Items)
	return made
}

// item counts e.
func (r *reader) item(e skein.Event) interop.Item {
	r.items++
	return interop.Item{Event: e}
}

func (r *reader) begin(l line) interop.Begin {
	if r.own != nil {
		return r.own.begin(r.id, r.start)
	}
	return (&meta{}).begin(r.id, l.Time)
}

// note keeps a line whole. It floats, because a newer version of Codex that copies
// such a line may write it with other fields, so a difference proves nothing.
func (r *reader) note(l line) interop.Made {
	made := r.make(l, skein.NewEvent(skein.KindNoted, l.Time, skein.Noted{Name: noteName(l), Data: skeinRaw(l.Payload)}))
	made.Floating = true
	return made
}

// unknown keeps an unknown line whole.
func (r *reader) unknown(l line) (made interop.Made) {
	if !l.Run {
		made = r.note(l)
	}
	made.Unknown = true
	return made
}

// odd keeps a line of a known type and unknown shape whole.
func (r *reader) odd(l line, err error) interop.Made {
	made := r.note(l)
	made.Damage = noteName(l) + ": " + plain(err).Error()
	return made
}

// maxName is the longest name of a noted event, in bytes.
const maxName = 100

// noteName returns the name of the noted event that a line makes:
// codex:event_msg/task_started.
func noteName(l line) string {
	name := Name + ":" + l.Type
	if l.Sub != "" {
		name += "/" + l.Sub
	}
	if l.Type == "" && l.Sub == "" {
		name += "unknown"
	}
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	return name
}

// skeinRaw returns v as a part of a payload, however deep it is; nil if it is
// null.
func skeinRaw(v jsontext.Value) json.RawMessage {
	if loose.IsNull(v) {
		return nil
	}
	return json.RawMessage(v)
}

// without returns the object v without the named members, the others unchanged and in
// order.
func without(v jsontext.Value, names ...string) json.RawMessage {
	o, err := loose.Parse(v)
	if err != nil {
		return skeinRaw(v)
	}
	return json.RawMessage(o.Without(names...))
}

// first returns a, or b if a is empty.
func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
