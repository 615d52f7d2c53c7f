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
	*thread

	settings *settings
	answers  *answers
	events   *eventLines
}

// A thread is what is known of the thread that a rollout has.
type thread struct {
	named    string // ID in the file's name; "" if there is none
	id       string
	own      *meta // the thread's session_meta; nil if it has not come yet
	bare     bool  // of the first generation
	start    skein.Time
	leading  bool   // nothing but session_meta lines so far
	provider string // of the thread that the family began with

	begun   bool
	items   int
	place   place
	prompts []int // ordinals of the prompts that were not rolled back
}

// open returns a reader for the rollout f.
func open(f interop.File) interop.Reader {
	if isIndex(f.Path) {
		return &indexReader{}
	}
	th := &thread{named: idOfName(f.Path), leading: true, place: newPlace()}
	th.id = th.named
	if th.id == "" {
		name, _, _ := strings.Cut(filepath.Base(f.Path), ".jsonl")
		th.id = "codex-" + short(name)
	}
	th.place.root = th.id
	set := &settings{thread: th}
	r := &reader{thread: th, settings: set, answers: &answers{thread: th, settings: set, names: map[string]string{}}}
	r.events = &eventLines{thread: th, settings: set, answers: r.answers}
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
		return r.events.event(l), nil
	case typeContext:
		return r.settings.turn(l), nil
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
func (th *thread) make(l line, evs ...skein.Event) interop.Made {
	var made interop.Made
	if len(evs) == 0 {
		return made
	}
	if !th.begun {
		th.begun = true
		made.Begin = []interop.Begin{th.begin(l)}
	}
	for _, e := range evs {
		made.Items = append(made.Items, th.item(e))
	}
	made.Key = th.place.key(made.Items)
	return made
}

// item counts e.
func (th *thread) item(e skein.Event) interop.Item {
	th.items++
	return interop.Item{Event: e}
}

func (th *thread) begin(l line) interop.Begin {
	if th.own != nil {
		return th.own.begin(th.id, th.start)
	}
	return (&meta{}).begin(th.id, l.Time)
}

// note keeps a line whole. It floats, because a newer version of Codex that copies
// such a line may write it with other fields, so a difference proves nothing.
func (th *thread) note(l line) interop.Made {
	made := th.make(l, skein.NewEvent(skein.KindNoted, l.Time, skein.Noted{Name: noteName(l), Data: skeinRaw(l.Payload)}))
	made.Floating = true
	return made
}

// unknown keeps an unknown line whole.
func (th *thread) unknown(l line) (made interop.Made) {
	if !l.Run {
		made = th.note(l)
	}
	made.Unknown = true
	return made
}

// odd keeps a line of a known type and unknown shape whole.
func (th *thread) odd(l line, err error) interop.Made {
	made := th.note(l)
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
