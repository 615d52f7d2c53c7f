package skein_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

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

// What a Time cannot hold as text never becomes one, so that no event of a
// transcript can be one that cannot be written.
func TestTimesOutsideOfTextAreRefused(t *testing.T) {
	for _, s := range []string{"9999-12-31T23:59:59-05:00", "0000-01-01T00:00:00+01:00"} {
		if got, err := skein.ParseTime(s); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("ParseTime(%q) = %d, %v, want ErrInvalid", s, got, err)
		}
	}
	for _, s := range []string{"9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z", "0000-01-01T01:00:00.000+01:00"} {
		got, err := skein.ParseTime(s)
		if err != nil || got.String() != strings.Replace(strings.Replace(s, "T01", "T00", 1), "+01:00", "Z", 1) {
			t.Errorf("ParseTime(%q) = %s, %v", s, got, err)
		}
	}
	for _, far := range []time.Time{time.Unix(1<<40, 0), time.Unix(-1<<40, 0), time.UnixMilli(math.MaxInt64), time.UnixMilli(math.MinInt64)} {
		if got := skein.At(far); got != 0 {
			t.Errorf("At(%v) = %d, want 0: not known", far, got)
		}
	}
	for _, far := range []skein.Time{math.MaxInt64, math.MinInt64, 253402300800000, -62167219200001} {
		if _, err := skein.FactsOf(skein.Event{Kind: "noted", Time: far, Payload: []byte(`{}`)}); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("FactsOf(an event at %d) = %v, want ErrInvalid", far, err)
		}
	}
}

func TestAKindIsUTF8(t *testing.T) {
	if _, err := skein.FactsOf(skein.Event{Kind: "a\xff", Payload: []byte(`{}`)}); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf(`FactsOf(an event of kind "a\xff") = %v, want ErrInvalid`, err)
	}
}

func TestFirstWordsAreWordsThoughSpaceComesFirst(t *testing.T) {
	if got := skein.FirstWords(strings.Repeat("\n ", 2000) + "hello\n you"); got != "hello you" {
		t.Errorf("FirstWords = %q, want %q", got, "hello you")
	}
}

// A hundred thousand pieces are put together in no time: were each piece to
// copy those before it, this test would not end.
func TestAMessageOfManyPiecesIsPutTogether(t *testing.T) {
	const n = 100_000
	events := make([]skein.Event, n)
	for i := range events {
		m := skein.Message{ID: "m", Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(fmt.Sprintf("%06d", i))}}
		events[i] = skein.Say(1, m)
		events[i].Seq = skein.Seq(i + 1)
	}
	var f skein.EntryBuilder
	for _, e := range events {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time from the same pieces
		got := f.Entries()
		if len(got) != 1 || len(got[0].Message.Parts) != n || got[0].Message.Parts[n-1].Text != "099999" {
			t.Fatalf("Entries gives %d messages, the first of %d parts, want 1 of %d", len(got), len(got[0].Message.Parts), n)
		}
	}
}
