package walk

import (
	"cmp"
	"slices"

	"github.com/skein-dev/skein"
)

// A messageEvents is everything that was said under one ID, or one event without an
// ID. It may be several messages, because what is said again after it was taken back
// is another message.
type messageEvents struct {
	pieces []Piece // in order
	about  map[skein.Seq][]Amendment
}

// message returns what was said under an ID.
func (s *look) message(id string) (messageEvents, error) {
	pieces, err := s.log.PiecesOf(s.segs, id)
	if err != nil {
		return messageEvents{}, err
	}
	return s.amended(pieces)
}

// messageOf returns the message that p belongs to.
func (s *look) messageOf(p Piece) (messageEvents, error) {
	if p.Message != "" {
		return s.message(p.Message)
	}
	return s.amended([]Piece{p})
}

// amended returns the message with these pieces.
func (s *look) amended(pieces []Piece) (m messageEvents, err error) {
	slices.SortFunc(pieces, func(a, b Piece) int { return cmp.Compare(a.Seq, b.Seq) })
	m = messageEvents{pieces, map[skein.Seq][]Amendment{}}
	seqs := make([]skein.Seq, len(pieces))
	for i, p := range pieces {
		seqs[i] = p.Seq
	}
	if len(seqs) == 0 {
		return m, nil
	}
	all, err := s.log.Amendments(s.segs, seqs)
	slices.SortFunc(all, func(a, b Amendment) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, a := range all {
		m.about[a.Amends] = append(m.about[a.Amends], a)
	}
	return m, err
}

// goneAt reports whether the piece at seq was withdrawn before at.
func (m *messageEvents) goneAt(seq, at skein.Seq) bool {
	gone := false
	for _, a := range m.about[seq] {
		if a.Seq < at {
			gone = a.Empty
		}
	}
	return gone
}

// A messagePieces is a message: its first piece and all its pieces, without those that
// were taken back.
type messagePieces struct {
	first  Piece
	pieces []skein.Seq
}

// groups returns the messages that begin outside gaps. A further piece belongs to the
// message of the newest piece that was live when it was said.
func (m *messageEvents) groups(gaps []skein.SeqRange) (all []*messagePieces) {
	of := map[skein.Seq]*messagePieces{}
	var on []Piece
	for _, p := range m.pieces {
		if within(gaps, p.Seq) {
			continue
		}
		var g *messagePieces
		for _, q := range slices.Backward(on) {
			if p.More && !m.goneAt(q.Seq, p.Seq) {
				g = of[q.Seq]
				break
			}
		}
		if g == nil {
			g = &messagePieces{first: p}
			all = append(all, g)
		}
		g.pieces = append(g.pieces, p.Seq)
		of[p.Seq], on = g, append(on, p)
	}
	return all
}

// groupOf returns the message with the piece p, which is not in gaps.
func (m *messageEvents) groupOf(p Piece, gaps []skein.SeqRange) *messagePieces {
	for _, g := range m.groups(gaps) {
		if slices.Contains(g.pieces, p.Seq) {
			return g
		}
	}
	return &messagePieces{first: p}
}

// shown returns the first piece that was not withdrawn before at; 0 if all were.
func (g *messagePieces) shown(m *messageEvents, at skein.Seq) skein.Seq {
	for _, seq := range g.pieces {
		if !m.goneAt(seq, at) {
			return seq
		}
	}
	return 0
}

// gone counts the messages outside gaps that were withdrawn before at.
func (m *messageEvents) gone(gaps []skein.SeqRange, at skein.Seq) (n skein.Counts) {
	for _, g := range m.groups(gaps) {
		if g.shown(m, at) == 0 {
			n = plus(n, g.first.counts())
		}
	}
	return n
}
