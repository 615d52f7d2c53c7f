package appends

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func blobs() []harness.Check {
	return []harness.Check{
		{Name: "bytes in are bytes out", Run: blobBytes},
		{Name: "the hash is checked", Run: blobHash},
		{Name: "one that is missing is refused", Run: blobMissing},
		{Name: "seen only through a session that refers to it", Run: blobThrough},
		{Name: "through a fork, and after the parent is deleted", Run: blobFork},
		{Name: "of an amended message", Run: blobAmended},
		{Name: "kept once by 16 writers", Run: blobMany},
	}
}

func blobBytes(t *harness.Test) {
	r := rand.New(rand.NewPCG(5, 6))
	t.Add("a", fixture.Created())
	for _, n := range []int{0, 1, 100, 65536, 3 << 20} {
		random := make([]byte, n)
		for i := range random {
			random[i] = byte(r.Uint32())
		}
		for _, data := range [][]byte{random, bytes.Repeat([]byte{0}, n), []byte(strings.Repeat("text ", n/5))} {
			b := skein.NewBlob(data)
			for range 2 { // twice is fine
				t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Shows("x", b)}, Blobs: []skein.Blob{b}})
			}
			t.Blob("a", b)
		}
	}
}

func blobHash(t *harness.Test) {
	b := skein.NewBlob([]byte("x"))
	b.Data = []byte("y")
	t.Add("a", fixture.Created())
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.Shows("x", b)}, Blobs: []skein.Blob{b}}, skein.ErrInvalid)
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.User("x")}, Blobs: []skein.Blob{{Hash: "x", Data: []byte("x")}}}, skein.ErrInvalid)
	t.NoBlob("a", b)
	for _, h := range []skein.Hash{"", "x", "../../etc/passwd", skein.Hash(strings.Repeat("G", 64))} {
		_, err := t.Store.Blob(t.Context(), "a", h)
		t.WantErr("Blob", err, skein.ErrNotFound)
		e := fixture.Shows("x", skein.Blob{Hash: h})
		if h != "" {
			t.Refused(skein.Batch{Session: "a", Events: []skein.Event{e}}, skein.ErrInvalid)
		}
	}
}

func blobMissing(t *harness.Test) {
	b, c := skein.NewBlob([]byte("x")), skein.NewBlob([]byte("y"))
	t.Add("a", fixture.Created())
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.Shows("x", b)}}, skein.ErrInvalid)
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.Shows("x", b), fixture.Shows("y", c)}, Blobs: []skein.Blob{b}}, skein.ErrInvalid)
	t.NoBlob("a", b)
	_, err := t.Store.Append(t.Context(),
		skein.Batch{Session: "a", Events: []skein.Event{fixture.Shows("x", b)}, Blobs: []skein.Blob{b}},
		skein.Batch{Session: "b", Events: []skein.Event{fixture.Created(), fixture.Shows("x", b)}})
	t.NoErr("Append of a blob that the batch before brings", err)
	t.Add("c", fixture.Created(), fixture.Shows("x", b)) // the store already has it
	t.Blob("c", b)
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.User("nothing refers to it")}, Blobs: []skein.Blob{c}})
	t.NoBlob("a", c)
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.Shows("y", c)}}, skein.ErrInvalid)
}

func blobThrough(t *harness.Test) {
	b := skein.NewBlob([]byte("x"))
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), fixture.Shows("x", b)}, Blobs: []skein.Blob{b}})
	t.Add("b", fixture.Created(), fixture.User("x"))
	t.Blob("a", b)
	t.NoBlob("b", b)
	result := skein.Say(fixture.Noon, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{
		{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Files: []skein.File{{Blob: b.Hash}}}},
	}})
	t.Add("b", result)
	t.Blob("b", b)
	t.Delete("a")
	t.Blob("b", b)
	t.Delete("b")
	t.Add("c", fixture.Created())
	t.Refused(skein.Batch{Session: "c", Events: []skein.Event{fixture.Shows("x", b)}}, skein.ErrInvalid)
}

func blobFork(t *harness.Test) {
	b, c := skein.NewBlob([]byte("shown")), skein.NewBlob([]byte("not shown"))
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), fixture.Shows("x", b), fixture.Shows("y", c)}, Blobs: []skein.Blob{b, c}})
	t.Add("f", fixture.Fork("a", 2))
	t.Blob("f", b)
	t.NoBlob("f", c)
	t.Delete("a")
	t.Blob("f", b)
	t.NoBlob("f", c)
	t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Shows("y", c)}}, skein.ErrInvalid)
	t.Add("f", fixture.Shows("x", b))
	t.Blob("f", b)
}

func blobAmended(t *harness.Test) {
	b, c := skein.NewBlob([]byte("before")), skein.NewBlob([]byte("after"))
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), fixture.Shows("x", b)}, Blobs: []skein.Blob{b}})
	now := skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 2, Payload: fixture.Shows("y", c).Payload})
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{now}}, skein.ErrInvalid)
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{now}, Blobs: []skein.Blob{c}})
	t.Blob("a", b)
	t.Blob("a", c)
}

func blobMany(t *harness.Test) {
	b := skein.NewBlob(bytes.Repeat([]byte("shared"), 20_000))
	harness.Everyone(16, func(w int) {
		id := skein.SessionID(string(rune('a' + w)))
		for range 3 {
			evs := []skein.Event{fixture.Shows("x", b)}
			if _, err := t.Store.Session(context.Background(), id); err != nil {
				evs = []skein.Event{fixture.Created(), fixture.Shows("x", b)}
			}
			if _, err := t.Store.Append(context.Background(), skein.Batch{Session: id, Events: evs, Blobs: []skein.Blob{b}}); err != nil {
				t.Errorf("Append = %v", err)
			}
			if w%2 == 1 {
				if _, err := skein.LifecycleOf(t.Store).Delete(context.Background(), id, skein.Deletion{}); err != nil {
					t.Errorf("Delete = %v", err)
				}
				return
			}
		}
	})
	for w := 0; w < 16; w += 2 {
		t.Blob(skein.SessionID(string(rune('a'+w))), b)
	}
}
