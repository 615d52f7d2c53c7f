package door_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/door"
)

// Changes that several processes make to the file of tokens at once are all
// kept, even if one of them replaces the first token.
func TestTokensThatSeveralChangeAreAllThere(t *testing.T) {
	const each, writers = 10, 4
	path := filepath.Join(t.TempDir(), "tokens")
	var all sync.WaitGroup
	for w := range writers {
		tokens, err := door.OpenTokens(path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for i := range each {
				if w == 0 {
					if err := tokens.Remove(door.First); err != nil {
						t.Errorf("Remove(%s) = %v", door.First, err)
					}
				} else if _, err := tokens.Add(door.Token{Name: fmt.Sprint(w, "-", i), Scope: "read"}); err != nil {
					t.Errorf("Add = %v", err)
				}
			}
		})
	}
	all.Wait()
	tokens, err := door.OpenTokens(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	list, err := tokens.All()
	if want := 1 + (writers-1)*each; err != nil || len(list) != want {
		t.Errorf("there are %d tokens (%v), want %d", len(list), err, want)
	}
}
