package reads

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func editing() []harness.Check {
	return []harness.Check{
		{Name: "by the file and by the line", Run: editsFound},
		{Name: "a message that changes more than an index takes", Run: editsOfMany},
		{Name: "what was amended, rewound and withdrawn", Run: editsAmended},
		{Name: "not those in the bin, nor of others", Run: editsOfOthers},
		{Name: "in the fork, after its parent was deleted", Run: editsForked},
		{Name: "not after they were deleted or scrubbed", Run: editsGone},
		{Name: "again, when the data is opened again", Two: editsReopened},
	}
}

const (
	editedLine  = "return strings.TrimSpace(name)"
	anotherLine = "return strings.ToUpper(name, 2)"
)

// wrote is a call that writes a line to a file, and its result.
func wrote(path, line string) []skein.Event {
	return fixture.Ran("write", "c", string(skein.MustJSON(map[string]string{"path": path, "content": line + "\n"})), "ok")
}

// edited returns the places of the messages with these keys; false if the store keeps no
// index of edits.
func edited(t *harness.Test, s skein.Store, keys []edits.IndexKey) (all []skein.Place, ok bool) {
	t.Helper()
	index, ok := skein.PartOf[edits.Index](s)
	if !ok {
		return nil, false
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(harness.Late); ; <-tick.C {
		all = nil
		var failed error
		for h, err := range index.Edits(t.Context(), keys) {
			if failed = err; err == nil {
				all = append(all, skein.Place{Session: h.Session, Seq: h.Seq})
				if h.Event == nil || h.Event.Seq != h.Seq {
					t.Errorf("Edits gives %+v at seq %d of %s, want its event", h.Event, h.Seq, h.Session)
				}
			}
		}
		if !errors.Is(failed, edits.ErrBehind) || time.Now().After(end) {
			t.NoErr("Edits", failed)
			return all, true
		}
	}
}

// wantEdited checks which messages are found by the keys of a file, and of a line.
func wantEdited(t *harness.Test, s skein.Store, file, line string, want ...skein.Place) {
	t.Helper()
	key, _ := edits.LineKey(line)
	for what, keys := range map[string][]edits.IndexKey{file: edits.FileKeys(file), line: {key}} {
		if what == "" {
			continue
		}
		if got, ok := edited(t, s, keys); ok && !cmp.Equal(got, want) {
			t.Errorf("Edits(%s) = %v, want %v", what, got, want)
		}
	}
}

// A message with very many different lines is found by each of them, and by others, which
// its reader tells apart.
func editsOfMany(t *harness.Test) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "the line of number %d\n", i)
	}
	t.Add("a", fixture.Created(), fixture.User("many lines"))
	t.Add("a", wrote("/p/many.txt", text.String())...)
	wantEdited(t, t.Store, "p/many.txt", "the line of number 19999", skein.Place{Session: "a", Seq: 3})
	wantEdited(t, t.Store, "p/few.txt", "", skein.Place{Session: "a", Seq: 3})
}

func editsFound(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("name/name.go "+editedLine))
	t.Add("a", wrote("/p/name/name.go", editedLine)...)
	t.Add("b", fixture.Created())
	t.Add("b", fixture.Ran("bash", "c", `{"command":"cat > name.go <<'E'\n`+anotherLine+`\nE\n"}`, "")...)
	wantEdited(t, t.Store, "", editedLine, harness.At("a", 3))
	wantEdited(t, t.Store, "", anotherLine, harness.At("b", 2))
	wantEdited(t, t.Store, "", "nobody wrote this line")
	wantEdited(t, t.Store, "other/name.go", "", harness.At("b", 2)) // it does not say in which folder
	got, ok := edited(t, t.Store, edits.FileKeys("name/name.go"))
	if ok && (len(got) != 2 || got[0].Session == got[1].Session) {
		t.Errorf("Edits(name/name.go) = %v, want those of a and of b", got)
	}
}

func editsAmended(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("write it"))
	t.Add("a", wrote("/p/d/x.go", editedLine)...)
	t.Add("a", skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 3, Payload: wrote("/p/d/y.go", anotherLine)[0].Payload}))
	wantEdited(t, t.Store, "d/x.go", editedLine)
	wantEdited(t, t.Store, "d/y.go", anotherLine, harness.At("a", 3))
	t.Add("a", skein.NewEvent(skein.KindRewound, fixture.Noon, skein.Rewound{To: 1}))
	wantEdited(t, t.Store, "d/y.go", anotherLine, harness.At("a", 3)) // the file may still have it
	t.Add("a", skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 3}))
	wantEdited(t, t.Store, "d/y.go", anotherLine)
}

func editsOfOthers(t *harness.Test) {
	ann, bob := t.Store.As("ann"), t.Store.As("bob")
	for id, s := range map[skein.SessionID]skein.Store{"a": ann, "b": bob} {
		_, err := skein.Add(t.Context(), s, id, append([]skein.Event{fixture.Created()}, wrote("/p/d/x.go", editedLine)...)...)
		t.NoErr("Add", err)
	}
	wantEdited(t, ann, "d/x.go", editedLine, harness.At("a", 2))
	wantEdited(t, bob, "d/x.go", editedLine, harness.At("b", 2))
	t.Bin("a")
	wantEdited(t, t.Store, "d/x.go", editedLine, harness.At("b", 2))
}

func editsForked(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("a", wrote("/p/d/x.go", editedLine)...)
	t.Add("b", fixture.Fork("a", 3), fixture.User("go on"))
	wantEdited(t, t.Store, "d/x.go", editedLine, harness.At("a", 2))
	t.Delete("a")
	wantEdited(t, t.Store, "d/x.go", editedLine, harness.At("b", 2))
}

func editsGone(t *harness.Test) {
	for _, id := range []skein.SessionID{"a", "b"} {
		t.Add(id, fixture.Created())
		t.Add(id, wrote("/p/d/x.go", editedLine)...)
		t.Add(id, wrote("/p/d/key.go", fixture.Secret+" is the key of it")...)
	}
	wantEdited(t, t.Store, "d/key.go", fixture.Secret+" is the key of it", harness.At("b", 4), harness.At("a", 4))
	t.Delete("b")
	wantEdited(t, t.Store, "d/x.go", editedLine, harness.At("a", 2))
	t.Scrub("a", fixture.Secret)
	wantEdited(t, t.Store, "", fixture.Secret+" is the key of it")
	wantEdited(t, t.Store, "d/key.go", "", harness.At("a", 4))
	t.Delete("a")
	wantEdited(t, t.Store, "d/x.go", editedLine)
}

func editsReopened(t *harness.Test, other skein.Store) {
	t.Add("a", fixture.Created())
	t.Add("a", wrote("/p/d/x.go", editedLine)...)
	wantEdited(t, other, "d/x.go", editedLine, harness.At("a", 2))
	t.NoErr("Close", t.Store.Close())
	t.NoErr("Close", other.Close())
	t.Store = t.Dial()
	wantEdited(t, t.Store, "d/x.go", editedLine, harness.At("a", 2))
}
