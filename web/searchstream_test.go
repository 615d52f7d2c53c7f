package web_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// stepwise is a store that finds nothing at first, and then what there is.
type stepwise struct {
	skein.Store
	asked *int
}

func (s stepwise) Search(ctx context.Context, q skein.Query) (skein.Results, error) {
	if *s.asked++; *s.asked < 3 {
		return skein.Results{CutOff: true}, nil
	}
	return s.Store.Search(ctx, q)
}

// A search that could not look at everything goes on while the page is read, and
// the page ends with what was found, or that nothing was.
func TestSearchGoesOnWhileThePageIsRead(t *testing.T) {
	store := composed(t)
	for words, want := range map[string]string{"uploads": "<mark>uploads</mark>", "xylophone": "Nothing found."} {
		for _, path := range []string{"/search?q=", "/search?piece=1&q="} {
			s := stepwise{store, new(int)}
			got := visiting(t, s, nil).get(path + words)
			wants(t, path+words, got, "The search goes on…", want)
			if *s.asked != 3 {
				t.Errorf("%s%s asks the store %d times, want 3", path, words, *s.asked)
			}
		}
	}
	at := visiting(t, store, nil).get("/search?q=uploads")
	if wants(t, "a search that is through at once", at, "<mark>uploads</mark>"); strings.Contains(at, "goes on") {
		t.Error("a search that is through at once says that it goes on")
	}
}
