package walk

import (
	"cmp"
	"slices"

	"github.com/skein-dev/skein"
)

// within reports whether seq is in one of ranges, which are in order.
func within(ranges []skein.SeqRange, seq skein.Seq) bool {
	i, _ := slices.BinarySearchFunc(ranges, seq, func(r skein.SeqRange, seq skein.Seq) int { return cmp.Compare(r.To, seq) })
	return i < len(ranges) && ranges[i].From < seq
}

// spans returns the seqs up to last that are not in ranges.
func spans(ranges []skein.SeqRange, last skein.Seq) []skein.SeqRange {
	return subtract([]skein.SeqRange{{From: 0, To: last}}, ranges)
}

// cut returns the parts of ranges up to last.
func cut(ranges []skein.SeqRange, last skein.Seq) (all []skein.SeqRange) {
	for _, r := range ranges {
		if r.To = min(r.To, last); r.From < r.To {
			all = append(all, r)
		}
	}
	return all
}

// subtract returns the parts of some that are not in others; both are in order.
func subtract(some, others []skein.SeqRange) (rest []skein.SeqRange) {
	for _, r := range some {
		i, _ := slices.BinarySearchFunc(others, r.From, func(o skein.SeqRange, at skein.Seq) int { return cmp.Compare(o.To, at+1) })
		for ; i < len(others) && others[i].From < r.To; i++ {
			if r.From < others[i].From {
				rest = append(rest, skein.SeqRange{From: r.From, To: others[i].From})
			}
			r.From = max(r.From, others[i].To)
		}
		if r.From < r.To {
			rest = append(rest, r)
		}
	}
	return rest
}
