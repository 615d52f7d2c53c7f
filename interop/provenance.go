package interop

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// provenanceOf says where a session came from, and how far.
type provenanceOf struct {
	found  bool
	file   skein.SourceFile
	told   told
	last   skein.Seq // the last of its events that its file has, before those that wentOn speaks of
	wentOn bool      // it has events of a conversation that the file has not
	mixed  bool      // and its file went on with the conversation behind some of them
}

// provenance looks up the file of a format that holds a session.
func provenance(ctx context.Context, s skein.Store, format string, sess skein.Session) (p provenanceOf, err error) {
	if sess.Origin == nil || sess.Origin.Format != format {
		return p, nil
	}
	p.file, err = skein.SourcesOf(s).File(ctx, format, sess.Origin.Path)
	switch {
	case errors.Is(err, skein.ErrNotFound):
		return p, nil
	case err != nil:
		return p, err
	}
	p.found = p.file.Session == sess.ID
	p.told = decodeState(p.file.State).Told
	if !p.found {
		return p, nil
	}
	return p, p.look(ctx, s, sess)
}

// handedOver looks up the file of a format that a session was exported to, and
// that was read since, if it lies in one of places.
func handedOver(ctx context.Context, s skein.Store, format string, sess skein.Session, places []string) (p provenanceOf, err error) {
	for f, err := range skein.SourcesOf(s).Files(ctx, format) {
		if err != nil {
			return p, err
		}
		if list := decodeState(f.State).Told; f.Session == sess.ID && len(list) > 0 && isIn(places, f.Path) {
			p = provenanceOf{found: true, file: f, told: list}
			return p, p.look(ctx, s, sess)
		}
	}
	return p, nil
}

// look compares the session's events with those that the records made.
func (p *provenanceOf) look(ctx context.Context, s skein.Store, sess skein.Session) error {
	made, err := madeBy(ctx, s, p.file)
	ends := skein.Seq(0) // what stands in for a damaged event was the file's up to here
	if bad := (*skein.DamagedRecordsError)(nil); errors.As(err, &bad) {
		made, err = imported(ctx, s, sess)
		ends = decodeState(p.file.State).Seq
	}
	if err != nil {
		return err
	}
	p.last = max(sess.Base, p.told.last())
	written := p.last
	missing := -1 // how many events that the records made are not to be seen, if some are damaged
	var own []skein.Seq
	var theirs []skein.Seq // the steps of the conversation that the file has
	var rewinds []skein.Event
	spoken := map[skein.Seq]bool{}
	gone := map[skein.Seq]bool{} // from the file, as a removal or a compaction of it says
	var covered skein.Seq
	for e, err := range s.Events(ctx, sess.ID, sess.Base) {
		standsIn := err == nil && e.StandsIn()
		if standsIn && missing < 0 {
			missing, err = made.missing(ctx, s, sess)
		}
		if standsIn {
			missing--
		}
		if err == nil && e.Kind == skein.KindRewound {
			rewinds = append(rewinds, e)
		}
		switch {
		case err != nil:
			return err
		case made.has(e), standsIn && (missing >= 0 || e.Seq <= ends):
			p.last = max(p.last, e.Seq)
			if talks(e.Kind) && e.Kind != skein.KindRewound {
				theirs = append(theirs, e.Seq)
			}
			switch e.Kind {
			case skein.KindAmended:
				if a, err := skein.Decode[skein.Amended](e); err == nil {
					gone[a.Seq] = gone[a.Seq] || a.Withdrawn
				}
			case skein.KindCompacted:
				if c, err := skein.Decode[skein.Compacted](e); err == nil {
					covered = max(covered, c.To)
				}
			}
		case talks(e.Kind) && e.Seq > written:
			own = append(own, e.Seq)
			spoken[e.Seq] = e.Kind != skein.KindTool && e.Kind != skein.KindStep
		}
	}
	own = slices.DeleteFunc(own, func(at skein.Seq) bool { return gone[at] || at <= covered })
	p.wentOn = slices.ContainsFunc(own, func(at skein.Seq) bool { return spoken[at] }) // not for a request or a tool alone
	if p.wentOn && own[0] < p.last {
		spans, err := skein.OnLine(rewinds, sess.Last)
		if err != nil {
			return err
		}
		p.mixed = slices.ContainsFunc(theirs, func(at skein.Seq) bool { return at > own[0] && onLine(spans, at) })
		p.last = own[0] - 1 // what the file told since is no step of the conversation
	}
	return nil
}

// A madeOf is the client IDs of the events that a file's records make.
type madeOf map[skein.ClientID]bool

// madeBy returns what the stored records of a file make; of one that is being read
// for the first time only what the engine adds.
func madeBy(ctx context.Context, s skein.Store, f skein.SourceFile) (madeOf, error) {
	made := madeOf{CreatedID: true, rewoundID: true}
	for r, err := range skein.SourcesOf(s).Records(ctx, f.Format, f.Path, 0) {
		if errors.Is(err, skein.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i := range r.Events {
			made[clientID(r.Key, i, r.Events)] = true
		}
	}
	return made, nil
}

// imported returns the client IDs of those events of a session that came from
// imports.
func imported(ctx context.Context, s skein.Store, sess skein.Session) (madeOf, error) {
	made := madeOf{CreatedID: true, rewoundID: true}
	var keys []skein.ClientID
	look := func() error {
		found, err := skein.SourcesOf(s).Find(ctx, keys)
		for id, at := range found {
			if at.Session == sess.ID {
				made[withoutMark(id)] = true
			}
		}
		keys = nil
		return err
	}
	for e, err := range s.Events(ctx, sess.ID, sess.Base) {
		if err != nil {
			return nil, err
		}
		if e.ClientID == "" {
			continue
		}
		if keys = append(keys, e.ClientID); len(keys) >= chunkRecords {
			if err := look(); err != nil {
				return nil, err
			}
		}
	}
	return made, look()
}

// missing returns how many of the events a session does not show.
func (m madeOf) missing(ctx context.Context, s skein.Store, sess skein.Session) (int, error) {
	left := maps.Clone(m)
	delete(left, CreatedID)
	delete(left, rewoundID)
	for e, err := range s.Events(ctx, sess.ID, sess.Base) {
		if err != nil {
			return 0, err
		}
		delete(left, withoutMark(e.ClientID))
	}
	return len(left), nil
}

// has reports whether the file's records made an event.
func (m madeOf) has(e skein.Event) bool {
	return m[withoutMark(e.ClientID)] || strings.HasPrefix(string(e.ClientID), "amended/")
}

// withoutMark returns a client ID without what settle puts behind it.
func withoutMark(id skein.ClientID) skein.ClientID {
	if at := strings.LastIndexByte(string(id), '~'); at > 0 && len(id)-at == len("~01234567") {
		return id[:at]
	}
	return id
}

// talks reports whether events of this kind are steps of the conversation, and
// not about it.
func talks(k skein.Kind) bool {
	switch k {
	case skein.KindSaid, skein.KindTool, skein.KindStep, skein.KindCompacted, skein.KindRewound:
		return true
	}
	return false
}

// unescape returns the name of a source as sourcePath was given it.
func unescape(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}
