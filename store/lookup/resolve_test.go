package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lookup"
)

// shelf is a Store that has sessions and source files, and nothing else.
type shelf struct {
	skein.Store
	skein.Sources
	sessions []skein.Session
	files    []skein.SourceFile
	broken   error // of every call
}

func (s *shelf) Unwrap() skein.Store { return s.Store }

func (s *shelf) Session(_ context.Context, id skein.SessionID) (skein.Session, error) {
	i := slices.IndexFunc(s.sessions, func(t skein.Session) bool { return t.ID == id })
	switch {
	case s.broken != nil:
		return skein.Session{}, s.broken
	case i < 0:
		return skein.Session{}, skein.ErrNotFound
	}
	return s.sessions[i], nil
}

func (s *shelf) Sessions(_ context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	return func(yield func(skein.Session, error) bool) {
		n := 0
		for _, t := range s.sessions {
			ok := (f.Key == "" || t.Key == f.Key) && (f.User == "" || t.User == f.User) && (t.Binned != 0) == f.Bin &&
				strings.HasPrefix(string(t.ID), f.IDPrefix) && strings.HasSuffix(string(t.ID), f.IDSuffix) &&
				strings.Contains(strings.ToLower(t.Name()), strings.ToLower(f.Title))
			if n++; ok && (!yield(t, nil) || n == f.Limit) {
				return
			}
		}
	}
}

func (s *shelf) FilesNamed(_ context.Context, part string) iter.Seq2[skein.SourceFile, error] {
	return func(yield func(skein.SourceFile, error) bool) {
		for _, f := range s.files {
			fits := strings.HasPrefix(f.ID, part) || strings.HasSuffix(f.ID, part)
			if fits && !yield(f, nil) {
				return
			}
		}
	}
}

func TestResolve(t *testing.T) {
	s := &shelf{
		sessions: []skein.Session{
			{ID: "0190aaaa-1111", User: "u", Key: "cli:api", Title: "Fix the parser"},
			{ID: "0190bbbb-2222", Key: "cli:web", Title: "fix the parser again"},
			{ID: "0190cccc-2223", Title: "Report"},
			{ID: "2222", First: "what is a queue"},
			{ID: "0190dddd-3333", Title: "report", Binned: 1},
			{ID: "cli:api:1", Title: "cli:api"},
			{ID: "0190eeee-4444", Title: "Parser, the third"},
			{ID: "01KXAMPE", Title: "Capitals"},
		},
		files: []skein.SourceFile{
			{Session: "0190aaaa-1111", ID: "ses_original"},
			{CopyOf: "0190bbbb-2222", ID: "ses_copy_99"},
			{CopyOf: "gone", ID: "ses_dangling"},
			{ID: "ses_nowhere"},
		},
	}
	for _, c := range []struct {
		name   string
		filter skein.Filter
		want   string // IDs
	}{
		{"0190aaaa-1111", skein.Filter{}, "0190aaaa-1111"},
		{"2222", skein.Filter{}, "2222"},
		{"cli:api", skein.Filter{}, "0190aaaa-1111"},
		{"cli:api:1", skein.Filter{}, "cli:api:1"},
		{"0190b", skein.Filter{}, "0190bbbb-2222"},
		{"0190B", skein.Filter{}, "0190bbbb-2222"},
		{"01kxa", skein.Filter{}, "01KXAMPE"},
		{"2223", skein.Filter{}, "0190cccc-2223"},
		{"0190", skein.Filter{}, "0190aaaa-1111 0190bbbb-2222 0190cccc-2223 0190eeee-4444"},
		{"019", skein.Filter{}, ""},
		{"ses_original", skein.Filter{}, "0190aaaa-1111"},
		{"y_99", skein.Filter{}, "0190bbbb-2222"},
		{"ses_dangling", skein.Filter{}, ""},
		{"ses_nowhere", skein.Filter{}, ""},
		{"ses_original", skein.Filter{User: "u"}, "0190aaaa-1111"},
		{"ses_original", skein.Filter{User: "v"}, ""},
		{"ses_original", skein.Filter{Bin: true}, ""},
		{"FIX THE PARSER", skein.Filter{}, "0190aaaa-1111"},
		{"report", skein.Filter{}, "0190cccc-2223"},
		{"report", skein.Filter{Bin: true}, "0190dddd-3333"},
		{"0190dddd-3333", skein.Filter{}, "0190dddd-3333"},
		{"what is a queue", skein.Filter{}, "2222"},
		{"again", skein.Filter{}, "0190bbbb-2222"},
		{"parser", skein.Filter{}, "0190aaaa-1111 0190bbbb-2222 0190eeee-4444"},
		{"nothing like it", skein.Filter{}, ""},
	} {
		got, err := lookup.Resolve(t.Context(), s, c.name, c.filter)
		ids := string(got.ID)
		var several *skein.AmbiguousError
		switch {
		case errors.As(err, &several) && errors.Is(err, skein.ErrAmbiguous):
			for _, s := range several.Candidates {
				ids += " " + string(s.ID)
			}
			ids = ids[1:]
		case err != nil && !errors.Is(err, skein.ErrNotFound):
			t.Errorf("Resolve(%q): %v", c.name, err)
		}
		if ids != c.want {
			t.Errorf("Resolve(%q, %+v) = %q, %v; want %q", c.name, c.filter, ids, err, c.want)
		}
	}
	if _, err := lookup.Resolve(t.Context(), s, " ", skein.Filter{}); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Resolve of nothing: %v, want an error wrapping ErrInvalid", err)
	}
}

func TestResolveNamesSomeOfManyCandidates(t *testing.T) {
	s := &shelf{}
	for i := range 100 {
		s.sessions = append(s.sessions, skein.Session{ID: skein.SessionID(fmt.Sprint("same", i)), Title: "same"})
	}
	for _, name := range []string{"same", "sam"} {
		_, err := lookup.Resolve(t.Context(), s, name, skein.Filter{})
		var several *skein.AmbiguousError
		if !errors.As(err, &several) || len(several.Candidates) != lookup.MaxCandidates || !several.More {
			t.Errorf("Resolve(%q) of 100 = %v, want an AmbiguousError of %d and more", name, err, lookup.MaxCandidates)
		}
	}
}

func TestResolveDoesNotTurnAnErrorIntoNotFound(t *testing.T) {
	broken := errors.New("disk on fire")
	if _, err := lookup.Resolve(t.Context(), &shelf{broken: broken}, "name", skein.Filter{}); !errors.Is(err, broken) || errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Resolve on a broken store: %v, want %v", err, broken)
	}
}

func TestShortIDs(t *testing.T) {
	for _, c := range []struct{ ids, want []skein.SessionID }{
		{nil, []skein.SessionID{}},
		{
			[]skein.SessionID{"0190f1e2-aaaa-7bbb-8ccc-0123456789ab", "0190f1e2-aaaa-7bbb-8ccc-0123456789ac", "0190f1e2-aaaa-7bbb-8ccc-ff23456789ac"},
			[]skein.SessionID{"456789ab", "123456789ac", "f23456789ac"},
		},
		{
			[]skein.SessionID{"11111111-aaaa-7bbb-8ccc-0123456789ab", "22222222-aaaa-7bbb-9ccc-0123456789ab"},
			[]skein.SessionID{"8ccc-0123456789ab", "9ccc-0123456789ab"},
		},
		{
			[]skein.SessionID{"fix-login-2026-01-05", "fix-logout-2026-01-05", "short", "ses_4f9a8e7d6c5b4a"},
			[]skein.SessionID{"fix-logi", "fix-logo", "short", "7d6c5b4a"},
		},
		{
			[]skein.SessionID{"session-one", "session-one-more", "x-session-one"},
			[]skein.SessionID{"session-one", "session-one-", "x-sessio"},
		},
		{
			[]skein.SessionID{"résumé-été-noël", "résumé-été-pâques"},
			[]skein.SessionID{"résumé-été-n", "résumé-été-p"},
		},
	} {
		got := lookup.ShortIDs(c.ids)
		want := make([]string, len(c.want))
		for i, id := range c.want {
			want[i] = string(id)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ShortIDs(%q) (-want +got):\n%s", c.ids, diff)
		}
	}
}

func TestShortIDsResolve(t *testing.T) {
	s := &shelf{}
	var ids []skein.SessionID
	for i := range 300 {
		ids = append(ids, skein.NewSessionID(skein.Time(1795230386350+int64(i)*7).Std()), skein.SessionID(fmt.Sprintf("project-%d-2026-01-05", i)))
	}
	for _, id := range ids {
		s.sessions = append(s.sessions, skein.Session{ID: id})
	}
	for i, short := range lookup.ShortIDs(ids) {
		if got, err := lookup.Resolve(t.Context(), s, short, skein.Filter{}); err != nil || got.ID != ids[i] {
			t.Fatalf("Resolve(%q) = %s, %v; want %s", short, got.ID, err, ids[i])
		}
	}
}

// A name that a session in the bin has does not fall to another session, part of
// whose title it is.
func TestTheNameOfABinnedSessionIsNotPartOfAnother(t *testing.T) {
	s := &shelf{sessions: []skein.Session{
		{ID: "0190aaaa-1111", Title: "My notes about tax"},
		{ID: "0190bbbb-2222", Key: "notes", Binned: 1},
		{ID: "0190cccc-3333", Title: "About", Binned: 1},
		{ID: "0190dddd-4444", Title: "the tax of others", Binned: 1},
	}}
	for name, want := range map[string]skein.SessionID{"notes": "", "about": "", "tax": "0190aaaa-1111"} {
		got, err := lookup.Resolve(t.Context(), s, name, skein.Filter{})
		if got.ID != want || errors.Is(err, skein.ErrNotFound) != (want == "") {
			t.Errorf("Resolve(%q) = %q, %v; want %q", name, got.ID, err, want)
		}
	}
	if got, err := lookup.Resolve(t.Context(), s, "notes", skein.Filter{Bin: true}); err != nil || got.ID != "0190bbbb-2222" {
		t.Errorf("in the bin, it is %q, %v", got.ID, err)
	}
}
