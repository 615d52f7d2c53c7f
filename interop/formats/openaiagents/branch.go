package openaiagents

import "github.com/skein-dev/skein/internal/foreign"

// branches holds which branch each message was said in, and where branches diverge. A
// branch that is made at a turn of another repeats the other's messages before that
// turn, by their IDs.
type branches struct {
	said   map[int64]string // branch that has the message first, except the main one
	seen   map[int64]bool   // messages that some branch has
	shared map[string]int64 // by branch: the last message of another that it has
	at     map[int64]point  // such messages, when they have been read
}

// A point is a position in a branch.
type point struct {
	branch  string
	ordinal int
}

// maxSeen is the number of messages of a session whose branch is remembered: more
// than any has.
const maxSeen = 1 << 20

func newBranches() branches {
	return branches{map[int64]string{}, map[int64]bool{}, map[string]int64{}, map[int64]point{}}
}

// branchName returns a branch's name here: the main one has none.
func branchName(name string) string {
	if name == "main" {
		return ""
	}
	return name
}

// add reads a row of message_structure.
func (b *branches) add(row foreign.Row) {
	id, branch := row.Int("message_id"), branchName(row.Text("branch_id"))
	switch {
	case b.seen[id] && branch != b.said[id]:
		b.shared[branch] = id
		b.at[id] = point{}
	case !b.seen[id] && len(b.seen) < maxSeen:
		b.seen[id] = true
		if branch != "" {
			b.said[id] = branch
		}
	}
}

// of returns the branch that a message was said in.
func (b *branches) of(id int64) string { return b.said[id] }

// markRead notes that a message has been read.
func (b *branches) markRead(id int64, th *thread) {
	if _, ok := b.at[id]; ok && th != nil {
		b.at[id] = point{b.said[id], th.items}
	}
}

// from returns the branch from which another was made, and the last event there that
// it shares; 0 for none.
func (b *branches) from(branch string) (of string, ordinal int) {
	id, ok := b.shared[branch]
	if !ok {
		return "", 0
	}
	return b.at[id].branch, b.at[id].ordinal
}
