package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// parted is a store with two forks of one session.
func parted(t *testing.T) skein.Store {
	t.Helper()
	c := &composer{t: t, store: memory.New()}
	t.Cleanup(func() {
		if err := c.store.Close(); err != nil {
			t.Error(err)
		}
	})
	c.begin("s-trunk", composedNow.Add(-3*time.Hour), skein.Created{Title: "The trunk", Project: "/home/ada/pear", Agent: "reviewer", Model: sonnet})
	c.asks("Draw a pear")
	at := c.answers(sonnet, "A pear, drawn.", used(100, 10, 0, 0))
	c.asks("Only the trunk asks this")
	for _, side := range []string{"left", "right"} {
		c.begin("s-"+side, composedNow.Add(-time.Hour), skein.Created{Title: "The " + side + " one", Model: sonnet, Parent: &skein.Parent{Session: "s-trunk", Seq: at, Why: skein.Fork}})
		c.asks("Go " + side)
		c.runs(sonnet, "write", fmt.Sprintf(`{"path":"%s.go","content":"package %s\n"}`, side, side), "ok", false, used(9000, 400, 0, 0))
		c.answers(sonnet, "Went "+side+".", used(100, 10, 0, 0))
	}
	c.asks("Go on to the right")
	return c.store
}

func TestTwoForksSideBySide(t *testing.T) {
	store := parted(t)
	v := visiting(t, store, nil)
	page := v.get("/sessions/s-left/compare?with=s-right")
	wants(t, "the page", page, "begin with the same turn", "The left one", "The right one", "Went left.", "Went right.", "Go on to the right", "left.go", "right.go", "not changed", "Nothing here.")
	lacks(t, "the page", page, "A pear, drawn.", "Only the trunk asks this", `id="m5"`, "Fork here")
	if strings.Index(page, "Went left.") > strings.Index(page, "Went right.") {
		t.Error("the session of the path is not on the left")
	}
	wants(t, "a fork and its parent", v.get("/sessions/s-trunk/compare?with=s-left"), "begin with the same turn", "Only the trunk asks this", "Went left.")
	wants(t, "strangers", visiting(t, composed(t), nil).get("/sessions/s-retry/compare?with=s-child"), "nothing in common")
	wants(t, "the page of a fork", v.get("/sessions/s-left"), `href="/sessions/s-trunk/compare?with=s-left"`)
	wants(t, "the tree", v.get("/sessions/s-left/tree"), `href="/sessions/s-left/compare?with=s-right"`)
	wants(t, "two that were selected", v.send("/sessions/bulk", url.Values{"do": {"compare"}, "id": {"s-right", "s-left"}}), "Went left.", "Went right.")
	wants(t, "one that was selected", v.send("/sessions/bulk", url.Values{"do": {"compare"}, "id": {"s-right"}}), "Select two sessions")
	for path, want := range map[string]int{"/sessions/s-left/compare": http.StatusBadRequest, "/sessions/s-left/compare?with=s-left": http.StatusBadRequest, "/sessions/s-left/compare?with=none": http.StatusNotFound} {
		if status, _ := v.ask(http.MethodGet, path, nil); status != want {
			t.Errorf("%s answers %d, want %d", path, status, want)
		}
	}
}

func TestTheComparisonFitsEveryScreen(t *testing.T) {
	b := visiting(t, parted(t), nil).browse()
	for _, how := range []look{{390, "dark"}, {820, "light"}, {1440, "light"}} {
		b.size(how.width, how.scheme)
		b.open("/sessions/s-left/compare?with=s-right")
		if over := b.eval("document.documentElement.scrollWidth - innerWidth"); over != 0.0 {
			t.Errorf("the comparison at %d px is %v px too wide", how.width, over)
		}
		b.shot(fmt.Sprintf("compare-%d-%s", how.width, how.scheme))
	}
}
