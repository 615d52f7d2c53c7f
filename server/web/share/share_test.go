package share_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/web/share"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/memory"
)

// kept are links in memory.
type kept struct{ all []accounts.SharedLink }

// AddShare implements [accounts.Shares].
func (k *kept) AddShare(_ context.Context, s accounts.SharedLink) error {
	k.all = append(k.all, s)
	return nil
}

// Shares implements [accounts.Shares].
func (k *kept) Shares(context.Context, skein.User, skein.SessionID) ([]accounts.SharedLink, error) {
	return k.all, nil
}

// FindShare implements [accounts.Shares].
func (k *kept) FindShare(_ context.Context, hash [sha256.Size]byte) (accounts.SharedLink, error) {
	for _, s := range k.all {
		if s.Hash == hash {
			return s, nil
		}
	}
	return accounts.SharedLink{}, skein.ErrNotFound
}

// CountView implements [accounts.Shares].
func (k *kept) CountView(_ context.Context, id string, at skein.Time) error {
	for i := range k.all {
		if k.all[i].ID == id {
			k.all[i].Views++
			k.all[i].Viewed = at
		}
	}
	return nil
}

// RemoveShare implements [accounts.Shares].
func (k *kept) RemoveShare(context.Context, skein.User, string) error {
	k.all = nil
	return nil
}

// private are texts that no link shows unless told to.
var private = []string{
	"annika", "example-shop.se", "sk-ant-api03", "10.12.4.7", "build-7.corp", "Hush", "Heron", "Zk9qLm3Xw8RtY2pVb6Nc4Hd7", "s-private", "/repo/of", "toolsecret",
	"maria", "jürgen", "c3ff",
}

// confess makes a session with much that is private.
func confess(t *testing.T) (skein.Store, skein.Session) {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { store.Close() })
	at := skein.Time(1_790_000_000_000)
	say := func(m skein.Message) skein.Event { return skein.Say(at, m) }
	call := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "shell", Input: json.RawMessage(`{"command":"cat \u002fhome\u002fannika/notes"}`)}}
	result := skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: "c1", Text: "owner annika\nAPI_KEY=sk-ant-api03-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78St90Uv12Wx34Yz56-AAAA\nZk9qLm3Xw8RtY2pVb6Nc4Hd7\nat 10.12.4.7"}}
	reasoning := skein.Part{Kind: skein.PartReasoning, Text: "Hush"}
	_, err := skein.Add(
		t.Context(), store, "s-private",
		skein.NewEvent(skein.KindCreated, at, skein.Created{Cwd: "/home/annika/shop", Project: "/repo/of/annika", Agent: "claude-code"}),
		say(skein.UserSays("Mail a.b@example-shop.se and look at build-7.corp, says Annika.\n\n<system-reminder>Heron</system-reminder>")),
		say(skein.Message{Role: skein.RoleAssistant, Model: "/home/annika/m-1", Parts: []skein.Part{reasoning, skein.TextPart(`I look. There are /home/anna-maria/x, /Users/jürgen/y, fe80::a1b2:c3ff:fe4d:5566 and "by\nannika".`), call}}),
		say(skein.Message{Role: skein.RoleTool, Parts: []skein.Part{result}}),
		say(skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("The password is not here.")}}),
		skein.NewEvent(skein.KindTool, at, skein.ToolState{Call: "c1", State: skein.Completed, Title: "for annika"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	one, err := store.Session(t.Context(), "s-private")
	if err != nil {
		t.Fatal(err)
	}
	return store, one
}

func look(t *testing.T, store skein.Store, one skein.Session, q string) *share.Preview {
	t.Helper()
	given, err := url.ParseQuery(q)
	if err != nil {
		t.Fatal(err)
	}
	shows, err := share.Parse(given)
	if err != nil {
		t.Fatal(err)
	}
	p, err := share.Look(t.Context(), store, one, shows, redact.New())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// site serves links, and opens them.
type site struct {
	*kept
	links *share.Links
	mux   *http.ServeMux
	now   time.Time
}

func serve(store skein.Store) *site {
	s := &site{kept: &kept{}, mux: http.NewServeMux(), now: time.UnixMilli(1_790_000_000_000)}
	s.links = share.New(share.Links{Shares: s.kept, Store: store, Secrets: redact.New(), Now: func() time.Time { return s.now }, Styles: []string{"/static/style.css"}})
	for _, r := range s.links.Routes() {
		s.mux.Handle(r.Pattern, r.Handler)
	}
	return s
}

func (s *site) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func (s *site) share(t *testing.T, one skein.Session, p *share.Preview) string {
	t.Helper()
	_, path, err := s.links.Add(t.Context(), one, p, p.Seen(), "test", 7)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestALinkShowsNothingPrivate(t *testing.T) {
	store, one := confess(t)
	s := serve(store)
	w := s.get(s.share(t, one, look(t, store, one, "")))
	page := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(page, "I look.") || !strings.Contains(page, "[redacted:user]") {
		t.Fatalf("the page = %d, %s, want the conversation, masked", w.Code, page)
	}
	for _, text := range private {
		if strings.Contains(strings.ToLower(page), strings.ToLower(text)) {
			t.Errorf("the page of a link has %q", text)
		}
	}
	for header, want := range map[string]string{"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow, noarchive"} {
		if got := w.Header().Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "<form") || strings.Contains(page, "/sessions/") {
		t.Error("the page of a link leads into the dashboard, or has a script")
	}
	if talk := s.get(s.share(t, one, look(t, store, one, "mode=talk"))).Body.String(); strings.Contains(talk, "shell") || !strings.Contains(talk, "I look.") {
		t.Error("the conversation has a call, or not what was said")
	}
}

func TestThePreviewSaysWhatIsHiddenAndWhatIsNot(t *testing.T) {
	store, one := confess(t)
	hidden := map[redact.Kind]int{}
	for _, h := range look(t, store, one, "").Hidden {
		hidden[h.Kind] = h.Times
	}
	for _, kind := range []redact.Kind{"email", "user", "host", "address", "random", "anthropic-key"} {
		if hidden[kind] == 0 {
			t.Errorf("hidden: %v, without %s", hidden, kind)
		}
	}
	p := look(t, store, one, "show=host&show=reasoning")
	found := map[string]string{}
	for _, x := range p.Suspicious {
		found[x.Kind] = x.Text
	}
	if found["host"] != "build-7.corp" || found["word"] != "password" {
		t.Errorf("suspicious: %+v, want the host and the word password", p.Suspicious)
	}
	without := look(t, store, one, "without=3")
	for _, x := range without.Hidden {
		if x.Kind == "anthropic-key" {
			t.Error("without the call, what it answered is still there")
		}
	}
}

func TestALinkShowsOnlyWhatWasSeen(t *testing.T) {
	store, one := confess(t)
	s := serve(store)
	p := look(t, store, one, "")
	if _, _, err := s.links.Add(t.Context(), one, look(t, store, one, "show=email"), p.Seen(), "test", 7); err == nil {
		t.Error("a link to more than was seen is made")
	}
	if _, _, err := s.links.Add(t.Context(), one, p, p.Seen(), "test", share.MaxDays+1); err == nil {
		t.Error("a link that works for more than a year is made")
	}
	path := s.share(t, one, p)
	was := s.get(path).Body.String()
	_, err := skein.Add(
		t.Context(), store, one.ID, skein.Say(one.Updated, skein.UserSays("said later")),
		skein.NewEvent(skein.KindAmended, one.Updated, skein.Amended{Seq: 5, Payload: skein.Say(one.Updated, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("amended later")}}).Payload}),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := skein.Add(t.Context(), store, one.ID, skein.NewEvent(skein.KindTitled, one.Updated, skein.Titled{Title: "titled later", By: skein.ByPerson})); err != nil {
		t.Fatal(err)
	}
	if is := s.get(path).Body.String(); is != was {
		t.Errorf("after the session went on, the link shows\n%s\nwant what it did:\n%s", is, was)
	}
	// What is hidden depends on the folder too. If less would be hidden, nothing is shown.
	moved := "/elsewhere"
	if _, err := skein.Add(t.Context(), store, one.ID, skein.NewEvent(skein.KindChanged, one.Updated, skein.Changed{Cwd: &moved})); err != nil {
		t.Fatal(err)
	}
	if w := s.get(path); w.Code == http.StatusOK && w.Body.String() != was {
		t.Errorf("after the folder changed, the link shows\n%s\nwant what it did, or nothing", w.Body)
	}
}

func TestALinkExpiresEndsAndIsCounted(t *testing.T) {
	store, one := confess(t)
	s := serve(store)
	path := s.share(t, one, look(t, store, one, ""))
	for range 3 {
		s.get(path)
	}
	if got := s.all[0].Views; got != 3 {
		t.Errorf("after 3 visits the link was opened %d times", got)
	}
	if strings.Contains(string(skein.MustJSON(s.all)), strings.TrimPrefix(path, share.Path)) {
		t.Error("the store has the secret of a link")
	}
	gone := s.get(share.Path + "aaaaaaaaaaaaaaaaaaaaaaaaaa").Body.String()
	s.now = s.now.Add(7 * 24 * time.Hour)
	if w := s.get(path); w.Code != http.StatusNotFound || w.Body.String() != gone {
		t.Errorf("the expired link = %d, want 404 with the page of a link that never was", w.Code)
	}
	s.now = s.now.Add(-time.Hour)
	if w := s.get(path); w.Code != http.StatusOK {
		t.Errorf("the link within its time = %d, want 200", w.Code)
	}
	if err := skein.LifecycleOf(store).Bin(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	if w := s.get(path); w.Code != http.StatusNotFound || w.Body.String() != gone {
		t.Errorf("the link to a session in the bin = %d, want 404", w.Code)
	}
}

func TestABundleIsComplete(t *testing.T) {
	store, one := confess(t)
	for range 450 {
		if _, err := skein.Add(t.Context(), store, one.ID, skein.Say(one.Updated, skein.UserSays("more"))); err != nil {
			t.Fatal(err)
		}
	}
	one, err := store.Session(t.Context(), one.ID)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "shared")
	b := share.Bundle{Dir: dir, Styles: map[string][]byte{"style.css": []byte("p {}")}, Order: []string{"style.css"}}
	first, err := b.Write(t.Context(), store, one.ID, look(t, store, one, ""))
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, name := range []string{first, filepath.Join(dir, "page-2.html"), filepath.Join(dir, "page-3.html")} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	for _, text := range private {
		if strings.Contains(strings.ToLower(all), strings.ToLower(text)) {
			t.Errorf("the bundle has %q", text)
		}
	}
	if got := strings.Count(all, "<p>more</p>"); got != 450 {
		t.Errorf("the pages have %d of 450 messages", got)
	}
	for _, want := range []string{`href="style.css"`, `href="page-3.html"`, `href="index.html"`, "Content-Security-Policy"} {
		if !strings.Contains(all, want) {
			t.Errorf("the bundle lacks %s", want)
		}
	}
	if _, err := b.Write(t.Context(), store, one.ID, look(t, store, one, "")); err == nil {
		t.Error("a bundle is written over another")
	}
}

// What is hidden can depend on what changes, such as the folder: a link that would then
// hide less does not work any more.
func TestALinkThatWouldHideLessDoesNotWork(t *testing.T) {
	store := memory.New()
	t.Cleanup(func() { store.Close() })
	at := skein.Time(1_790_000_000_000)
	_, err := skein.Add(t.Context(), store, "s", skein.NewEvent(skein.KindCreated, at, skein.Created{Cwd: "/home/wilhelmina/shop"}), skein.Say(at, skein.UserSays("ask wilhelmina")))
	if err != nil {
		t.Fatal(err)
	}
	one, err := store.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(store)
	path := s.share(t, one, look(t, store, one, ""))
	if w := s.get(path); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "wilhelmina") {
		t.Fatalf("the link = %d, %s, want the message, masked", w.Code, w.Body)
	}
	moved := "/elsewhere"
	if _, err := skein.Add(t.Context(), store, "s", skein.NewEvent(skein.KindChanged, at, skein.Changed{Cwd: &moved})); err != nil {
		t.Fatal(err)
	}
	if w := s.get(path); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "wilhelmina") {
		t.Errorf("after the folder changed, the link = %d, %s, want 404", w.Code, w.Body)
	}
}
