package reconcile

import (
	"bytes"
	"slices"

	"github.com/skein-dev/skein"
)

// SameAs returns where the events that a record makes are stored already, and nil
// if the record is not a copy: each event, except those that depend on the records
// before it, must be stored at one of the places, equal in kind and payload. read
// returns the event at a place.
//
// Errors are read's.
func SameAs(events []skein.Event, at []skein.Place, read func(skein.Place) (skein.Event, error)) ([]skein.Place, error) {
	if len(at) == 0 {
		return nil, nil
	}
	at = slices.Clone(at)
	out := make([]skein.Place, len(events))
	var some skein.Place
	for i, e := range events {
		for j, p := range at {
			was, err := read(p)
			if err != nil {
				return nil, err
			}
			if was.Kind == e.Kind && (bytes.Equal(was.Payload, e.Payload) || e.Kind == skein.KindCompacted || saysSame(was, e)) {
				out[i], some = p, p
				at = slices.Delete(at, j, j+1)
				break
			}
		}
		if out[i].Session == "" && !Dependent(e.Kind, len(events)) {
			return nil, nil
		}
	}
	if some.Session == "" {
		return nil, nil
	}
	for i := range out {
		if out[i].Session == "" {
			out[i] = some
		}
	}
	return out, nil
}

// saysSame reports whether two messages say the same, regardless of their supposed
// authors: earlier reads depended on what was known of programs' envelopes at the
// time.
func saysSame(a, b skein.Event) bool {
	if a.Kind != skein.KindSaid || b.Kind != skein.KindSaid {
		return false
	}
	var plain [2][]byte
	for i, e := range []skein.Event{a, b} {
		m, err := skein.Decode[skein.Message](e)
		if err != nil {
			return false
		}
		m.Synthetic, m.Parts = false, slices.Clone(m.Parts)
		for j := range m.Parts {
			m.Parts[j].Synthetic = false
		}
		plain[i] = skein.MustJSON(m)
	}
	return bytes.Equal(plain[0], plain[1])
}

// Dependent reports whether an event of this kind, from a record that makes this many,
// depends on the records before it: it may come with the record in one file and
// not in its copy.
func Dependent(k skein.Kind, events int) bool {
	return k == skein.KindRewound || events > 1 && (k == skein.KindChanged || k == skein.KindTitled)
}
