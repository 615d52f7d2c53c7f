package agent

import "github.com/skein-dev/skein"

// keepItems is how many of the newest messages a compaction keeps at least.
const keepItems = 10

// tail returns the index of the first of items that a compaction keeps: the
// newest keepItems, grown back to a user message, never cut inside a round of
// tools. If that is all of them, nothing is left to sum up.
func tail(items []skein.Entry) int {
	cuts := rounds(items)
	from := max(0, len(items)-keepItems)
	for from > 0 && (!cuts[from] || !asks(&items[from].Message)) {
		from--
	}
	return from
}

// innerTail is tail for where a single turn is too long: it does not grow back
// to a user message.
func innerTail(items []skein.Entry) int {
	cuts := rounds(items)
	from := max(0, len(items)-keepItems)
	for from > 0 && !cuts[from] {
		from--
	}
	return from
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
