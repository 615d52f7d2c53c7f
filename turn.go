package skein

import "fmt"

// A TurnPolicy says which messages begin a turn.
type TurnPolicy int

// The policies.
const (
	OnlyTyped        TurnPolicy = iota // what a person typed: turns as [Entry].Turn numbers them
	EveryUserMessage                   // every message of the user's role that is more than tools' results, put in by programs too
)

// A Turn is a user message and everything up to the next one.
type Turn struct {
	N       int     // 1 for the first; 0 for what stands before it
	First   Seq     // of its first event
	Last    Seq     // of its last message's last event, before the next turn: where to fork to keep it all
	Entries []Entry // at least one; part of what Turns was given
	Rewound bool    // all of it was rewound
}

// Turns cuts entries, which are a session's in order, into turns. Turns that
// were rewound are among them: with OnlyTyped a turn's number never changes,
// whatever happens to the session later.
//
// A fork at turn N is one at its Last: it shows everything up to the end of
// the turn, without a rewind that came after it.
func Turns(entries []Entry, p TurnPolicy) (turns []Turn) {
	for i := range entries {
		e := &entries[i]
		n := e.Turn
		if p == EveryUserMessage {
			n = 0
			if len(turns) > 0 {
				n = turns[len(turns)-1].N
			}
			if e.Message.asks() {
				n++
			}
		}
		if len(turns) == 0 || turns[len(turns)-1].N != n {
			turns = append(turns, Turn{N: n, First: e.Seq, Rewound: true, Entries: entries[i:i:len(entries)]})
		}
		t := &turns[len(turns)-1]
		t.Entries = t.Entries[:len(t.Entries)+1]
		t.Last = max(t.Last, e.End)
		t.Rewound = t.Rewound && e.Rewound
	}
	for i := range len(turns) - 1 {
		turns[i].Last = min(turns[i].Last, turns[i+1].First-1)
		turns[i].Entries = turns[i].Entries[:len(turns[i].Entries):len(turns[i].Entries)]
	}
	return turns
}

// asks reports whether m is a user message that holds more than tools'
// results.
func (m *Message) asks() bool {
	if m.Role != RoleUser {
		return false
	}
	for _, p := range m.Parts {
		if p.Kind != PartResult {
			return true
		}
	}
	return false
}

// TurnAt returns the turn with number n.
//
// The error wraps [ErrNotFound] and says which turns there are.
func TurnAt(turns []Turn, n int) (Turn, error) {
	for _, t := range turns {
		if t.N == n {
			return t, nil
		}
	}
	if len(turns) == 0 {
		return Turn{}, fmt.Errorf("turn %d %w: there is none", n, ErrNotFound)
	}
	return Turn{}, fmt.Errorf("turn %d %w: there are %d to %d", n, ErrNotFound, turns[0].N, turns[len(turns)-1].N)
}
