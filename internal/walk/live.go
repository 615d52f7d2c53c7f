package walk

import (
	"slices"

	"github.com/skein-dev/skein"
)

// A LiveLog is what [Live], [Joins] and the methods of [LiveState] need from a
// store. Everything but Readable and Rewinds is answered from rows, not payloads.
// segs are newest first; an amendment applies only to events of its own segment.
type LiveLog interface {
	// Rewinds returns the rewound events of segs, which are oldest first, in
	// order. A damaged one has no payload.
	Rewinds(segs Segments) ([]skein.Event, error)

	// Readable returns the event at a seq in segs. A damaged one has no
	// payload.
	Readable(segs Segments, seq skein.Seq) (skein.Event, error)

	// PiecesOf returns the said events in segs of the message with an ID, in any
	// order, and PieceAt the said event at a seq, if there is one.
	PiecesOf(segs Segments, message string) ([]Piece, error)
	PieceAt(segs Segments, seq skein.Seq) ([]Piece, error)

	// Gone returns the said events of segs in r whose last amendment leaves no
	// message, in any order.
	Gone(segs Segments, r skein.SeqRange) ([]Piece, error)

	// AnyGone reports whether an amendment in segs leaves no message.
	AnyGone(segs Segments) (bool, error)

	// Continued returns the IDs of the messages that have a piece other than their
	// first in r of segs, each once.
	Continued(segs Segments, r skein.SeqRange) ([]string, error)

	// Amendments returns the amendments in segs of the events at seqs, in any order.
	Amendments(segs Segments, seqs []skein.Seq) ([]Amendment, error)

	// LastPrompt returns the last said event in r of seg that begins a user message
	// and is not Gone, or has an ID; FirstPrompt returns the first. If there is
	// none, they return no pieces.
	LastPrompt(seg Segment, r skein.SeqRange) ([]Piece, error)
	FirstPrompt(seg Segment, r skein.SeqRange) ([]Piece, error)

	// Counts returns, for each of seqs in segs, how many messages and turns had
	// begun up to there, taken back or not.
	Counts(segs Segments, seqs []skein.Seq) ([]skein.Counts, error)
}

// A Piece is a said event, as its row has it.
type Piece struct {
	Seq     skein.Seq
	Message string // message ID, in the form that the store searches for; "" if it has none
	More    bool   // it is a further piece of a message
	Typed   bool   // a turn begins with it
}

// An Amendment is the seq of an amended event, and of the event that it amends.
type Amendment struct {
	Seq, Amends skein.Seq
	Empty       bool // it leaves no message there
}

// A LiveState is the state of a session's live messages. A stored one is updated when
// messages are taken back, withdrawn or changed: the cost of [LiveState.Rewind] and
// [LiveState.Amend] depends on how much that touches, not on the length of the
// session. They read only the payloads of the first and last words and, for a redo,
// those of rewinds; they skip what is damaged, and set Hurt.
type LiveState struct {
	skein.Counts             // live messages and turns
	First, LastPrompt string // as in [skein.Session]
	Prompts
	Gaps []skein.SeqRange // seqs that were taken back, in order
	Hurt bool             // something damaged would have mattered

	ever skein.Counts // set by Live
}

// StateOf returns the LiveState of a session as it is stored.
func StateOf(s *skein.Session, p Prompts, gaps []skein.SeqRange) LiveState {
	return LiveState{Counts: skein.Counts{Messages: s.Messages, Turns: s.Turns}, First: s.First, LastPrompt: s.LastPrompt, Prompts: p, Gaps: gaps}
}

// Shown returns the argument for [skein.Session.SetShown].
func (x *LiveState) Shown() skein.Shown {
	return skein.Shown{Messages: x.Messages, Turns: x.Turns, First: x.First, LastPrompt: x.LastPrompt}
}

// Show sets in to what x, which is from [Live] or [LiveWith], says about what a fork
// shows.
func (x *LiveState) Show(to *skein.Shown) {
	to.Messages, to.Turns, to.First, to.LastPrompt = x.Messages, x.Turns, x.First, x.LastPrompt
	to.Undone = minus(x.ever, x.Counts)
}

// Retell updates what people read in s after its events have changed: the words of
// live messages from x, everything else from sum, the session folded from its events.
// Counts do not change. For each text that a fork also shows, it sets texts[old] to
// the new one.
func (x *LiveState) Retell(s *skein.Session, sum skein.Session, texts map[string]string) {
	for was, now := range map[string]string{s.Project: sum.Project, s.Cwd: sum.Cwd, s.Agent: sum.Agent, s.Model: sum.Model} {
		texts[was] = now
	}
	s.Title, s.TitleBy, s.Description, s.Surface, s.Project, s.Cwd = sum.Title, sum.TitleBy, sum.Description, sum.Surface, sum.Project, sum.Cwd
	s.Agent, s.Profile, s.Provider, s.Model, s.Status, s.Tags = sum.Agent, sum.Profile, sum.Provider, sum.Model, sum.Status, sum.Tags
	s.First, s.LastPrompt, s.Parent, s.Origin, s.Open, s.Activity = x.First, x.LastPrompt, sum.Parent, sum.Origin, sum.Open, sum.Activity
	if s.Key != "" {
		s.Key = sum.Key
	}
}

// Prompts are the seqs of the messages whose words a session has as its first words
// and last prompt; 0 if that is not known, or there is none.
type Prompts struct{ FirstAt, LastAt skein.Seq }

// Say updates p for the message m, which is not a further piece, said at seq; first
// is what [skein.Session.First] was before.
func (p *Prompts) Say(m *skein.Message, seq skein.Seq, first string) {
	if !m.Typed() || m.Prompt() == "" {
		return
	}
	if p.LastAt = seq; first == "" {
		p.FirstAt = seq
	}
}

// Live computes the LiveState of a session after its event at last, from its events
// alone. Errors are the log's.
func Live(l LiveLog, segs Segments, last skein.Seq) (LiveState, error) {
	x, err := Undone(l, segs, last)
	if err != nil {
		return x, err
	}
	hurt := x.Hurt
	x, err = LiveWith(l, segs, x.Gaps, last)
	x.Hurt = x.Hurt || hurt
	return x, err
}

// LiveWith is Live if it is known what was taken back. Errors are the log's.
func LiveWith(l LiveLog, segs Segments, gaps []skein.SeqRange, last skein.Seq) (x LiveState, err error) {
	x.Gaps = gaps
	s := look{log: l, segs: ended(segs, last), state: &x}
	line := spans(gaps, last)
	n, err := s.begun(line)
	if err != nil {
		return x, err
	}
	if x.ever, err = s.begun([]skein.SeqRange{{From: 0, To: last}}); err != nil {
		return x, err
	}
	gone, err := s.gone(line, nil, gaps)
	if err != nil {
		return x, err
	}
	x.Counts = minus(n, gone)
	return x, s.words()
}

// A ForkLog is what [ShownAt] needs from a store.
type ForkLog interface {
	PastLog
	LiveLog
}

// ShownAt returns what a fork shows of a session whose events end at last, with the
// last said event at said, and its LiveState there. Errors are the log's.
func ShownAt(l ForkLog, segs Segments, said, last skein.Seq) (to skein.Shown, x LiveState, err error) {
	if to, err = Past(l, segs, said); err != nil {
		return to, x, err
	}
	x, err = Live(l, segs, last)
	x.Show(&to)
	return to, x, err
}

// Undone is Live for Gaps and Hurt alone. Errors are the log's.
func Undone(l LiveLog, segs Segments, last skein.Seq) (x LiveState, err error) {
	s := look{log: l, segs: ended(segs, last), state: &x}
	x.Gaps, err = s.gapsAt(last)
	return x, err
}

// Joins reports whether a said event that comes after the last of segs is a further
// piece of a live message whose ID the store searches for as message; gaps were taken
// back. Errors are the log's.
func Joins(l LiveLog, segs Segments, gaps []skein.SeqRange, message string) (bool, error) {
	s := look{log: l, segs: segs}
	m, err := s.message(message)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(m.pieces, func(p Piece) bool { return !within(gaps, p.Seq) && !m.goneAt(p.Seq, s.end()) }), nil
}

// Rewind updates x after the rewound event at, which went back to the seq to. segs
// may have later events, which count as they are. Errors are the log's.
func (x *LiveState) Rewind(l LiveLog, segs Segments, at, to skein.Seq) error {
	s := look{log: l, segs: ended(segs, at), state: x}
	to = max(0, min(to, at-1))
	was, now := x.Gaps, append(cut(x.Gaps, to), skein.SeqRange{From: to, To: at})
	if within(was, to) { // to is on a line that was left
		var err error
		if now, err = s.gapsAt(at); err != nil {
			return err
		}
	}
	before, after := spans(was, at), spans(now, at)
	dropped, restored := subtract(before, after), subtract(after, before)
	less, err := s.begun(dropped)
	if err != nil {
		return err
	}
	more, err := s.begun(restored)
	if err != nil {
		return err
	}
	gone, err := s.goneBetween(dropped, restored, was, now)
	if err != nil {
		return err
	}
	x.Gaps, x.Counts = now, minus(plus(minus(x.Counts, less), more), gone)
	s.segs = segs
	// Pieces that joined a prompt, and were withdrawn, may change whether it is live.
	if len(restored) > 0 || s.mixed {
		x.Prompts = Prompts{}
	}
	return s.keepWords(to, at)
}

// Amend updates x after the amended event at, which amends the said event seq.
// Errors are the log's.
func (x *LiveState) Amend(l LiveLog, segs Segments, at, seq skein.Seq) error {
	s := look{log: l, segs: ended(segs, at), state: x}
	if within(x.Gaps, seq) {
		return nil
	}
	there, err := l.PieceAt(s.segs, seq)
	if err != nil || len(there) == 0 {
		return err
	}
	p := there[0]
	m, err := s.messageOf(p)
	if err != nil {
		return err
	}
	g := m.groupOf(p, x.Gaps)
	before, after := g.shown(&m, at), g.shown(&m, at+1)
	switch {
	case before != 0 && after == 0:
		x.Counts = minus(x.Counts, g.first.counts())
	case before == 0 && after != 0:
		x.Counts = plus(x.Counts, g.first.counts())
	}
	if !g.first.Typed {
		return nil
	}
	s.segs = segs
	return s.reword(g.first)
}

// ended returns segs up to the event at last.
func ended(segs Segments, last skein.Seq) Segments {
	return segs.Within(skein.SeqRange{From: 0, To: last})
}

// A look is one computation of a LiveState.
type look struct {
	log   LiveLog
	segs  Segments
	state *LiveState
	mixed bool // prompts may have gained or lost pieces other than their first
}

// end returns the seq after everything that counts.
func (s *look) end() skein.Seq {
	end := skein.Seq(0)
	for _, seg := range s.segs {
		end = max(end, seg.To)
	}
	return end + 1
}

// gapsAt computes from the rewound events what was taken back when the session
// ended at last.
func (s *look) gapsAt(last skein.Seq) ([]skein.SeqRange, error) {
	events, err := s.log.Rewinds(ended(s.segs, last).Oldest())
	if err != nil {
		return nil, err
	}
	rewinds := events[:0]
	for _, e := range events {
		if _, err := skein.Decode[skein.Rewound](e); err != nil {
			s.state.Hurt = true
			continue
		}
		rewinds = append(rewinds, e)
	}
	line, err := skein.OnLine(rewinds, last)
	return spans(line, last), err
}

// begun counts the messages and turns that begin in ranges.
func (s *look) begun(ranges []skein.SeqRange) (n skein.Counts, err error) {
	if len(ranges) == 0 {
		return n, nil
	}
	var seqs []skein.Seq
	for _, r := range ranges {
		seqs = append(seqs, r.From, r.To)
	}
	at, err := s.log.Counts(s.segs, seqs)
	for i := 0; i < len(at); i += 2 {
		n = plus(n, minus(at[i+1], at[i]))
	}
	return n, err
}

// goneBetween counts how many more messages were withdrawn outside the gaps now than
// outside the gaps was.
func (s *look) goneBetween(dropped, restored, was, now []skein.SeqRange) (n skein.Counts, err error) {
	some, err := s.log.AnyGone(s.segs)
	if err != nil || !some {
		return n, err
	}
	ids := map[string]bool{}
	for _, r := range slices.Concat(dropped, restored) {
		some, err := s.log.Continued(s.segs, r)
		if err != nil {
			return n, err
		}
		for _, id := range some {
			ids[id] = true
		}
	}
	less, err := s.gone(dropped, ids, nil)
	if err != nil {
		return n, err
	}
	more, err := s.gone(restored, ids, nil)
	if err != nil {
		return n, err
	}
	n = minus(more, less)
	for id := range ids {
		m, err := s.message(id)
		if err != nil {
			return n, err
		}
		n = plus(n, minus(m.gone(now, s.end()), m.gone(was, s.end())))
		s.mixed = s.mixed || slices.ContainsFunc(m.pieces, func(p Piece) bool { return p.Typed })
	}
	return n, nil
}

// gone counts the messages in ranges that were withdrawn. It counts a message with an
// ID as it is outside gaps, or, if ids is not nil, adds the ID to ids instead.
func (s *look) gone(ranges []skein.SeqRange, ids map[string]bool, gaps []skein.SeqRange) (n skein.Counts, err error) {
	count := ids == nil
	if count {
		ids = map[string]bool{}
	}
	for _, r := range ranges {
		pieces, err := s.log.Gone(s.segs, r)
		if err != nil {
			return n, err
		}
		for _, p := range pieces {
			if p.Message != "" {
				ids[p.Message] = true
				continue
			}
			n = plus(n, p.counts())
		}
	}
	if !count {
		return n, nil
	}
	for id := range ids {
		m, err := s.message(id)
		if err != nil {
			return n, err
		}
		n = plus(n, m.gone(gaps, s.end()))
	}
	return n, nil
}

// counts returns the counts of a message that begins with p.
func (p Piece) counts() skein.Counts {
	n := skein.Counts{Messages: 1}
	if p.Typed {
		n.Turns = 1
	}
	return n
}

func plus(a, b skein.Counts) skein.Counts {
	return skein.Counts{Messages: a.Messages + b.Messages, Turns: a.Turns + b.Turns}
}

func minus(a, b skein.Counts) skein.Counts {
	return skein.Counts{Messages: a.Messages - b.Messages, Turns: a.Turns - b.Turns}
}
