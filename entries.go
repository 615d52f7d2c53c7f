package skein

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// Entries returns the messages of events, in order of their first event: the pieces
// of each message put together, amendments applied, withdrawn messages left out.
// events are a session's, in order, a fork's with those of its parent; some may be
// missing (see [EntryBuilder]).
//
// Pieces are said events with the same Message.ID, whatever comes between them,
// unless all earlier ones were taken back or withdrawn by then: what is said again
// is another message. A part that a later piece repeats is kept once: a call or
// result by its ID, a text or reasoning if the later one begins with the earlier
// one; other parts are appended. The pieces' usage is merged by [Usage.Merge]; for
// every other field, the latest value that is set counts.
//
// A message's Turn counts the messages that a person typed, in the order of
// the log, taken back or not: no rewind or amendment ever changes it.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func Entries(events []Event) ([]Entry, error) {
	var f EntryBuilder
	for _, e := range events {
		if err := f.Add(e); err != nil {
			return nil, err
		}
	}
	return f.Entries(), nil
}

// An EntryBuilder builds messages from events that are added one by one, in order
// of their seq. Its zero value is ready to use.
//
// A store that needs only the newest few messages need not read the whole session:
// it adds the said events of these messages, every piece of each, with
// [EntryBuilder.AddAt], and among them, in order of seq, all rewound, compacted and
// amended events of the session.
type EntryBuilder struct {
	said    []piece
	compact []compaction
	line    liveLine
	ids     map[string]int // message ID → index in said of its newest piece
	turn    int
	light   bool // keep only what a LiveMessages needs of each message
}

// A piece is the part of a message that one said event has.
type piece struct {
	seq     Seq
	time    Time
	turn    int
	first   int // index in said of the message's first piece
	before  int // index in said of the previous piece with the same message ID; -1 if there is none
	message Message
	typed   bool // of a first piece: a person typed it
	damaged bool // see Event.IsPlaceholder
	gone    bool
}

// A compaction is a compacted event.
type compaction struct {
	seq  Seq
	what Compacted
	gone bool
}

// Add adds the event e, whose seq must be greater than those before.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func (f *EntryBuilder) Add(e Event) error { return f.add(e, -1) }

// AddAt is like Add, but the caller, which leaves out earlier events, says which
// turn a said event belongs to, as [Added].Turn did. Errors as [EntryBuilder.Add].
func (f *EntryBuilder) AddAt(e Event, turn int) error { return f.add(e, turn) }

// AddMessage is like Add for a said event whose payload the caller has already
// decoded as m: e.Payload is ignored.
func (f *EntryBuilder) AddMessage(e Event, m Message) { f.say(e, m, -1) }

func (f *EntryBuilder) add(e Event, turn int) error {
	switch e.Kind {
	case KindSaid:
		m, err := Decode[Message](e)
		if err == nil {
			f.say(e, m, turn)
		}
		return err
	case KindRewound:
		r, err := Decode[Rewound](e)
		if err == nil {
			f.line.add(e.Seq, r.To)
		}
		return err
	case KindCompacted:
		c, err := Decode[Compacted](e)
		if err == nil {
			f.compact = append(f.compact, compaction{seq: e.Seq, what: c})
		}
		return err
	case KindAmended:
		a, err := Decode[Amended](e)
		if err == nil {
			err = f.amend(a)
		}
		return err
	}
	return nil
}

func (f *EntryBuilder) say(e Event, m Message, turn int) {
	p := piece{seq: e.Seq, time: e.Time, first: len(f.said), before: -1, message: m, damaged: e.IsPlaceholder()}
	first, isPiece := f.joins(m.ID)
	if isPiece {
		p.first = first
	}
	if m.ID != "" {
		if f.ids == nil {
			f.ids = map[string]int{}
		}
		if i, ok := f.ids[m.ID]; ok {
			p.before = i
		}
		f.ids[m.ID] = len(f.said)
	}
	if p.typed = !isPiece && m.Typed(); p.typed {
		f.turn++
	}
	if turn >= 0 {
		f.turn = turn
	}
	p.turn = f.turn
	if f.light {
		p.message = inShort(&m)
	}
	f.said = append(f.said, p)
}

// joins returns the first piece of the message that a next piece with this ID
// belongs to: the newest live message with the ID.
func (f *EntryBuilder) joins(id string) (first int, ok bool) {
	i, ok := f.ids[id]
	if id == "" || !ok {
		return 0, false
	}
	for ; i >= 0; i = f.said[i].before {
		if p := &f.said[i]; !p.gone && f.line.on(p.seq) {
			return p.first, true
		}
	}
	return 0, false
}

// amend replaces a message or compaction by its new payload. An amendment of
// another event, or of one that was not added, changes no entry.
func (f *EntryBuilder) amend(a Amended) error {
	if i := sort.Search(len(f.said), func(i int) bool { return f.said[i].seq >= a.Seq }); i < len(f.said) && f.said[i].seq == a.Seq {
		p := &f.said[i]
		err := replace(&p.message, &p.gone, a)
		if f.light {
			p.message = inShort(&p.message)
		}
		return err
	}
	if i := sort.Search(len(f.compact), func(i int) bool { return f.compact[i].seq >= a.Seq }); i < len(f.compact) && f.compact[i].seq == a.Seq {
		c := &f.compact[i]
		return replace(&c.what, &c.gone, a)
	}
	return nil
}

func replace[T any](to *T, gone *bool, a Amended) error {
	*gone = a.Withdrawn
	if a.Withdrawn || len(a.Payload) == 0 {
		return nil
	}
	var now T
	if err := json.Unmarshal(a.Payload, &now); err != nil {
		return Invalidf("amended event %d: payload: %v", a.Seq, err)
	}
	*to = now
	return nil
}

// Entries returns the messages of the events added so far, as [Entries] does.
// A later Add does not change what it returned.
func (f *EntryBuilder) Entries() []Entry {
	spans := f.line.spans(math.MaxInt64)
	covered, keep := f.covered(spans)
	entries := make([]Entry, 0, len(f.said))
	at := make(map[int]int, len(f.ids)) // first piece → index in entries
	own := map[int]bool{}               // entries whose parts are no longer shared with a piece
	for _, p := range f.said {
		if p.gone {
			continue
		}
		on := within(spans, p.seq)
		if i, ok := at[p.first]; ok {
			if !own[i] {
				entries[i].Message.Parts, own[i] = slices.Clone(entries[i].Message.Parts), true
			}
			entries[i].join(p)
			entries[i].Rewound, entries[i].Damaged = entries[i].Rewound && !on, entries[i].Damaged || p.damaged
			continue
		}
		at[p.first] = len(entries)
		entries = append(entries, Entry{Seq: p.seq, End: p.seq, Time: p.time, Turn: p.turn, Message: p.message, Rewound: !on, Damaged: p.damaged})
	}
	for i := range entries {
		entries[i].Compacted = entries[i].End <= covered && !slices.Contains(keep, entries[i].Seq)
	}
	return entries
}

// A Compaction is a compacted event, as it was amended.
type Compaction struct {
	Seq Seq
	Compacted
}

// Compactions returns the compactions of the events added so far that were not
// withdrawn, in order, even if they were rewound or failed.
func (f *EntryBuilder) Compactions() (all []Compaction) {
	for _, c := range f.compact {
		if !c.gone {
			all = append(all, Compaction{c.seq, c.what})
		}
	}
	return all
}

// covered returns the last seq that the newest compaction in spans covers, or 0 if
// there is none, and which messages it keeps.
func (f *EntryBuilder) covered(spans []SeqRange) (to Seq, keep []Seq) {
	if c := f.newestCompaction(spans); c != nil {
		return c.what.To, c.what.Keep
	}
	return 0, nil
}

func (f *EntryBuilder) newestCompaction(spans []SeqRange) *compaction {
	for i := len(f.compact) - 1; i >= 0; i-- {
		if c := &f.compact[i]; !c.gone && !c.what.Failed && within(spans, c.seq) {
			return c
		}
	}
	return nil
}

// maxLookBack is how many parts, from the newest, a part of a later piece is
// compared with: more than any real message has, but few enough that a message of a
// hundred thousand pieces is put together quickly.
const maxLookBack = 256

// join adds the piece p to e, whose parts it may change.
func (e *Entry) join(p piece) {
	e.End = p.seq
	m, next := &e.Message, &p.message
	m.Parts = joinParts(m.Parts, next.Parts)
	for _, f := range []struct {
		to   *string
		from string
	}{{&m.Provider, next.Provider}, {&m.Model, next.Model}, {&m.Agent, next.Agent}, {&m.Request, next.Request}, {&m.Tier, next.Tier}, {&m.Stop, next.Stop}} {
		*f.to = cmp.Or(f.from, *f.to)
	}
	m.Synthetic = m.Synthetic && next.Synthetic
	m.Interrupted = next.Interrupted
	if next.Error != nil {
		m.Error = next.Error
	}
	if len(next.Meta) > 0 {
		m.Meta = next.Meta
	}
	switch {
	case m.Usage == nil:
		m.Usage = next.Usage
	case next.Usage != nil:
		u := m.Usage.Merge(*next.Usage)
		m.Usage = &u
	}
}

// joinParts returns the parts of a message that has the parts had, followed by next.
// It changes had but not next.
func joinParts(had, next []Part) []Part {
	all := had
	from := max(0, len(had)-maxLookBack)
	var taken [maxLookBack]bool
	for _, p := range next {
		i := from
		for i < len(had) && (taken[i-from] || !repeats(p, all[i])) {
			i++
		}
		if i == len(had) {
			all = append(all, p)
			continue
		}
		taken[i-from] = true
		all[i] = later(all[i], p)
	}
	return all
}

// repeats reports whether p, of a later piece, is q again, or an extension of q.
func repeats(p, q Part) bool {
	if p.Kind != q.Kind {
		return false
	}
	switch {
	case p.Kind == PartCall:
		return p.Call != nil && q.Call != nil && p.Call.ID == q.Call.ID && p.Call.ID != ""
	case p.Kind == PartResult:
		return p.Result != nil && q.Result != nil && p.Result.CallID == q.Result.CallID && p.Result.CallID != ""
	case p.Kind == PartText || p.Kind == PartReasoning || p.Kind == PartSummary:
		// A part with a signature is whole: only the same one repeats it.
		return strings.HasPrefix(string(p.Text), string(q.Text)) &&
			(bytes.Equal(p.Raw, q.Raw) || len(q.Raw) == 0 && q.Text != "")
	}
	return p.Text == q.Text && bytes.Equal(p.Raw, q.Raw) && reflect.DeepEqual(p.File, q.File)
}

// later merges two versions of a part: q, and p, which came later.
func later(q, p Part) Part {
	switch {
	case p.Kind == PartCall && len(p.Call.Input) == 0:
		c := *p.Call
		c.Input = q.Call.Input
		p.Call = &c
	case p.Kind == PartResult && p.Result.Text == "" && len(p.Result.Files) == 0 && len(p.Result.Raw) == 0:
		p.Result = q.Result
	}
	if p.Start == 0 {
		p.Start = q.Start
	}
	if p.End == 0 {
		p.End = q.End
	}
	if len(p.Meta) == 0 {
		p.Meta = q.Meta
	}
	return p
}

// A LiveMessages determines from events which messages of a session are live, that
// is, neither taken back nor withdrawn. These are the messages that
// [Session.Messages] counts and that [Entries] does not mark. Its zero value is
// ready to use.
type LiveMessages struct{ folder EntryBuilder }

// Add adds the event e, whose seq must be greater than those before. Only said,
// rewound and amended events matter. If not all of them are added, all rewinds must
// be, and of each message either all pieces and amendments or none.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func (s *LiveMessages) Add(e Event) error {
	s.folder.light = true
	return s.folder.Add(e)
}

// Joins reports whether the next event, if it is a said event with this message ID,
// is a further piece of a live message.
func (s *LiveMessages) Joins(id string) bool {
	_, ok := s.folder.joins(id)
	return ok
}

// Shown returns Messages, Turns, First and LastPrompt of the live messages.
func (s *LiveMessages) Shown() (x Shown) {
	for _, m := range s.messages() {
		if !m.stands {
			continue
		}
		x.Messages++
		if m.typed {
			x.Turns++
			x.LastPrompt = cmp.Or(m.words, x.LastPrompt)
			x.First = cmp.Or(x.First, x.LastPrompt)
		}
	}
	return x
}

// A liveMessage is a message that was said.
type liveMessage struct {
	typed, stands bool
	words         string // of the first live piece
}

// messages returns the messages in order of their first events.
func (s *LiveMessages) messages() []liveMessage {
	f := &s.folder
	spans := f.line.spans(math.MaxInt64)
	all := make([]liveMessage, 0, len(f.said))
	at := make([]int, len(f.said)) // first piece → index in all
	for i := range f.said {
		p := &f.said[i]
		if p.first == i {
			at[i] = len(all)
			all = append(all, liveMessage{typed: p.typed})
		}
		m := &all[at[p.first]]
		if within(spans, p.seq) && !p.gone && !m.stands {
			m.stands, m.words = true, p.message.Words()
		}
	}
	return all
}

// inShort returns what a LiveMessages keeps of m: its first words.
func inShort(m *Message) Message {
	return Message{ID: m.ID, Parts: []Part{TextPart(m.Prompt())}}
}

// A liveLine determines which events are in the context after the last one: all
// that were not rewound. It is computed from the rewound events alone.
type liveLine struct {
	rewinds []rewind // in order of at
}

type rewind struct{ at, to Seq }

// add adds a rewind: the event at goes back to the seq to. A rewind that does not
// name an earlier event has no effect.
func (l *liveLine) add(at, to Seq) {
	l.rewinds = append(l.rewinds, rewind{at, max(0, min(to, at-1))})
}

// A SeqRange is the seqs after From, up to and including To.
type SeqRange struct{ From, To Seq }

// OnLine returns the ranges of a session, up to the seq last, that are in the
// context, in order: all that was not rewound. events are in order and must include
// all rewound events up to last; others do not matter.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func OnLine(events []Event, last Seq) ([]SeqRange, error) {
	var l liveLine
	for _, e := range events {
		if e.Kind == KindRewound && e.Seq <= last {
			to, err := Decode[Rewound](e)
			if err != nil {
				return nil, err
			}
			l.add(e.Seq, to.To)
		}
	}
	return l.spans(last), nil
}

// Unrewound returns the events that are in the context, without the rewinds
// themselves. events are a session's, in order.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func Unrewound(events []Event) ([]Event, error) {
	if len(events) == 0 {
		return nil, nil
	}
	spans, err := OnLine(events, events[len(events)-1].Seq)
	if err != nil {
		return nil, err
	}
	var on []Event
	for _, e := range events {
		if e.Kind != KindRewound && within(spans, e.Seq) {
			on = append(on, e)
		}
	}
	return on, nil
}

// spans returns the ranges of seqs on the line that ends at last, in order.
func (l *liveLine) spans(last Seq) []SeqRange {
	var back []SeqRange
	for last > 0 {
		i := sort.Search(len(l.rewinds), func(i int) bool { return l.rewinds[i].at > last })
		if i == 0 {
			back = append(back, SeqRange{0, last})
			break
		}
		r := l.rewinds[i-1]
		if last > r.at {
			back = append(back, SeqRange{r.at, last})
		}
		last = r.to
	}
	slices.Reverse(back)
	return back
}

// on reports whether seq is on the line that continues after the last event.
func (l *liveLine) on(seq Seq) bool {
	if n := len(l.rewinds); n == 0 || seq > l.rewinds[n-1].at {
		return true
	}
	return within(l.spans(math.MaxInt64), seq)
}

// within reports whether seq is in one of spans, which are in order.
func within(spans []SeqRange, seq Seq) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].To >= seq })
	return i < len(spans) && spans[i].From < seq
}
