package skein_test

import (
	"testing"

	"github.com/skein-dev/skein"
)

func TestFilterFits(t *testing.T) {
	s := skein.Session{
		ID: "one-2", Key: "k", User: "ann", First: "The Parser", Surface: "cli", Project: "/p", Agent: "a", Profile: "x", Model: "m",
		Parent: &skein.Parent{Session: "up", Why: skein.Child}, Origin: &skein.Origin{Format: "codex"},
		Pinned: true, Tags: []string{"t"}, Updated: 1000, Last: 1, Open: []string{"c"}, Binned: 5,
	}
	for name, f := range map[string]skein.Filter{
		"nothing":    {},
		"the user":   {User: "ann"},
		"the key":    {Key: "k"},
		"all texts":  {Project: "/p", Agent: "a", Profile: "x", Model: "m", Surface: "cli", Origin: "codex", Tag: "t"},
		"the parent": {Parent: "up"},
		"what it is": {Pinned: true, WithOpenCalls: true},
		"the times":  {Since: 1000, Until: 1001},
		"the ID":     {IDPrefix: "one", IDSuffix: "-2"},
		"the title":  {Title: "PARSER"},
	} {
		if f.Bin, f.IncludeEmpty = true, true; !f.Fits(&s) {
			t.Errorf("%+v (%s) does not fit", f, name)
		}
	}
	for _, f := range []skein.Filter{
		{User: "bob"},
		{Key: "K"},
		{Project: "/"},
		{Agent: "b"},
		{Profile: "y"},
		{Model: "m2"},
		{Origin: "cod"},
		{Surface: "api"},
		{Parent: "one-2"},
		{Tag: "T"},
		{Born: true},
		{NoChildren: true},
		{Since: 1001},
		{Until: 1000},
		{IDPrefix: "ne"},
		{IDSuffix: "one"},
		{Title: "the  parser"},
	} {
		if f.Bin, f.IncludeEmpty = true, true; f.Fits(&s) {
			t.Errorf("%+v fits %+v", f, s)
		}
	}
	if f := (skein.Filter{Bin: true}); f.Fits(&s) {
		t.Error("an empty one fits though IncludeEmpty is not set")
	}
	if f := (skein.Filter{IncludeEmpty: true}); f.Fits(&s) {
		t.Error("one in the bin fits though Bin is not set")
	}
	plain := skein.Session{ID: "x", Title: "Its title", First: "the parser", Last: 2}
	for _, f := range []skein.Filter{{Pinned: true}, {WithOpenCalls: true}, {Bin: true}, {Parent: "up"}, {Origin: "codex"}, {Tag: "t"}, {Title: "parser"}} {
		if f.Fits(&plain) {
			t.Errorf("%+v fits %+v", f, plain)
		}
	}
	if f := (skein.Filter{Born: true, NoChildren: true, Title: "TITLE"}); !f.Fits(&plain) {
		t.Errorf("%+v does not fit %+v", f, plain)
	}
}

func TestSessionsAreOrderedByTimeThenByID(t *testing.T) {
	old, a, b := skein.Session{ID: "0", Updated: 1}, skein.Session{ID: "a", Updated: 2}, skein.Session{ID: "b", Updated: 2}
	if a.Compare(&old) >= 0 || old.Compare(&a) <= 0 || a.Compare(&b) >= 0 || b.Compare(&a) <= 0 || a.Compare(&a) != 0 {
		t.Error("Compare does not put the latest first, and those of equal times by ID")
	}
}
