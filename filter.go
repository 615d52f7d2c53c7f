package skein

import (
	"cmp"
	"slices"
	"strings"
)

// Fits reports whether f lets s through, its fields Before, LargerThan and Limit
// aside: what a store's index cannot say exactly can be held against it.
func (f *Filter) Fits(s *Session) bool {
	var parent Parent
	if s.Parent != nil {
		parent = *s.Parent
	}
	var origin string
	if s.Origin != nil {
		origin = s.Origin.Format
	}
	for _, x := range []struct{ want, is string }{
		{string(f.User), string(s.User)},
		{f.Key, s.Key},
		{f.Project, s.Project},
		{f.Agent, s.Agent},
		{f.Profile, s.Profile},
		{f.Model, s.Model},
		{f.Origin, origin},
		{f.Surface, s.Surface},
		{string(f.Parent), string(parent.Session)},
	} {
		if x.want != "" && x.want != x.is {
			return false
		}
	}
	return f.Bin == (s.Binned != 0) &&
		(f.Tag == "" || slices.Contains(s.Tags, f.Tag)) &&
		(!f.Pinned || s.Pinned) &&
		(!f.Born || s.Origin == nil) &&
		(!f.NoChildren || parent.Why != Child) &&
		(f.Since == 0 || s.Updated >= f.Since) &&
		(f.Until == 0 || s.Updated < f.Until) &&
		strings.HasPrefix(string(s.ID), f.IDPrefix) &&
		strings.HasSuffix(string(s.ID), f.IDSuffix) &&
		(f.IncludeEmpty || s.Last > 1) &&
		(!f.WithOpenCalls || len(s.Open) > 0) &&
		f.fitsTitle(s)
}

func (f *Filter) fitsTitle(s *Session) bool {
	return f.Title == "" || strings.Contains(strings.ToLower(cmp.Or(s.Title, s.First)), strings.ToLower(f.Title))
}

// Compare compares s and t by the order of [Store.Sessions]: negative if s comes
// before t.
func (s *Session) Compare(t *Session) int {
	return cmp.Or(cmp.Compare(t.Updated, s.Updated), cmp.Compare(s.ID, t.ID))
}
