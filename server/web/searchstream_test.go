package web_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// stepwise is a store that finds nothing at first, and later everything.
type stepwise struct {
	skein.Store
	asked *int
}

func (s stepwise) Unwrap() skein.Store { return s.Store }

func (s stepwise) Search(ctx context.Context, q skein.Query) (skein.Results, error) {
	if *s.asked++; *s.asked < 3 {
		return skein.Results{CutOff: true}, nil
	}
	return s.Store.Search(ctx, q)
}

// A search that could not look at everything continues while the page is sent,
// and the page ends with what was found, or says that nothing was.
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

// What was taken back is found only on request, and marked; a search without
// hits links to that.
func TestSearchFindsWhatWasTakenBackWhereAskedFor(t *testing.T) {
	store := composed(t)
	if _, err := skein.Add(t.Context(), store, "rethought", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("a walrus")),
		skein.NewEvent(skein.KindRewound, 3, skein.Rewound{To: 1})); err != nil {
		t.Fatal(err)
	}
	v := visiting(t, store, nil)
	wants(t, "a search for what was taken back", v.get("/search?q=walrus"), "Nothing found.", `href="/search?q=walrus&#43;rewound%3Ayes"`)
	wants(t, "a search that asks for it", v.get("/search?q=walrus+rewound:yes"), "<mark>walrus</mark>", "taken back")
	wants(t, "a search that asks for what is nowhere", v.get("/search?q=xylophone+rewound:yes"), `<p class="empty">Nothing found.</p>`)
	wants(t, "a search with a typo", v.get("/search?q=uplaods+-walrus"), `Did you mean <a href="/search?q=uploads%20-walrus">uploads -walrus</a>?`) //nolint:misspell // on purpose
	wants(t, "a search in the session", v.get("/sessions/rethought?find=walrus+rewound:yes"), "<mark>walrus</mark>")
}

// A search says what its parts mean, and each can be left out.
func TestASearchExplainsItself(t *testing.T) {
	v := visiting(t, composed(t), nil)
	page := v.get("/search?q=uploads+role:user")
	wants(t, "the search", page, "<code>uploads</code> the word uploads", "said by: user", `href="/search?q=role%3auser"`, `href="/search?q=uploads"`)
	wants(t, "a search that is wrong", v.get("/search?q=uploads+role:nobody"), `tag bad`, "roles are user, assistant", `href="/search?q=uploads"`)
}

// A browser keeps the recent searches, and those that were saved.
func TestSearchesAreKept(t *testing.T) {
	v := visiting(t, composed(t), nil)
	lacks(t, "the page", v.get("/search"), "Recent searches", "Saved searches")
	v.get("/search?q=uploads")
	v.get("/search?q=brown+fox")
	v.get("/search?q=uploa&piece=1")
	page := v.get("/search")
	wants(t, "the page", page, "Recent searches", `href="/search?q=brown&#43;fox"`, `href="/search?q=uploads"`)
	lacks(t, "the page", page, "Saved searches", `"/search?q=uploa"`)
	wants(t, "the search", v.send("/search/kept", url.Values{"q": {"uploads"}, "back": {"/search?q=uploads"}}), "Remove from the saved searches")
	v.send("/search/kept", url.Values{"do": {"forget"}})
	page = v.get("/search")
	wants(t, "the page", page, "Saved searches", `href="/search?q=uploads"`)
	lacks(t, "the page", page, "Recent searches")
	v.send("/search/kept", url.Values{"q": {"uploads"}, "do": {"remove"}})
	lacks(t, "the page", v.get("/search"), "Saved searches")
}
