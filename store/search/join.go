package search

import (
	"cmp"
	"slices"

	"github.com/skein-dev/skein"
)

// Excludes reports whether q's conditions on sessions leave s out.
func Excludes(q *skein.Query, s *skein.Session) bool {
	return s.Binned != 0 || q.User != "" && q.User != s.User ||
		q.Origin != "" && (s.Origin == nil || s.Origin.Format != q.Origin) ||
		!InProject(q, s)
}

// Merge puts fresh hits, which the index does not have yet and whose scores are
// therefore unknown, among the ranked ones: they get the mean score, and come before
// ranked hits with the same. as returns the hit in an H.
func Merge[H any](fresh, ranked []H, as func(*H) *skein.Hit) []H {
	mean := 0.0
	for i := range ranked {
		mean += as(&ranked[i]).Score / float64(len(ranked))
	}
	for i := range fresh {
		as(&fresh[i]).Score = mean
	}
	all := append(fresh, ranked...)
	slices.SortStableFunc(all, func(a, b H) int { return cmp.Compare(as(&b).Score, as(&a).Score) })
	return all
}

// FirstOfEach returns the first hit of each group, which is usually a session, with the
// sum of the counts of the group's hits. as returns the hit in an H.
func FirstOfEach[H any](hits []H, group func(*H) int64, as func(*H) *skein.Hit) (first []H) {
	at := map[int64]int{}
	for i := range hits {
		h := &hits[i]
		n := max(as(h).Count, 1)
		j, ok := at[group(h)]
		if !ok {
			at[group(h)] = len(first)
			first = append(first, *h)
			as(&first[len(first)-1]).Count = n
			continue
		}
		as(&first[j]).Count += n
	}
	return first
}
