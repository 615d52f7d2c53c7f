package replay

import (
	"io"
	"iter"

	"github.com/skein-dev/skein"
)

// A Turn is a user message and all that came of it.
type Turn struct {
	Session skein.SessionID
	N       int           // 1 for the first; 0 for what comes before it
	Events  []skein.Event // the said event that opens it first
	Damaged int           // lines among them that could not be read
	Torn    bool          // the log ends in the middle of a line: more may come
}

// Turns yields the turns of the log r as they end: at the next one, at the
// next session, at the end of the log. Only one is in memory at a time. What
// precedes the first, if anything, is turn 0. Turns are numbered as
// [skein.Entry].Turn is, those of a fork from where its parent's end.
//
// It yields at most one error, last, as [Read] does.
func Turns(r io.Reader) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		t := turnBuilder{yield: yield}
		for it, err := range Read(r) {
			if err != nil {
				if t.close() {
					yield(Turn{}, err)
				}
				return
			}
			if !t.item(it) {
				return
			}
		}
		t.close()
	}
}

type turnBuilder struct {
	yield  func(Turn, error) bool
	cur    Turn
	fork   skein.SessionID // whose log this is; its parents come first
	spoken map[string]bool // messages of which a piece was already seen
}

// item returns false if the caller has stopped the iteration.
func (t *turnBuilder) item(it LogItem) bool {
	switch {
	case it.Head != nil:
		return t.begin(it.Head)
	case it.Damage != "":
		t.cur.Damaged++
		t.cur.Torn = it.Torn
	case it.Event != nil:
		if t.opens(it.Event) {
			if !t.close() {
				return false
			}
			t.cur.N++
		}
		t.cur.Events = append(t.cur.Events, *it.Event)
	}
	return true
}

func (t *turnBuilder) begin(h *Header) bool {
	if !t.close() {
		return false
	}
	whole := h.For
	if whole == "" {
		whole = h.Session
	}
	if whole != t.fork || h.First == 1 {
		t.fork, t.spoken, t.cur.N = whole, map[string]bool{}, 0
	}
	t.cur.Session = h.Session
	return true
}

// opens reports whether e begins a turn: a message that a person typed, not a
// further piece of one.
func (t *turnBuilder) opens(e *skein.Event) bool {
	if e.Kind != skein.KindSaid {
		return false
	}
	m, err := skein.Decode[skein.Message](*e)
	if err != nil || m.ID != "" && t.spoken[m.ID] {
		return false
	}
	if m.ID != "" {
		t.spoken[m.ID] = true
	}
	return m.Typed()
}

// close yields the turn that ends here, if there is anything in it.
func (t *turnBuilder) close() bool {
	done := t.cur
	t.cur.Events, t.cur.Damaged, t.cur.Torn = nil, 0, false
	return len(done.Events) == 0 && done.Damaged == 0 || t.yield(done, nil)
}
