package whole

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func anything() []harness.Check {
	return []harness.Check{
		{Name: "it answers as the store in memory does", Run: func(t *harness.Test) { compare(t, func(t *testing.T, s skein.Store) skein.Store { return s }) }},
		{Name: "it answers as the store in memory does, at two handles", Two: func(t *harness.Test, _ skein.Store) {
			compare(t, func(tt *testing.T, s skein.Store) skein.Store {
				other, err := t.Options.Dial(t.Options.Address(s))
				if err != nil {
					tt.Fatal(err)
				}
				return other
			})
		}},
	}
}

// compare performs random operations on the store and on one in memory and
// checks that the answers are equal. Every second read uses the handle from
// second.
func compare(t *harness.Test, second func(*testing.T, skein.Store) skein.Store) {
	t.Cleanup(harness.Fewer())
	rapid.Check(t.T, func(rt *rapid.T) {
		m := &machine{want: memory.New(), got: t.Open(t.T)}
		m.other = second(t.T, m.got)
		defer m.got.Close()
		defer m.other.Close()
		rt.Repeat(map[string]func(*rapid.T){
			"append":  m.append,
			"append2": m.append,
			"append3": m.append,
			"bin":     m.bin,
			"delete":  m.delete,
			"lease":   m.lease,
			"scrub":   m.scrub,
			"search":  m.search,
			"":        m.look,
		})
		m.lookAll(rt)
	})
}

// A machine performs the same operations on two stores.
type machine struct {
	want, got, other skein.Store
	leases           [][2]skein.Lease // of want and of got
	touched          skein.SessionID
}

var ctx = context.Background()

// sentinels returns the errors that stores must agree on.
func sentinels() []error {
	return []error{
		skein.ErrNotFound, skein.ErrExists, skein.ErrConflict, skein.ErrMismatch, skein.ErrLocked, skein.ErrFenced, skein.ErrDeleted,
		skein.ErrRefused, skein.ErrInvalid,
	}
}

func class(err error) string {
	if err == nil {
		return "no error"
	}
	for _, s := range sentinels() {
		if errors.Is(err, s) {
			return s.Error()
		}
	}
	return "unexpected: " + err.Error()
}

// known reports whether err is one of sentinels.
func known(err error) bool {
	return slices.ContainsFunc(sentinels(), func(s error) bool { return errors.Is(err, s) })
}

// agree checks that both stores gave the same answer.
func agree[T any](rt *rapid.T, what string, want T, wantErr error, got T, gotErr error) {
	rt.Helper()
	if class(wantErr) != class(gotErr) {
		rt.Fatalf("%s: error %v, want %v", what, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func (m *machine) id(rt *rapid.T) skein.SessionID {
	m.touched = harness.Pick(rt, "session", skein.SessionID("a"), "b", "c", "d", "e")
	return m.touched
}

// as picks the user whose view of both stores to use; "" for the whole store.
func (m *machine) as(rt *rapid.T) (u skein.User, want, got skein.Store) {
	switch u = harness.Pick(rt, "user", skein.User(""), "", "", "", skein.Local, "ann"); u {
	case "":
		return u, m.want, m.got
	default:
		return u, m.want.As(u), m.got.As(u)
	}
}
