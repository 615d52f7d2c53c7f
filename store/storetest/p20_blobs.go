package storetest

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"

	"github.com/skein-dev/skein"
)

func blobs() []check {
	return []check{
		{name: "bytes in are bytes out", run: blobBytes},
		{name: "the hash is checked", run: blobHash},
		{name: "one that is missing is refused", run: blobMissing},
		{name: "seen only through a session that refers to it", run: blobThrough},
		{name: "through a fork, and after the parent is deleted", run: blobFork},
		{name: "of an amended message", run: blobAmended},
		{name: "kept once by 16 writers", run: blobMany},
	}
}

func (t *asker) blob(id skein.SessionID, b skein.Blob) {
	t.Helper()
	got, err := t.s.Blob(t.Context(), id, b.Hash)
	if err != nil || !bytes.Equal(got, b.Data) {
		t.Errorf("Blob(%s, %s) = %d bytes, %v, want %d bytes", id, b.Hash, len(got), err, len(b.Data))
	}
}

func (t *asker) noBlob(id skein.SessionID, b skein.Blob) {
	t.Helper()
	_, err := t.s.Blob(t.Context(), id, b.Hash)
	t.wantErr("Blob("+string(id)+")", err, skein.ErrNotFound)
}

func blobBytes(t *test) {
	r := rand.New(rand.NewPCG(5, 6))
	t.add("a", created())
	for _, n := range []int{0, 1, 100, 65536, 3 << 20} {
		random := make([]byte, n)
		for i := range random {
			random[i] = byte(r.Uint32())
		}
		for _, data := range [][]byte{random, bytes.Repeat([]byte{0}, n), []byte(strings.Repeat("text ", n/5))} {
			b := skein.NewBlob(data)
			for range 2 { // twice is fine
				t.append(skein.Batch{Session: "a", Events: []skein.Event{shows("x", b)}, Blobs: []skein.Blob{b}})
			}
			t.blob("a", b)
		}
	}
}

func blobHash(t *test) {
	b := skein.NewBlob([]byte("x"))
	b.Data = []byte("y")
	t.add("a", created())
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{shows("x", b)}, Blobs: []skein.Blob{b}}, skein.ErrInvalid)
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{user("x")}, Blobs: []skein.Blob{{Hash: "x", Data: []byte("x")}}}, skein.ErrInvalid)
	t.noBlob("a", b)
	for _, h := range []skein.Hash{"", "x", "../../etc/passwd", skein.Hash(strings.Repeat("G", 64))} {
		_, err := t.s.Blob(t.Context(), "a", h)
		t.wantErr("Blob", err, skein.ErrNotFound)
		e := shows("x", skein.Blob{Hash: h})
		if h != "" {
			t.refused(skein.Batch{Session: "a", Events: []skein.Event{e}}, skein.ErrInvalid)
		}
	}
}

func blobMissing(t *test) {
	b, c := skein.NewBlob([]byte("x")), skein.NewBlob([]byte("y"))
	t.add("a", created())
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{shows("x", b)}}, skein.ErrInvalid)
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{shows("x", b), shows("y", c)}, Blobs: []skein.Blob{b}}, skein.ErrInvalid)
	t.noBlob("a", b)
	_, err := t.s.Append(t.Context(),
		skein.Batch{Session: "a", Events: []skein.Event{shows("x", b)}, Blobs: []skein.Blob{b}},
		skein.Batch{Session: "b", Events: []skein.Event{created(), shows("x", b)}})
	t.noErr("Append of a blob that the batch before brings", err)
	t.add("c", created(), shows("x", b)) // the store already has it
	t.blob("c", b)
	t.append(skein.Batch{Session: "a", Events: []skein.Event{user("nothing refers to it")}, Blobs: []skein.Blob{c}})
	t.noBlob("a", c)
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{shows("y", c)}}, skein.ErrInvalid)
}

func blobThrough(t *test) {
	b := skein.NewBlob([]byte("x"))
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created(), shows("x", b)}, Blobs: []skein.Blob{b}})
	t.add("b", created(), user("x"))
	t.blob("a", b)
	t.noBlob("b", b)
	result := skein.Say(noon, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{
		{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Files: []skein.File{{Blob: b.Hash}}}},
	}})
	t.add("b", result)
	t.blob("b", b)
	t.delete("a")
	t.blob("b", b)
	t.delete("b")
	t.add("c", created())
	t.refused(skein.Batch{Session: "c", Events: []skein.Event{shows("x", b)}}, skein.ErrInvalid)
}

func blobFork(t *test) {
	b, c := skein.NewBlob([]byte("shown")), skein.NewBlob([]byte("not shown"))
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created(), shows("x", b), shows("y", c)}, Blobs: []skein.Blob{b, c}})
	t.add("f", fork("a", 2))
	t.blob("f", b)
	t.noBlob("f", c)
	t.delete("a")
	t.blob("f", b)
	t.noBlob("f", c)
	t.refused(skein.Batch{Session: "f", Events: []skein.Event{shows("y", c)}}, skein.ErrInvalid)
	t.add("f", shows("x", b))
	t.blob("f", b)
}

func blobAmended(t *test) {
	b, c := skein.NewBlob([]byte("before")), skein.NewBlob([]byte("after"))
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created(), shows("x", b)}, Blobs: []skein.Blob{b}})
	now := skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 2, Payload: shows("y", c).Payload})
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{now}}, skein.ErrInvalid)
	t.append(skein.Batch{Session: "a", Events: []skein.Event{now}, Blobs: []skein.Blob{c}})
	t.blob("a", b)
	t.blob("a", c)
}

func blobMany(t *test) {
	b := skein.NewBlob(bytes.Repeat([]byte("shared"), 20_000))
	everyone(16, func(w int) {
		id := skein.SessionID(string(rune('a' + w)))
		for range 3 {
			evs := []skein.Event{shows("x", b)}
			if _, err := t.s.Session(context.Background(), id); err != nil {
				evs = []skein.Event{created(), shows("x", b)}
			}
			if _, err := t.s.Append(context.Background(), skein.Batch{Session: id, Events: evs, Blobs: []skein.Blob{b}}); err != nil {
				t.Errorf("Append = %v", err)
			}
			if w%2 == 1 {
				if _, err := skein.LifecycleOf(t.s).Delete(context.Background(), id, skein.Deletion{}); err != nil {
					t.Errorf("Delete = %v", err)
				}
				return
			}
		}
	})
	for w := 0; w < 16; w += 2 {
		t.blob(skein.SessionID(string(rune('a'+w))), b)
	}
}
