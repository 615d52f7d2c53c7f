package agent

import "github.com/skein-dev/skein"

// keepItems is how many of the newest messages a compaction keeps at least.
const keepItems = 10

// tail returns the index of the first of items that a compaction keeps: the
// newest keepItems, grown back to where a turn begins. If that is all of them,
// nothing is left to sum up.
func tail(items []skein.Entry) int { return turnAt(items, len(items)-keepItems) }

// lastTurn is tail for a compaction that keeps as little as it may: the turn
// that began last.
func lastTurn(items []skein.Entry) int { return turnAt(items, len(items)-1) }

// turnAt returns where the turn begins that items[from] is in, without a round
// of tools that goes on after that; 0 if that is at the beginning.
func turnAt(items []skein.Entry, from int) int {
	cuts := rounds(items)
	for from > 0 && (!cuts[from] || !asks(&items[from].Message)) {
		from--
	}
	return max(0, from)
}

// rounds tells for each of items whether a cut before it leaves every call
// with its result.
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

// leading returns how many system messages items begins with, which no
// compaction covers.
func leading(items []skein.Entry) (n int) {
	for n < len(items) && items[n].Message.Role == skein.RoleSystem {
		n++
	}
	return n
}
