package agent

import "github.com/skein-dev/skein"

// keepItems is the minimum number of newest messages that a compaction keeps.
const keepItems = 10

// tail returns the index of the first of items that a compaction keeps: the
// newest keepItems, extended back to the start of a turn. If that is all of
// them, nothing is left to summarize.
func tail(items []skein.Entry) int { return turnAt(items, len(items)-keepItems) }

// lastTurn is tail for a compaction that keeps as little as it may: the last
// turn.
func lastTurn(items []skein.Entry) int { return turnAt(items, len(items)-1) }

// turnAt returns the start of the turn that contains items[from], such that no
// round of tools crosses it; 0 if the turn starts at the beginning.
func turnAt(items []skein.Entry, from int) int {
	cuts := rounds(items)
	for from > 0 && (!cuts[from] || !asks(&items[from].Message)) {
		from--
	}
	return max(0, from)
}

// rounds reports for each of items whether a cut before it keeps every call
// together with its result.
func rounds(items []skein.Entry) []bool {
	last := map[string]int{} // call ID → item with its result
	for i := range items {
		for _, p := range items[i].Message.Parts {
			if p.Kind == skein.PartResult && p.Result != nil {
				last[p.Result.CallID] = i
			}
		}
	}
	cuts := make([]bool, len(items))
	open := -1 // up to which item the rounds so far go
	for i := range items {
		cuts[i] = open < i
		for _, c := range callsOf(&items[i].Message) {
			open = max(open, last[c.ID])
		}
	}
	return cuts
}

// leading returns how many system messages items begins with; no compaction
// covers them.
func leading(items []skein.Entry) (n int) {
	for n < len(items) && items[n].Message.Role == skein.RoleSystem {
		n++
	}
	return n
}
