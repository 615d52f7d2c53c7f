package live

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// A nobody owns a session in which nothing happens.
type nobody struct{}

func (nobody) Base() (skein.Seq, error)                     { return 1, nil }
func (nobody) Known() skein.Seq                             { return 1 }
func (nobody) Mark()                                        {}
func (nobody) Decide(string, json.RawMessage, string) error { return ErrAnswered }
func (nobody) Cancel(string) error                          { return nil }
func (nobody) Prompt(json.RawMessage, string, func(json.RawMessage, error)) error {
	return nil
}

// Users of one store may have sessions with the same ID.
func TestASessionOfAnotherUserIsNotReached(t *testing.T) {
	at := Sockets{Dir: t.TempDir(), Store: "x"}
	l, err := at.Of("ann").listen(t.Context(), "same")
	if err != nil {
		t.Fatal(err)
	}
	h := NewHub(nobody{}, "same", "1")
	go h.accept(l) //nolint:errcheck // it ends with the test
	t.Cleanup(h.Close)
	if _, err := at.Of("bob").Attach(t.Context(), "same", Attach{}); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("bob attaches to ann's session: %v, want %v", err, skein.ErrNotFound)
	}
	a, err := at.Of("ann").Attach(t.Context(), "same", Attach{})
	if err != nil {
		t.Fatalf("ann attaches to her session: %v", err)
	}
	a.Close()
}

// The system's limit of about 100 bytes for the path of a socket is not one for the path
// of the folder.
func TestASessionIsReachedInAFolderWithALongPath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux binds a socket in a folder whose path is over the limit")
	}
	at := Sockets{Dir: filepath.Join(t.TempDir(), strings.Repeat("deep/", 60)), Store: "x"}
	l, err := at.listen(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	h := NewHub(nobody{}, "s", "1")
	go h.accept(l) //nolint:errcheck // it ends with the test
	a, err := at.Attach(t.Context(), "s", Attach{})
	if err != nil {
		t.Fatalf("attach: %v", err)
	}
	a.Close()
	h.Close()
	if left, err := os.ReadDir(at.Dir); err != nil || len(left) != 0 {
		t.Errorf("after the session was closed, %v, %v is left", left, err)
	}
}

// A program that another one took a session over from leaves the other's socket alone when
// it ends.
func TestTheSocketOfTheNextProgramStays(t *testing.T) {
	at := Sockets{Dir: t.TempDir(), Store: "x"}
	first, err := at.listen(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	second, err := at.listen(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	h := NewHub(nobody{}, "s", "1")
	go h.accept(second) //nolint:errcheck // it ends with the test
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := at.Attach(t.Context(), "s", Attach{})
	if err != nil {
		t.Fatalf("after the first program has ended: %v", err)
	}
	a.Close()
	h.Close()
	if entries, err := os.ReadDir(at.Dir); err != nil || len(entries) != 0 {
		t.Errorf("after both have ended there are %v, %v, want no sockets", entries, err)
	}
}

// A guest that has all that happened is told so at the end, and one that fell behind is not.
func TestAGuestIsToldThatItHasAll(t *testing.T) {
	at := Sockets{Dir: t.TempDir(), Store: "x"}
	h := opens(t, at, "h", nobody{})
	guests := map[string]*Attachment{"quick": nil, "slow": nil}
	for name := range guests {
		a, err := at.Attach(t.Context(), "s", Attach{})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		guests[name] = a
	}
	for range 8 { // what a hub keeps, four times
		h.Say(strings.Repeat("x", 1<<20))
		if l, err := guests["quick"].Read(); err != nil || l.Update == nil {
			t.Fatalf("the quick guest reads %.100v, %v", l, err)
		}
	}
	told := func(name string) (end bool) {
		for {
			l, err := guests[name].Read()
			if err != nil {
				return end
			}
			end = l.End
		}
	}
	if told("slow") {
		t.Error("the slow guest is told that it has all that happened")
	}
	h.Close()
	if !told("quick") {
		t.Error("the quick guest is not told that it has all that happened")
	}
}
