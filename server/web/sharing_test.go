package web_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/server/web/share"
	"github.com/skein-dev/skein/store/accounts"
)

// sharedLinks are links in memory.
type sharedLinks struct{ all []accounts.SharedLink }

// AddShare implements [accounts.Shares].
func (k *sharedLinks) AddShare(_ context.Context, s accounts.SharedLink) error {
	k.all = append(k.all, s)
	return nil
}

// Shares implements [accounts.Shares].
func (k *sharedLinks) Shares(_ context.Context, user skein.User, id skein.SessionID) (all []accounts.SharedLink, _ error) {
	for _, s := range k.all {
		if (id == "" || s.Session == id) && (user == "" || s.User == user) {
			all = append(all, s)
		}
	}
	return all, nil
}

// FindShare implements [accounts.Shares].
func (k *sharedLinks) FindShare(_ context.Context, hash [sha256.Size]byte) (accounts.SharedLink, error) {
	if at := slices.IndexFunc(k.all, func(s accounts.SharedLink) bool { return s.Hash == hash }); at >= 0 {
		return k.all[at], nil
	}
	return accounts.SharedLink{}, skein.ErrNotFound
}

// CountView implements [accounts.Shares].
func (k *sharedLinks) CountView(_ context.Context, id string, _ skein.Time) error {
	for i := range k.all {
		if k.all[i].ID == id {
			k.all[i].Views++
		}
	}
	return nil
}

// RemoveShare implements [accounts.Shares].
func (k *sharedLinks) RemoveShare(_ context.Context, user skein.User, id string) error {
	n := len(k.all)
	k.all = slices.DeleteFunc(k.all, func(s accounts.SharedLink) bool { return s.ID == id && (user == "" || s.User == user) })
	if len(k.all) == n {
		return skein.ErrNotFound
	}
	return nil
}

// sharing is a dashboard where links can be made.
func sharing(t *testing.T) (*visit, *sharedLinks) {
	store, links := composed(t), &sharedLinks{}
	return visiting(t, store, func(o *web.Options) {
		o.Shares = share.Links{Shares: links, Store: store, Secrets: redact.New(), Now: o.Now}
	}), links
}

// madeOf returns the path of the link that a page says was made.
func madeOf(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile(`<code id="made">https?://[^/]+(/s/[a-z2-7]{26})</code>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no link is made:\n%s", page)
	}
	return found[1]
}

// seenOf returns the fields of the form that makes a link.
func seenOf(page string) url.Values {
	form := url.Values{"days": {"7"}}
	for _, found := range regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`).FindAllStringSubmatch(page, -1) {
		form.Add(found[1], found[2])
	}
	return form
}

func TestALinkIsMadeReadAndEnded(t *testing.T) {
	v, links := sharing(t)
	wants(t, "the session", v.get("/sessions/s-retry"), `href="/sessions/s-retry/share"`)
	preview := v.get("/sessions/s-retry/share")
	wants(t, "the preview", preview, "What others will see", "Make the link")
	form := seenOf(preview)

	unseen := url.Values{"days": {"7"}, "seen": {"0000000000000000"}}
	_, page := v.ask(http.MethodPost, "/sessions/s-retry/share", unseen)
	if wants(t, "the answer to an unseen link", page, "not what you saw"); len(links.all) > 0 {
		t.Fatal("a link is made to what was not seen")
	}
	v.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if status, _ := v.ask(http.MethodPost, "/sessions/s-retry/share", form); status != http.StatusSeeOther {
		t.Errorf("the answer to the form is %d, want 303: loading it again would make another link", status)
	}
	v.client.CheckRedirect = nil
	path := madeOf(t, v.get("/sessions/s-retry/share"))
	if again := v.get("/sessions/s-retry/share"); strings.Contains(again, path) || !strings.Contains(again, "Make the link") {
		t.Error("the new link is shown again when its page is loaded again")
	}
	token, err := v.tokens.Add(door.Token{Name: "reader", Scope: "read"})
	if err != nil {
		t.Fatal(err)
	}
	v.as("")
	shared := v.get(path)
	lacks(t, "the link's page", shared, "/sessions/", "<script", "Log out", "Settings")
	v.as(token)
	if other := v.get(path); other != shared {
		t.Error("the link's page is another for somebody with a token")
	}
	for method, at := range map[string]string{http.MethodGet: "/sessions/s-retry/share", http.MethodPost: "/shares/end"} {
		if status, _ := v.ask(method, at, url.Values{"id": {links.all[0].ID}}); status != http.StatusForbidden {
			t.Errorf("%s %s with a token to read = %d, want 403", method, at, status)
		}
	}
	v.as(v.tokens.First())
	wants(t, "the list", v.get("/shares"), "opened 2 times", "End")
	v.ask(http.MethodPost, "/shares/end", url.Values{"id": {links.all[0].ID}})
	if status, _ := v.ask(http.MethodGet, path, nil); status != http.StatusNotFound {
		t.Errorf("the ended link = %d, want 404", status)
	}
}

func TestAnothersSessionIsNotShared(t *testing.T) {
	v, links := sharing(t)
	form := seenOf(v.get("/sessions/s-retry/share"))
	token, err := v.tokens.Add(door.Token{Name: "mallory", User: "mallory", Scope: "write"})
	if err != nil {
		t.Fatal(err)
	}
	links.all = []accounts.SharedLink{{ID: "anns", User: "ann", Session: "s-retry"}}
	v.as(token)
	for method, given := range map[string]url.Values{http.MethodGet: nil, http.MethodPost: form} {
		if status, _ := v.ask(method, "/sessions/s-retry/share", given); status != http.StatusNotFound {
			t.Errorf("%s of the page to share another's session = %d, want 404", method, status)
		}
	}
	lacks(t, "mallory's list", v.get("/shares"), "anns")
	v.ask(http.MethodPost, "/shares/end", url.Values{"id": {"anns"}})
	if len(links.all) != 1 {
		t.Error("mallory ends the link of ann")
	}
}

func TestSharingFitsEveryScreen(t *testing.T) {
	v, _ := sharing(t)
	_, page := v.ask(http.MethodPost, "/sessions/s-retry/share", seenOf(v.get("/sessions/s-retry/share")))
	path := madeOf(t, page)
	b := v.browse()
	for _, how := range looks() {
		b.size(how.width, how.scheme)
		for name, at := range map[string]string{"preview": "/sessions/s-retry/share", "shares": "/shares", "shared": path} {
			b.open(at)
			if over := b.eval(`document.documentElement.scrollWidth - innerWidth`).(float64); over > 0 {
				t.Errorf("%s at %d px is %v px too wide", name, how.width, over)
			}
			b.shot(fmt.Sprintf("%s-%d-%s", name, how.width, how.scheme))
		}
	}
}

func TestSharingIsAccessible(t *testing.T) {
	a := newAxe(t)
	v, _ := sharing(t)
	_, page := v.ask(http.MethodPost, "/sessions/s-retry/share", seenOf(v.get("/sessions/s-retry/share")))
	a.examine(v.quietly(), map[string][]string{"/sessions/s-retry/share?show=user&show=host": {unfold}, "/shares": nil, strings.TrimSpace(madeOf(t, page)): {unfold}})
}
