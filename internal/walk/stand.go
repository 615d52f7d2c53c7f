package walk

import (
	"cmp"
	"slices"

	"github.com/skein-dev/skein"
)

// A StandLog is what [Stand] and [Joins] need of a store.
type StandLog interface {
	// Line is as in [WindowLog].
	Line(segs Segments) ([]skein.Event, []Amendment, error)

	// Pieces is as in [SaidLog].
	Pieces(segs Segments, messages []string) ([]Said, error)

	// SaidAt returns the events at some places of segs, in any order.
	SaidAt(segs Segments, seqs []skein.Seq) ([]Said, error)

	// Counts returns, for each of some places of segs, how many messages and
	// turns had begun up to there, whatever became of them.
	Counts(segs Segments, seqs []skein.Seq) ([]skein.Counts, error)

	// Begin is as in [PastLog].
	Begin(seg Segment, turn int) (skein.Seq, error)
}

// Stand works out what stands of a session after the last of its events: of
// Shown only Messages, Turns, Undone, First and LastPrompt. It reads the events
// that took back or withdrew something, not those that said it. Errors are the
// log's, or wrap [skein.ErrInvalid]: a payload that does not fit its kind.
func Stand(l StandLog, segs Segments, last skein.Seq) (x skein.Shown, err error) {
	s := stand{log: l, segs: ended(segs, last)}
	if err := s.line(last); err != nil {
		return x, err
	}
	if err := s.count(last, &x); err != nil {
		return x, err
	}
	gone, err := s.withdrawn()
	if err != nil {
		return x, err
	}
	x.Messages, x.Turns = x.Messages-gone.Messages, x.Turns-gone.Turns
	x.Undone = skein.Counts{Messages: x.Undone.Messages + gone.Messages, Turns: x.Undone.Turns + gone.Turns}
	err = s.prompts(&x)
	return x, err
}

// Joins reports whether a said event that comes after last is a further piece
// of a message: of one that stands, and whose ID the store looks for as message.
// Errors are those of [Stand].
func Joins(l StandLog, segs Segments, last skein.Seq, message string) (bool, error) {
	s := stand{log: l, segs: ended(segs, last)}
	pieces, err := l.Pieces(s.segs, []string{message})
	if err != nil || len(pieces) == 0 {
		return false, err
	}
	if s.rewound, s.amended, err = l.Line(s.segs.Oldest()); err != nil {
		return false, err
	}
	m, err := skein.Decode[skein.Message](pieces[0].Event)
	if err != nil {
		return false, err
	}
	st, err := s.standing(pieces)
	if err != nil {
		return false, err
	}
	return st.Joins(m.ID), nil
}

// Undone returns the places of a session, up to the last of its events, that do
// not lie in the context. Errors are those of [Stand].
func Undone(l StandLog, segs Segments, last skein.Seq) (gaps []skein.SeqRange, err error) {
	s := stand{log: l, segs: ended(segs, last)}
	if err := s.line(last); err != nil {
		return nil, err
	}
	at := skein.Seq(0)
	for _, r := range s.spans {
		if at < r.From {
			gaps = append(gaps, skein.SeqRange{From: at, To: r.From})
		}
		at = r.To
	}
	if at < last {
		gaps = append(gaps, skein.SeqRange{From: at, To: last})
	}
	return gaps, nil
}

// ended returns segs as far as the event at last.
func ended(segs Segments, last skein.Seq) Segments {
	return segs.Within(skein.SeqRange{From: 0, To: last})
}

// A stand is one look at what stands.
type stand struct {
	log     StandLog
	segs    Segments
	rewound []skein.Event
	amended []Amendment
	spans   []skein.SeqRange // what was not taken back
	turns   []skein.SeqRange // the numbers of the turns that begin there
}

func (s *stand) line(last skein.Seq) (err error) {
	if s.rewound, s.amended, err = s.log.Line(s.segs.Oldest()); err == nil {
		s.spans, err = skein.OnLine(s.rewound, last)
	}
	return err
}

// count puts in x what was not taken back, and what was.
func (s *stand) count(last skein.Seq, x *skein.Shown) error {
	seqs := []skein.Seq{last}
	for _, r := range s.spans {
		seqs = append(seqs, r.From, r.To)
	}
	n, err := s.log.Counts(s.segs, seqs)
	if err != nil {
		return err
	}
	for i := 1; i < len(n); i += 2 {
		from, to := n[i], n[i+1]
		x.Messages += to.Messages - from.Messages
		x.Turns += to.Turns - from.Turns
		s.turns = append(s.turns, skein.SeqRange{From: skein.Seq(from.Turns), To: skein.Seq(to.Turns)})
	}
	x.Undone = skein.Counts{Messages: n[0].Messages - x.Messages, Turns: n[0].Turns - x.Turns}
	return nil
}

// withdrawn counts the messages that were withdrawn and not taken back.
func (s *stand) withdrawn() (n skein.Counts, err error) {
	empty := map[skein.Seq]bool{}
	for _, a := range s.amended {
		empty[a.Amends] = a.Empty
	}
	var seqs []skein.Seq
	for seq, is := range empty {
		if is {
			seqs = append(seqs, seq)
		}
	}
	if len(seqs) == 0 {
		return n, nil
	}
	slices.Sort(seqs)
	pieces, err := s.log.SaidAt(s.segs, seqs)
	if err != nil {
		return n, err
	}
	if pieces, err = s.whole(pieces); err != nil {
		return n, err
	}
	st, err := s.standing(pieces)
	if err != nil {
		return n, err
	}
	return st.Withdrawn(), nil
}

// whole returns the said ones of some events, with the other pieces of their
// messages.
func (s *stand) whole(some []Said) (pieces []Said, err error) {
	ids := map[string]bool{}
	for _, x := range some {
		if x.Kind == skein.KindSaid {
			pieces = append(pieces, x)
			ids[x.Message] = true
		}
	}
	delete(ids, "")
	if len(ids) == 0 {
		return pieces, nil
	}
	var list []string
	for id := range ids {
		list = append(list, id)
	}
	slices.Sort(list)
	others, err := s.log.Pieces(s.segs, list)
	return append(pieces, others...), err
}

// standing returns what stands of the messages that have these pieces.
func (s *stand) standing(pieces []Said) (*skein.Standing, error) {
	pieces = inOrder(pieces)
	all := slices.Clone(s.rewound)
	for _, x := range pieces {
		all = append(all, x.Event)
	}
	var seqs []skein.Seq
	for _, a := range s.amended {
		if _, ours := slices.BinarySearchFunc(pieces, a.Amends, func(x Said, seq skein.Seq) int { return cmp.Compare(x.Seq, seq) }); ours {
			seqs = append(seqs, a.Seq)
		}
	}
	if len(seqs) > 0 {
		amendments, err := s.log.SaidAt(s.segs, seqs)
		if err != nil {
			return nil, err
		}
		for _, x := range amendments {
			all = append(all, x.Event)
		}
	}
	slices.SortFunc(all, func(a, b skein.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	st := &skein.Standing{}
	for _, e := range all {
		if err := st.Add(e); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// prompts puts in x the words of the first and of the last turn that stand and
// have some: a picture alone has none.
func (s *stand) prompts(x *skein.Shown) error {
	for _, r := range slices.Backward(s.turns) {
		for k := r.To; k > r.From; k-- {
			words, stands, err := s.prompt(int(k))
			if err != nil {
				return err
			}
			if stands && words != "" {
				x.LastPrompt = words
				return s.first(x)
			}
		}
	}
	return nil
}

// first puts in x the first words that a turn that stands begins with.
func (s *stand) first(x *skein.Shown) error {
	for _, r := range s.turns {
		for k := r.From + 1; k <= r.To; k++ {
			words, _, err := s.prompt(int(k))
			if x.First = words; words != "" || err != nil {
				return err
			}
		}
	}
	return nil
}

// prompt returns the first words of what a person typed to begin a turn, and
// whether it stands.
func (s *stand) prompt(turn int) (words string, stands bool, err error) {
	for _, seg := range slices.Backward(s.segs) {
		seq, err := s.log.Begin(seg, turn)
		if err != nil {
			return "", false, err
		}
		if seq == 0 {
			continue
		}
		pieces, err := s.log.SaidAt(s.segs, []skein.Seq{seq})
		if err == nil {
			pieces, err = s.whole(pieces)
		}
		if err != nil {
			return "", false, err
		}
		st, err := s.standing(pieces)
		if err != nil {
			return "", false, err
		}
		words, stands = st.Words(seq)
		return words, stands, nil
	}
	return "", false, nil
}
