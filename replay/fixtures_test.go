package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/replay"
	"github.com/skein-dev/skein/store/memory"
)

var noon = skein.At(time.Date(2026, 11, 21, 12, 0, 0, 123e6, time.UTC))

// raw returns an event with this payload, byte for byte.
func raw(kind skein.Kind, id skein.ClientID, payload string) skein.Event {
	return skein.Event{Kind: kind, ClientID: id, Time: noon, Payload: []byte(payload)}
}

// picture is longer than one piece of a blob.
var picture = skein.NewBlob(bytes.Repeat([]byte("a picture \x00\xff"), 100_000))

// strange are payloads that a careless writer would change.
var strange = []skein.Event{
	raw(skein.KindSaid, "c1", `{"role":"user","parts":[{"kind":"text","text":"NUL \u0000, lone \ud800, U+2028 `+"\u2028"+`, <b>&amp;"}]}`),
	raw(skein.KindSaid, "", `{ "parts" : [ ],	"role" : "assistant", "unknown": 1.50e+3, "role2": "\u003c" }`),
	raw(skein.KindSaid, "c2", "{\r\n  \"role\": \"user\",\n  \"parts\": []\n}"),
	raw(skein.KindSaid, "c3", "{\"role\":\"user\",\"parts\":[{\"kind\":\"text\",\"text\":\"not UTF-8: \xff\"}]}"),
	raw("unheard-of", "c4", `{"a":`+strings.Repeat("[", 9_500)+strings.Repeat("]", 9_500)+`}`),
	raw(skein.KindNoted, "c5", `{"name":"n","data":{"b":1,"b":2}}`),
	{Kind: skein.KindNoted, Payload: []byte(`{"name":"without a time"}`)},
}

// family returns a store with a session "p", a fork of it "f", a fork of that "g",
// and a child "c".
func family(t *testing.T) *memory.Store {
	t.Helper()
	return familyOf(t, picture, strange)
}

// small is family with a blob and short payloads.
func small(t *testing.T) *memory.Store {
	t.Helper()
	short := slices.Clone(strange)
	short[4] = raw("unheard-of", "c4", `{"a":[]}`)
	return familyOf(t, skein.NewBlob([]byte("a small picture")), short)
}

func familyOf(t *testing.T, picture skein.Blob, strange []skein.Event) *memory.Store {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { _ = s.Close() })
	add := func(id skein.SessionID, events ...skein.Event) {
		t.Helper()
		b := skein.Batch{Session: id, Events: events, Blobs: []skein.Blob{picture}}
		if _, err := s.Append(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	created := func(c skein.Created) skein.Event { return skein.NewEvent(skein.KindCreated, noon, c) }
	fork := func(of skein.SessionID, at skein.Seq) skein.Event {
		return created(skein.Created{Parent: &skein.Parent{Session: of, Seq: at, Why: skein.Fork}})
	}
	shows := skein.UserSays("look at this")
	shows.Parts = append(shows.Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Name: "p.png", Blob: picture.Hash}})
	answer := skein.Message{ID: "m1", Role: skein.RoleAssistant, Model: "m", Request: "r1", Parts: []skein.Part{skein.TextPart("A.")}, Usage: &skein.Usage{Input: 10, Output: 3}}
	add("p", created(skein.Created{Key: "cli:p", Title: "A family", Project: "/p", User: skein.Local}))
	add("p", strange...)
	add("p", skein.Say(noon, shows), skein.Say(noon+1, answer), skein.NewEvent(skein.KindTitled, noon, skein.Titled{Title: "Mine", By: skein.ByPerson}))
	add("f", fork("p", 10), skein.Say(noon+2, skein.UserSays("another way")), skein.Say(noon+3, answer))
	add("p", skein.Say(noon+4, skein.UserSays("only in p")))
	add("g", fork("f", 12), skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 9}), skein.Say(noon+5, shows))
	add("g", skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 15, Payload: skein.MustJSON(skein.UserSays("amended"))}))
	add("c", created(skein.Created{Parent: &skein.Parent{Session: "p", Seq: 9, Why: skein.Child, Call: "call"}}), skein.Say(noon, skein.UserSays("go")))
	return s
}

func write(t *testing.T, s skein.Store, ids ...skein.SessionID) string {
	t.Helper()
	var b bytes.Buffer
	for _, id := range ids {
		if _, err := replay.Write(context.Background(), &b, s, id); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func load(t *testing.T, s skein.Store, log string) replay.Loaded {
	t.Helper()
	done, err := replay.Load(context.Background(), s, strings.NewReader(log), replay.Options{})
	if err != nil {
		t.Fatalf("Load = %v", err)
	}
	return done
}

func eventsOf(t *testing.T, s skein.Store, id skein.SessionID) (all []skein.Event) {
	t.Helper()
	for e, err := range s.Events(context.Background(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// sameSession compares session id, and all its events, in two stores.
func sameSession(t *testing.T, what string, want, got skein.Store, id skein.SessionID) {
	t.Helper()
	a, err := want.Session(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	b, err := got.Session(context.Background(), id)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("%s: session %s (-want +got):\n%s", what, id, diff)
	}
	sameEvents(t, fmt.Sprintf("%s: session %s", what, id), eventsOf(t, want, id), eventsOf(t, got, id))
}

func sameEvents(t *testing.T, what string, want, got []skein.Event) {
	t.Helper()
	equal := func(a, b skein.Event) bool {
		return a.Seq == b.Seq && a.Kind == b.Kind && a.ClientID == b.ClientID && a.Time == b.Time && bytes.Equal(a.Payload, b.Payload)
	}
	if !slices.EqualFunc(want, got, equal) {
		t.Errorf("%s: events\n%s\nwant\n%s", what, list(got), list(want))
	}
}

func list(events []skein.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s %q %.120q\n", e.Seq, e.Kind, e.ClientID, e.Payload)
	}
	return b.String()
}
