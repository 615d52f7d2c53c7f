package interop

import (
	"io"
	"iter"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
)

// A Draft is a session for a format to write.
type Draft struct {
	Session skein.Session
	Events  []skein.Event // all that it shows, in order, including a fork's parent's; the text of a long message is in Entries only

	// After says that the session continued here after it was read from, or
	// written to, the source Path and Name, which has the records Known:
	// only what came after this event is to be written. Lines that change
	// (a time of the last change, say) are returned again, with their new
	// content. It is 0 for a session that is written for the first time.
	After skein.Seq
	Known iter.Seq2[skein.Record, error]
	Path  string // below the program's home, with slashes
	Name  string // of the source, in a unit

	// Tells returns the last message or compaction that a record of Known
	// covers, 0 if it covers none, and whether the session still continues from
	// it: not if it went back to before it. Call it once for each record, in
	// order. nil without Known.
	Tells func(skein.Record) (at skein.Seq, still bool)

	// Other returns where another session, a parent or a child, is written or
	// was read from. false says that it is not there.
	Other func(skein.SessionID) (Spot, bool)

	// Owner returns the session that the event was said in: this one or, for what a
	// fork begins with, one that it is a fork of. A format whose programs recognize a
	// copy by the IDs of what is in it derives these from it.
	Owner func(skein.Seq) skein.SessionID

	// Blob returns the bytes of a blob that Events refer to.
	Blob func(skein.Hash) ([]byte, error)

	// Beside returns the bytes of a small file below Home, by its path there
	// with slashes, such as the program's settings; it returns false as
	// File.Beside does.
	Beside func(rel string) ([]byte, bool)

	Dir  string // the session's working directory as a program in it sees it: symbolic links followed if it is there
	Home string // of the program, absolute: what is written goes into it
	Now  time.Time

	// Places are where the program looks below Home, absolute, if it is to
	// find what is written; empty for a folder that the user named.
	Places []string

	Memo map[string]any              // see [Once]; the engine sets it
	told map[string][]callState      // what tool events say of each call, in order
	long map[skein.Seq]skein.Message // the long messages; Events have them without their text
}

// Once returns what look returns: for several sessions that are written to the same
// home in one go, what it returned for the first of them. A format uses it to look
// at a database that it is to add to, and notes there what it has made: the rows
// may be inserted only after the next session is made. name identifies what is
// looked at.
//
// The error is look's.
func Once[T any](d Draft, name string, look func() (T, error)) (T, error) {
	if t, ok := d.Memo[name].(T); ok {
		return t, nil
	}
	t, err := look()
	if err == nil && d.Memo != nil {
		d.Memo[name] = t
	}
	return t, err
}

// Entries returns the messages that the events add up to.
//
// Errors as [skein.Entries].
func (d Draft) Entries() ([]skein.Entry, error) { return d.EntriesOf(len(d.Events)) }

// EntriesOf returns the messages that the first n events add up to.
//
// Errors as [skein.Entries].
func (d Draft) EntriesOf(n int) ([]skein.Entry, error) {
	var f skein.EntryBuilder
	for _, e := range d.Events[:n] {
		if m, ok := d.long[e.Seq]; ok {
			f.AddMessage(e, m)
		} else if err := f.Add(e); err != nil {
			return nil, err
		}
	}
	return f.Entries(), nil
}

// Release gives up the text of long messages, once Entries has returned them and is not
// to be called again: then a format can drop each message when it is written.
func (d Draft) Release() { clear(d.long) }

// longMessage is the longest message or text that is held more than once, in bytes.
const longMessage = 64 << 10

// callState is a state of a call, and where it is told.
type callState struct {
	seq   skein.Seq
	state skein.CallState
}

// Unanswered returns what stands in place of the result of a call that e makes, which
// has none. An older call may have had the same ID.
func (d Draft) Unanswered(e *skein.Entry, call string) skein.Text {
	if all := d.told[call]; len(all) > 0 && all[len(all)-1].seq > e.Seq {
		return all[len(all)-1].state.Unanswered()
	}
	return skein.CallState("").Unanswered()
}

// Append adds the next event. A long message is held once: not both as JSON and as text.
func (d *Draft) Append(e skein.Event) {
	if e.Kind == skein.KindSaid && len(e.Payload) > longMessage {
		if m, err := skein.Decode[skein.Message](e); err == nil {
			if d.long == nil {
				d.long = map[skein.Seq]skein.Message{}
			}
			d.long[e.Seq], e.Payload = m, skein.MustJSON(wordless(m))
		}
	}
	if e.Kind == skein.KindTool {
		if t, err := skein.Decode[skein.ToolState](e); err == nil {
			if d.told == nil {
				d.told = map[string][]callState{}
			}
			d.told[t.Call] = append(d.told[t.Call], callState{e.Seq, t.State})
		}
	}
	d.Events = append(d.Events, e)
}

// wordless returns m without its text.
func wordless(m skein.Message) skein.Message {
	m.Meta, m.Parts = nil, slices.Clone(m.Parts)
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Text, p.Raw, p.Meta = "", nil, nil
		if p.Call != nil {
			p.Call = &skein.Call{ID: p.Call.ID, Name: p.Call.Name}
		}
		if p.Result != nil {
			p.Result = &skein.Result{CallID: p.Result.CallID, Name: p.Result.Name, Failed: p.Result.Failed}
		}
	}
	return m
}

// WentBack reports whether the session went back since its source was written.
func (d Draft) WentBack() bool {
	return d.After > 0 && slices.ContainsFunc(d.Events, func(e skein.Event) bool { return e.Kind == skein.KindRewound && e.Seq > d.After })
}

// A Spot is the location of a session in a program's files.
type Spot struct {
	ID   string `json:"id"`             // its ID in that program
	Path string `json:"path"`           // below the program's home, with slashes: a file or unit
	Name string `json:"name,omitempty"` // of the source, in a unit
}

// A Written is a session as a format writes it.
type Written struct {
	ID     string       // of the session, in that program
	Texts  []SourceText // the session's own first
	Losses Losses
}

// A SourceText is what a source is to hold: all of it or, with Draft.After, what is
// new in it and what replaces existing lines.
type SourceText struct {
	Path  string // below the program's home, with slashes: of a file or unit
	Name  string // of the source, in a unit
	Lines []OutLine

	// Gone is the rows of Known, unchanged, to be removed from a database:
	// those that a session went back over. In a folder, a file has no more
	// lines than its own line says.
	Gone [][]byte

	// Log says that Path is a file of lines, shared by all sessions, which its
	// program only ever appends to: the lines are appended, except those that
	// are there already. It is never a session's own text.
	Log bool

	As  TextKind     // what Path is, if its name does not say; only the engine sets it
	Was *lines.Lines // what the source has now, which is to be replaced; nil if it is not there; only the engine sets it
}

// A TextKind says whether a text is a file or goes into a unit.
type TextKind int

// From what the name of a text says to what is known of it.
const (
	ByName TextKind = iota
	AFile
	AUnit
)

// An OutLine is a line of a source.
type OutLine struct {
	// Body is the bytes: for a file with the line feed, for a unit a line as
	// the unit gives it. A row without a rowid gets the next one.
	Body lines.Rope

	// Seq is the last event that the line covers; 0, or the previous line's,
	// if it covers none.
	Seq skein.Seq
}

// A Part is a stream to be put into a unit.
type Part struct {
	Name  string
	Lines io.Reader

	// Was, if not nil, is what the source has: these rows or files must be
	// unchanged, and Lines may change them. Without it nothing that exists
	// may be changed.
	Was io.Reader

	// Gone, if not nil, is rows of Was that are to be removed, or a line of
	// each of its files that is to be removed.
	Gone io.Reader
}

// Losses are what a format cannot hold, in words for people, and how often.
type Losses []Loss

// A Loss is one kind of loss.
type Loss struct {
	What  string    `json:"what"` // such as "reasoning: left out"
	Count int       `json:"count"`
	First skein.Seq `json:"first,omitempty"` // the first event that lost something
}

// Add notes that an event lost something.
func (l *Losses) Add(seq skein.Seq, what string) {
	for i := range *l {
		if (*l)[i].What == what {
			(*l)[i].Count++
			return
		}
	}
	*l = append(*l, Loss{what, 1, seq})
}
