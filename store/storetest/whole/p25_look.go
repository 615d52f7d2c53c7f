package whole

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
)

// look compares the session that was used last.
func (m *machine) look(rt *rapid.T) {
	if m.touched == "" {
		return
	}
	id := m.touched
	sw, ew := m.want.Session(ctx, id)
	for i, got := range []skein.Store{m.got, m.other} {
		sg, eg := got.Session(ctx, id)
		agree(rt, fmt.Sprintf("Session(%s) at handle %d", id, i), plain(sw), ew, plain(sg), eg)
	}
}

// lookAll compares everything that can be read.
func (m *machine) lookAll(rt *rapid.T) {
	for _, id := range []skein.SessionID{"a", "b", "c", "d", "e"} {
		m.touched = id
		m.look(rt)
		vw, ew := collect(m.want.Events(ctx, id, 0))
		vg, eg := collect(m.other.Events(ctx, id, 0))
		agree(rt, fmt.Sprintf("Events(%s)", id), timeless(vw), ew, timeless(vg), eg)
		nw, ew := m.want.Newest(ctx, id, 5, 0)
		ng, eg := m.got.Newest(ctx, id, 5, 0)
		agree(rt, fmt.Sprintf("Newest(%s)", id), nw, ew, ng, eg)
		for _, w := range words {
			b := skein.NewBlob([]byte("blob " + w))
			dw, ew := m.want.Blob(ctx, id, b.Hash)
			dg, eg := m.got.Blob(ctx, id, b.Hash)
			agree(rt, fmt.Sprintf("Blob(%s, %s)", id, w), dw, ew, dg, eg)
		}
	}
	for _, by := range []skein.Dimension{skein.ByDay, skein.ByModelID, skein.ByProject, skein.ByAgent, skein.BySession} {
		uw, ew := m.want.Usage(ctx, skein.UsageQuery{By: by})
		ug, eg := m.got.Usage(ctx, skein.UsageQuery{By: by})
		agree(rt, "Usage by "+string(by), uw, ew, ug, eg)
	}
	for _, f := range []skein.Filter{{}, {Bin: true}, {IncludeEmpty: true}, {Key: "k"}, {User: "ann"}, {Project: "/p"}, {Parent: "a"}, {Title: "alpha"}} {
		sw, ew := collect(m.want.Sessions(ctx, f))
		sg, eg := collect(m.other.Sessions(ctx, f))
		agree(rt, fmt.Sprintf("Sessions(%+v)", f), byID(sw), ew, byID(sg), eg)
	}
	fw, ew := collect(skein.SourcesOf(m.want).Files(ctx, ""))
	fg, eg := collect(skein.SourcesOf(m.got).Files(ctx, ""))
	slices.SortStableFunc(fw, bySession)
	slices.SortStableFunc(fg, bySession)
	agree(rt, "Files", fw, ew, fg, eg)
	for _, f := range fw {
		rw, ew := collect(skein.SourcesOf(m.want).Records(ctx, f.Format, f.Path, 0))
		rg, eg := collect(skein.SourcesOf(m.other).Records(ctx, f.Format, f.Path, 0))
		agree(rt, "Records of "+f.Path, rw, ew, rg, eg)
	}
	keys := []skein.ClientID{"created", "1", "2", "3"}
	pw, ew := skein.SourcesOf(m.want).Find(ctx, keys)
	pg, eg := skein.SourcesOf(m.got).Find(ctx, keys)
	agree(rt, "Find", pw, ew, pg, eg)
}

func bySession(a, b skein.SourceFile) int {
	return strings.Compare(fmt.Sprint(a.Path, a.Session, a.CopyOf), fmt.Sprint(b.Path, b.Session, b.CopyOf))
}

func collect[T any](it func(func(T, error) bool)) (all []T, last error) {
	for v, err := range it {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// plain returns s without what differs from store to store: the current time,
// and the description of a holder.
func plain(s skein.Session) skein.Session {
	s.Binned = min(s.Binned, 1)
	if s.LockedBy != "" {
		s.LockedBy = "somebody"
	}
	for _, at := range []*skein.Time{&s.Updated, &s.Touched} {
		if *at > fixture.Noon+24*3600*fixture.Second {
			*at = 1
		}
	}
	return s
}

func byID(all []skein.Session) []skein.Session {
	for i := range all {
		all[i] = plain(all[i])
	}
	slices.SortFunc(all, func(a, b skein.Session) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

// timeless returns evs without the times of the events that a store itself
// made.
func timeless(evs []skein.Event) []skein.Event {
	for i := range evs {
		if evs[i].Time > fixture.Noon+24*3600*fixture.Second {
			evs[i].Time = 1
		}
	}
	return evs
}
