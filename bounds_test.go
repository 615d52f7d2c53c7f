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
	var f skein.Folder
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
