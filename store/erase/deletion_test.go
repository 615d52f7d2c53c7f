package erase_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

func TestADeletionDecidesAboutTheChildren(t *testing.T) {
	s := &skein.Session{ID: "s", Last: 7}
	children := []erase.ChildRow{{ID: "a"}, {ID: "b", Binned: true}, {ID: "c"}}
	for _, x := range []struct {
		name     string
		d        skein.Deletion
		held     *skein.Holder
		children []erase.ChildRow
		want     skein.Deleted
		err      error
	}{
		{"keeps all, also those in the bin", skein.Deletion{}, nil, children, skein.Deleted{Children: []skein.SessionID{"a", "b", "c"}}, nil},
		{"keeps all if it says so", skein.Deletion{Children: skein.KeepChildren}, nil, children, skein.Deleted{Children: []skein.SessionID{"a", "b", "c"}}, nil},
		{"bins those that are not in the bin", skein.Deletion{Children: skein.BinChildren}, nil, children, skein.Deleted{Binned: []skein.SessionID{"a", "c"}}, nil},
		{"refuses if there are any", skein.Deletion{Children: skein.RefuseChildren}, nil, children, skein.Deleted{}, skein.ErrRefused},
		{"refuses nothing if there are none", skein.Deletion{Children: skein.RefuseChildren}, nil, nil, skein.Deleted{}, nil},
		{"knows its rules", skein.Deletion{Children: "eat"}, &skein.Holder{}, nil, skein.Deleted{}, skein.ErrInvalid},
		{"waits for the lease", skein.Deletion{After: 6}, &skein.Holder{}, nil, skein.Deleted{}, skein.ErrLocked},
		{"is for what was seen", skein.Deletion{After: 6, Children: skein.RefuseChildren}, nil, children, skein.Deleted{}, skein.ErrConflict},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, err := erase.Delete(s, x.d, x.held, x.children)
			if !errors.Is(err, x.err) {
				t.Fatalf("Delete: %v, want %v", err, x.err)
			}
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Errorf("Delete (-want +got):\n%s", diff)
			}
		})
	}
}
