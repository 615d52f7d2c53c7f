package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/examples"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/formats/codex"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/server/web/imports"
	"github.com/skein-dev/skein/store/memory"
)

// A newcomer is a person with an empty store, whose agents keep the sample sessions.
type newcomer struct {
	*visit
	store   skein.Store
	home    string
	imports *imports.Imports
}

// newcoming returns a newcomer. change may set other options.
func newcoming(t *testing.T, change func(*imports.Options)) *newcomer {
	t.Helper()
	n := &newcomer{store: memory.New(), home: t.TempDir()}
	t.Cleanup(func() { n.store.Close() })
	if err := os.CopyFS(n.home, examples.Home()); err != nil {
		t.Fatal(err)
	}
	o := imports.Options{
		Store: n.store, Formats: []interop.Format{claudecode.Format(), codex.Format()}, Samples: examples.Home(),
		Home: interop.Home{Dir: n.home, Cwd: n.home, Env: func(string) string { return "" }},
	}
	if change != nil {
		change(&o)
	}
	n.imports = imports.New(o)
	t.Cleanup(n.imports.Close)
	n.visit = visiting(t, n.store, func(o *web.Options) { o.Imports = n.imports })
	return n
}

// sendFiles sends files as the form does.
func (n *newcomer) sendFiles(names ...string) (status int, page string) {
	n.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, name := range names {
		w, err := form.CreateFormFile("file", name)
		if err != nil {
			n.t.Fatal(err)
		}
		data, err := fs.ReadFile(os.DirFS(n.home), name)
		if err != nil {
			data = []byte(name)
		}
		fmt.Fprintf(w, "%s", data)
	}
	form.Close()
	r, err := http.NewRequestWithContext(n.t.Context(), http.MethodPost, n.url+"/import/files", &b)
	if err != nil {
		n.t.Fatal(err)
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Origin", n.url)
	a, err := n.client.Do(r)
	if err != nil {
		n.t.Fatal(err)
	}
	defer a.Body.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(a.Body); err != nil {
		n.t.Fatal(err)
	}
	return a.StatusCode, out.String()
}

// A person's first visit, with nothing but the pages.
func TestTheFirstVisitFindsImportsAndHints(t *testing.T) {
	n := newcoming(t, nil)
	b := n.browse()
	b.until(`document.querySelector(".found li")`)
	for _, want := range []string{"Welcome to skein", "Claude Code's transcripts", "~/.claude/projects", "4 sessions", "OpenAI Codex", "2 sessions", "since Nov"} {
		if text := b.eval(`document.querySelector("main").innerText`).(string); !strings.Contains(text, want) {
			t.Errorf("the first page has no %q:\n%s", want, text)
		}
	}
	for _, width := range []int64{390, 820, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			b.size(width, scheme)
			if over := b.eval("document.documentElement.scrollWidth - innerWidth"); over != 0.0 {
				t.Errorf("the first page at %d px is %v px too wide", width, over)
			}
			b.shot(fmt.Sprintf("welcome-%d-%s", width, scheme))
		}
	}
	b.eval(`document.querySelector("button.big").click()`)
	b.until(`location.pathname == "/import" && document.querySelector("#done")`)
	b.shot("imported")
	for _, want := range []string{"6 sessions imported", "Everything that was found here is imported."} {
		if text := b.eval(`document.querySelector("main").innerText`).(string); !strings.Contains(text, want) {
			t.Errorf("the page after the import has no %q:\n%s", want, text)
		}
	}
	b.open("/")
	for _, want := range []string{"Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3"} {
		b.until(fmt.Sprintf(`document.querySelector(".hint").innerText.includes(%q)`, want))
		b.shot(want)
		b.eval(`document.querySelector(".hint button").click()`)
		b.until(fmt.Sprintf(`!document.querySelector(".hint")?.innerText.includes(%q)`, want))
	}
	b.open("/")
	if b.eval(`document.querySelector(".hint") != null`).(bool) {
		t.Error("a hint is back")
	}
}

// ended waits until no import runs, and returns the page that says what the last one did.
func (n *newcomer) ended() string {
	n.t.Helper()
	over := time.After(late)
	for ticks := time.NewTicker(10 * time.Millisecond); ; {
		if page := n.get("/import"); !strings.Contains(page, "data-busy") {
			ticks.Stop()
			return page
		}
		select {
		case <-ticks.C:
		case <-over:
			n.t.Fatal("the import has not ended")
		}
	}
}

// stored returns how many sessions the store has.
func (n *newcomer) stored() (all int) {
	n.t.Helper()
	for _, err := range n.store.Sessions(n.t.Context(), skein.Filter{}) {
		if err != nil {
			n.t.Fatal(err)
		}
		all++
	}
	return all
}

// A person may leave the page of an import, do other things, and come back to it.
func TestAnImportGoesOnWhenItsPageIsLeft(t *testing.T) {
	hold, reached := make(chan struct{}), make(chan struct{})
	n := newcoming(t, func(o *imports.Options) {
		o.After = func(context.Context, interop.Report) error {
			close(reached)
			<-hold
			return nil
		}
	})
	page := n.send("/import", url.Values{})
	wants(t, "the page of a running import", page, "Importing the sessions of your agents", "<progress", "data-busy", ">Stop<")
	<-reached
	wants(t, "another page meanwhile", n.get("/usage"), "Importing: 6 of 6 files", `href="/import"`)
	page = n.get("/import")
	wants(t, "the page again", page, "<b>6</b> of 6 files", "<b>6</b> new sessions", ".jsonl")
	wants(t, "a second import", n.send("/import", url.Values{}), "Another import is running.")
	if status, page := n.sendFiles("one.txt"); status != http.StatusOK || !strings.Contains(page, "Another import is running.") {
		t.Errorf("files beside an import are answered %d %s", status, page)
	}
	close(hold)
	wants(t, "the page at the end", n.ended(), "6 sessions imported", "Everything that was found here is imported.")
	if page := n.get("/usage"); strings.Contains(page, `href="/import"`) {
		t.Error("a page says that the import is running when it has ended")
	}
	wants(t, "the same import again", n.send("/import", url.Values{})+n.ended(), "Nothing new", "6 unchanged")
}

// An import that the person stops keeps what it has, and the next one continues.
func TestAStoppedImportKeepsWhatItHas(t *testing.T) {
	hold, reached := make(chan struct{}), make(chan struct{})
	var stops atomic.Bool
	n := newcoming(t, func(o *imports.Options) {
		open := o.Formats[0].Open
		o.Formats[0].Open = func(f interop.File) interop.Reader {
			if strings.Contains(f.Path, "recipes") && stops.CompareAndSwap(true, false) {
				close(reached)
				<-hold
			}
			return open(f)
		}
	})
	n.get("/import")
	n.ended() // the look at what there is opens the files too
	stops.Store(true)
	n.send("/import", url.Values{})
	<-reached
	n.send("/import/stop", url.Values{})
	close(hold)
	wants(t, "the stopped import", n.ended(), "The import was stopped", "The next import continues with the rest.")
	if got := n.stored(); got >= 6 {
		t.Errorf("a stopped import has imported %d sessions, want fewer than all", got)
	}
	n.send("/import", url.Values{})
	n.ended()
	if got := n.stored(); got != 6 {
		t.Errorf("%d sessions are stored after the next import, want 6", got)
	}
}

// Files that cannot be imported are named, with the reason; the others are imported.
func TestFilesThatAreSentAreImportedOrRefusedByName(t *testing.T) {
	n := newcoming(t, nil)
	const session = ".claude/projects/-home-ada-recipes/3c93ce01-09f2-430a-8a3e-bed13eeb93a8.jsonl"
	status, page := n.sendFiles(session, "shopping.txt", "broken.zip", "../up.jsonl")
	if status != http.StatusOK {
		t.Fatalf("files are answered %d %s", status, page)
	}
	page = n.ended()
	wants(t, "the page after files were sent", page, "1 session imported", "3 files could not be imported", "shopping.txt</span>", "no format recognizes it", "broken.zip</span>", "invalid archive", "up.jsonl</span>", "Check that each is a file")
	if strings.Contains(page, os.TempDir()) {
		t.Errorf("the page shows where the files were for a moment:\n%s", page)
	}
	one, err := n.store.Session(t.Context(), "3c93ce01-09f2-430a-8a3e-bed13eeb93a8")
	if err != nil || one.Origin == nil || !strings.HasPrefix(one.Origin.Path, "upload:") {
		t.Errorf("the session that was sent is %+v, %v", one.Origin, err)
	}
	n.sendFiles(session)
	wants(t, "the same file again", n.ended(), "Nothing new")
	if _, page := n.sendFiles(); !strings.Contains(page, "Choose a file first.") {
		t.Errorf("no file is answered %s", page)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "skein-import-*")); err != nil || len(left) > 0 {
		t.Errorf("%q is left in the folder for temporary files (%v)", left, err)
	}
}

// The sample sessions come and go, and nothing else goes with them.
func TestSamplesComeAndGo(t *testing.T) {
	n := newcoming(t, nil)
	if err := os.RemoveAll(filepath.Join(n.home, ".codex")); err != nil {
		t.Fatal(err)
	}
	mine := skein.SessionID("mine")
	for range 2 { // also when they were removed before
		wants(t, "the page with samples", n.send("/import/samples", url.Values{})+n.ended(), "6 sessions imported", "6 sample sessions are in the list", "Remove the samples")
		if mine != "" {
			if _, err := skein.Add(t.Context(), n.store, mine, skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "Mine"})); err != nil {
				t.Fatal(err)
			}
			mine = ""
		}
		wants(t, "the page without them", n.send("/import/samples/remove", url.Values{}), "Removed 6 sample sessions.")
		if got := n.stored(); got != 0 { // mine has no messages, and is not listed
			t.Errorf("%d sessions are left", got)
		}
		if _, err := n.store.Session(t.Context(), "mine"); err != nil {
			t.Errorf("the person's own session: %v", err)
		}
	}
}

// Who sees only one user's sessions, or only reads, imports nothing of this machine's.
func TestOnlyTheOwnerImports(t *testing.T) {
	n := newcoming(t, nil)
	for _, scope := range []door.Token{tokenOf("ada", "write"), tokenOf("ada", "admin"), tokenOf("", "read")} {
		token, err := n.tokens.Add(scope)
		if err != nil {
			t.Fatal(err)
		}
		n.as(token)
		for _, path := range []string{"/import", "/import/samples", "/import/samples/remove", "/import/stop"} {
			if status, _ := n.ask(http.MethodPost, path, url.Values{}); status != http.StatusForbidden {
				t.Errorf("POST %s as %s = %d, want 403", path, scope.Name, status)
			}
		}
		if status, page := n.ask(http.MethodGet, "/", nil); status != http.StatusOK || strings.Contains(page, ".claude") {
			t.Errorf("the first page for %s is %d %s", scope.Name, status, page)
		}
		if status, _ := n.sendFiles("x.jsonl"); status != http.StatusForbidden {
			t.Errorf("files of %s are answered %d, want 403", scope.Name, status)
		}
	}
	if got := n.stored(); got != 0 {
		t.Errorf("%d sessions were imported", got)
	}
}

// Files that are dropped on the page are sent, with the folders that they are in.
func TestFilesAreDroppedOnThePage(t *testing.T) {
	n := newcoming(t, nil)
	b := n.browse()
	b.until(`document.querySelector(".found li")`)
	data, err := os.ReadFile(filepath.Join(n.home, ".claude/projects/-home-ada-recipes/3c93ce01-09f2-430a-8a3e-bed13eeb93a8.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	b.eval(fmt.Sprintf(`(() => {
		const over = new DataTransfer();
		over.items.add(new File([%q], "dropped.jsonl"));
		over.items.add(new File(["milk"], "list.txt"));
		document.body.dispatchEvent(new DragEvent("dragenter", {dataTransfer: over, bubbles: true}));
		window.marked = document.body.classList.contains("dropping");
		document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: over, bubbles: true, cancelable: true}));
	})()`, data))
	if !b.eval(`marked && !document.body.classList.contains("dropping")`).(bool) {
		t.Error("the page does not show where files can be dropped")
	}
	b.until(`document.querySelector("#done")?.textContent == "1 session imported"`)
	wants(t, "the page after a drop", b.eval(`document.querySelector("main").innerText`).(string), "1 file could not be imported", "list.txt", "no format recognizes it")
	b.shot("dropped")
	b.eval(`(() => {
		document.getElementById("send").dataset.most = 3;
		const over = new DataTransfer();
		over.items.add(new File(["too much"], "big.jsonl"));
		document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: over, bubbles: true, cancelable: true}));
	})()`)
	b.until(`document.getElementById("refused").innerText.includes("1 file was not sent")`)
	wants(t, "what the page says of a file that is too large", b.eval(`document.getElementById("refused").innerText`).(string), "big.jsonl is 1 KB; a browser can send 1 KB at once. In a terminal: skein import PATH")
}
