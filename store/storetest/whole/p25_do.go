package whole

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func (m *machine) bin(rt *rapid.T) {
	id := m.id(rt)
	_, want, got := m.as(rt)
	if rapid.Bool().Draw(rt, "restore") {
		agree(rt, fmt.Sprintf("Restore(%s)", id), 0, skein.LifecycleOf(want).Restore(ctx, id), 0, skein.LifecycleOf(got).Restore(ctx, id))
		return
	}
	agree(rt, fmt.Sprintf("Bin(%s)", id), 0, skein.LifecycleOf(want).Bin(ctx, id), 0, skein.LifecycleOf(got).Bin(ctx, id))
}

func (m *machine) delete(rt *rapid.T) {
	id := m.id(rt)
	d := skein.Deletion{Children: harness.Pick(rt, "children", "", skein.KeepChildren, skein.BinChildren, skein.RefuseChildren)}
	_, want, got := m.as(rt)
	dw, ew := skein.LifecycleOf(want).Delete(ctx, id, d)
	dg, eg := skein.LifecycleOf(got).Delete(ctx, id, d)
	dw.Bytes, dg.Bytes = 0, 0
	agree(rt, fmt.Sprintf("Delete(%s, %s)", id, d.Children), dw, ew, dg, eg)
}

func (m *machine) lease(rt *rapid.T) {
	_, want, got := m.as(rt)
	if len(m.leases) > 0 && rapid.IntRange(0, 2).Draw(rt, "give back") > 0 {
		l := rapid.SampledFrom(m.leases).Draw(rt, "lease")
		agree(rt, fmt.Sprintf("Release(%+v)", l[1]), 0, skein.LeasesOf(want).Release(ctx, l[0]), 0, skein.LeasesOf(got).Release(ctx, l[1]))
		return
	}
	id := m.id(rt)
	r := skein.LeaseRequest{Program: "p", TakeOver: rapid.Bool().Draw(rt, "take over")}
	if rapid.Bool().Draw(rt, "TTL") {
		r.TTL = 3600e9
	}
	lw, ew := skein.LeasesOf(want).Acquire(ctx, id, r)
	lg, eg := skein.LeasesOf(got).Acquire(ctx, id, r)
	agree(rt, fmt.Sprintf("Acquire(%s, %+v)", id, r), lw.Session, ew, lg.Session, eg)
	if ew == nil {
		m.leases = append(m.leases, [2]skein.Lease{lw, lg})
	}
}

func (m *machine) scrub(rt *rapid.T) {
	id := m.id(rt)
	secrets := []string{harness.Pick(rt, "secret", "password1", "password2", "short"[:3])}
	_, want, got := m.as(rt)
	dw, ew := skein.LifecycleOf(want).Scrub(ctx, id, secrets)
	dg, eg := skein.LifecycleOf(got).Scrub(ctx, id, secrets)
	dg.Beyond, dg.Pending = nil, ""
	agree(rt, fmt.Sprintf("Scrub(%s, %v)", id, secrets), dw, ew, dg, eg)
}

func (m *machine) search(rt *rapid.T) {
	q := skein.Query{Each: true, Limit: 1000, Deadline: harness.Patience}
	word := harness.Pick(rt, "word", words...)
	switch harness.Pick(rt, "how", "word", "prefix", "substring", "tool", "path") {
	case "word":
		q.Terms = []skein.Term{{Words: []string{word}}}
	case "prefix":
		q.Terms = []skein.Term{{Words: []string{word[:4]}, Prefix: true}}
	case "substring":
		q.Substring = word[1:]
	case "tool":
		q.Tool = word
	case "path":
		q.Path = word[1:]
	}
	q.Role = harness.Pick(rt, "role", "", "", skein.RoleUser)
	_, want, got := m.as(rt)
	rw, ew := want.Search(ctx, q)
	rg, eg := got.Search(ctx, q)
	agree(rt, fmt.Sprintf("Search(%+v)", q), foundIn(rw), ew, foundIn(rg), eg)
}

// foundIn returns where hits are, in a fixed order.
func foundIn(r skein.Results) (ps []skein.Place) {
	for _, h := range r.Hits {
		ps = append(ps, skein.Place{Session: h.Session, Seq: h.Seq})
	}
	slices.SortFunc(ps, func(a, b skein.Place) int {
		if c := strings.Compare(string(a.Session), string(b.Session)); c != 0 {
			return c
		}
		return int(a.Seq - b.Seq)
	})
	return ps
}
