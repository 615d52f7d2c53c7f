package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
)

// kilobyte returns a message of some 1,000 bytes.
func kilobyte(i int) skein.Event {
	words := fmt.Sprintf("message %d: the quick parser read file_%d.go and found nothing wrong with it, ", i, i%97)
	return skein.Say(skein.Time(1795230386123+int64(i)), skein.UserSays(strings.Repeat(words, 900/len(words))))
}

func BenchmarkJSONL(b *testing.B) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "log.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	i := 0
	for b.Loop() {
		e := kilobyte(i)
		i++
		line, err := e.MarshalJSON()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func begin(t testing.TB, s skein.Store, id skein.SessionID) {
	t.Helper()
	_, err := s.Append(t.Context(), skein.Batch{Session: id, Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1795230386123, skein.Created{})}})
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkAppend(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "x.db"))
	begin(b, s, "s")
	i := 0
	for b.Loop() {
		e := kilobyte(i)
		i++
		e.ClientID = skein.ClientID(fmt.Sprint("client-", i))
		if _, err := s.Append(b.Context(), skein.Batch{Session: "s", Events: []skein.Event{e}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend64(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "x.db"))
	for i := range 64 {
		begin(b, s, skein.SessionID(fmt.Sprint("s", i)))
	}
	b.ResetTimer()
	var all sync.WaitGroup
	for w := range 64 {
		all.Go(func() {
			for i := w; i < b.N; i += 64 {
				e := kilobyte(i)
				e.ClientID = skein.ClientID(fmt.Sprint("client-", i))
				if _, err := s.Append(b.Context(), skein.Batch{Session: skein.SessionID(fmt.Sprint("s", w)), Events: []skein.Event{e}}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkNewest(b *testing.B) {
	s := talkative(b)
	for b.Loop() {
		if es, err := s.Newest(b.Context(), "s", 50, 0); err != nil || len(es) != 50 {
			b.Fatal(len(es), err)
		}
	}
}

func BenchmarkWindow(b *testing.B) {
	s := talkative(b)
	for b.Loop() {
		if es, err := s.Window(b.Context(), "s", 50); err != nil || len(es) < 50 {
			b.Fatal(len(es), err)
		}
	}
}

// talkative returns a store whose session s has 20,000 messages of a kilobyte.
func talkative(b *testing.B) skein.Store {
	s := open(b, filepath.Join(b.TempDir(), "x.db"))
	begin(b, s, "s")
	for i := range 100 {
		var evs []skein.Event
		for k := range 200 {
			evs = append(evs, kilobyte(i*200+k))
		}
		add(b, s, "s", evs...)
	}
	return s
}
