package importer

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/store/lenient"
)

// parents are the sessions in other files that started those of a file.
type parents struct {
	store   skein.Store
	known   *discover.KnownFiles
	callsOf skein.SessionID // see childCalls
	calls   map[skein.SessionID]childCall
}

// parentElsewhere fills in p for a child whose parent is in another file: its
// session and, if that was imported before, the call that started the child.
func (ps *parents) parentElsewhere(ctx context.Context, format string, b interop.Begin, p *skein.Parent) error {
	if p.Session = ps.known.ByProgramID(format, b.ParentID, b.Created.Origin.Path); p.Session.Check() != nil {
		p.Session = skein.SessionID("unknown" + reconcile.Mark(b.ParentID))
	}
	// The parent may be read later, and get another ID then. A store that refuses access
	// to the parent does not refuse the child.
	if here, err := skein.Here(ctx, ps.store, p.Session); err == nil {
		p.Session = here
	}
	calls, err := ps.childCalls(ctx, p.Session)
	if c, ok := calls[b.ID]; ok && p.Seq == 0 {
		p.Seq = c.seq
		if p.Call == "" {
			p.Call = c.call
		}
	}
	return err
}

// childCall is the call that started a child, and where it is in the parent.
type childCall struct {
	call string
	seq  skein.Seq
}

// childCalls returns the calls of a session that started children. It caches the
// answer for the last session: children come one after the other.
func (ps *parents) childCalls(ctx context.Context, id skein.SessionID) (map[skein.SessionID]childCall, error) {
	if ps.callsOf == id {
		return ps.calls, nil
	}
	calls, sites := map[skein.SessionID]childCall{}, map[string]skein.Seq{}
	for e, err := range lenient.Store(ps.store, nil).Events(ctx, id, 0) {
		if errors.Is(err, skein.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case skein.KindSaid:
			if m, err := skein.Decode[skein.Message](e); err == nil {
				for _, p := range m.Parts {
					if p.Call != nil {
						sites[p.Call.ID] = e.Seq
					}
				}
			}
		case skein.KindTool:
			if s, err := skein.Decode[skein.ToolState](e); err == nil && s.Child != "" {
				seq := e.Seq
				if at, ok := sites[s.Call]; ok {
					seq = at
				}
				calls[s.Child] = childCall{s.Call, seq}
			}
		}
	}
	ps.callsOf, ps.calls = id, calls
	return calls, nil
}
