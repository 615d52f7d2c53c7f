package web_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/store/memory"
)

// pears is a store with the sessions of two repositories called pear, one of which has a
// working tree on this machine: the folder that is returned.
func pears(t *testing.T) (skein.Store, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "pear")
	git := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		date := composedNow.Add(-time.Hour).Format(time.RFC3339)
		c.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "stem"), 0o700); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	git("remote", "add", "origin", "https://example.com/ada/pear.git")
	text := "package stem\n\nfunc growTheStem() {}\n"
	if err := os.WriteFile(filepath.Join(dir, "stem", "stem.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	git("commit", "-q", "-m", "Grow the stem")

	c := &composer{t: t, store: memory.New()}
	t.Cleanup(func() {
		if err := c.store.Close(); err != nil {
			t.Error(err)
		}
	})
	at := skein.Checkout{Repository: "example.com/ada/pear", Branch: "main"}
	c.begin("s-grow", composedNow.Add(-3*time.Hour), skein.Created{Title: "Grow the pear", Project: dir, Cwd: dir, Checkout: &at, Agent: "claude-code", Model: sonnet})
	c.asks("Grow it")
	c.runs(sonnet, "write", fmt.Sprintf(`{"path":%q,"content":%q}`, filepath.Join(dir, "stem", "stem.go"), text), "ok", false, used(900_000, 40_000, 0, 0))
	side := skein.Checkout{Repository: "example.com/ada/pear", Branch: "side", Worktree: "side"}
	c.begin("s-side", composedNow.Add(-30*time.Hour), skein.Created{Title: "On the side", Project: dir + "-side", Cwd: dir + "-side", Checkout: &side, Agent: "codex", Model: sonnet})
	c.asks("Try it on the side")
	c.answers(sonnet, "Done", used(100, 10, 0, 0))
	c.begin("s-child", composedNow.Add(-29*time.Hour), skein.Created{Title: "A helper", Project: dir, Checkout: &at, Agent: "codex", Model: sonnet, Parent: &skein.Parent{Session: "s-side", Why: skein.Child}})
	c.asks("Help")
	other := skein.Checkout{Repository: "example.com/bob/pear", Branch: "main"}
	c.begin("s-other", composedNow.Add(-5*time.Hour), skein.Created{Title: "Another pear", Project: "/home/bob/pear", Checkout: &other, Agent: "codex", Model: sonnet})
	c.asks("Eat it")
	return c.store, dir
}

func TestTheProjectPage(t *testing.T) {
	store, dir := pears(t)
	v := visiting(t, store, func(o *web.Options) { o.Folders = true })
	wants(t, "the projects", v.get("/projects"), `>ada/pear</a>`, `>bob/pear</a>`)
	page := v.get("/project?of=example.com/ada/pear")
	wants(t, "the project", page, ">ada/pear</h1>", "<b>2</b>sessions, 1 sub-agent", "Grow the pear", "On the side", ">main</a>", ">side</a>", "worktree", "/?in=example.com%2Fada%2Fpear",
		`data-later="/project?of=example.com%2Fada%2Fpear&amp;piece=files"`, `data-later="/project?of=example.com%2Fada%2Fpear&amp;piece=commits"`)
	lacks(t, "the project", page, "Another pear", "A helper", "stem.go", "Grow the stem")
	wants(t, "the project with its files", v.get("/project?of=example.com/ada/pear&files=1"), `<span class="dim">stem/</span>stem.go`, "/sessions/s-grow?at=", "1 change<")
	wants(t, "the files alone", v.get("/project?of=example.com/ada/pear&piece=files"), `id="files"`, "stem.go")
	commits := v.get("/project?of=example.com/ada/pear&piece=commits")
	wants(t, "the commits alone", commits, "Grow the stem", "100 %", "/sessions/s-grow", dir)
	wants(t, "the project elsewhere", v.get("/project?of=example.com/bob/pear&commits=1"), "This machine has no working tree")
	for _, path := range []string{"/project?of=example.com/none", "/project"} {
		if status, _ := v.ask(http.MethodGet, path, nil); status != http.StatusNotFound {
			t.Errorf("%s answers %d, want %d", path, status, http.StatusNotFound)
		}
	}
	wants(t, "the list", v.get("/"), ">ada/pear</a>", ">bob/pear</a>")
	wants(t, "the list of a project", v.get("/?in=example.com/ada/pear"), `href="/project?of=example.com%2Fada%2Fpear"`)
}

// What Git says about folders is only shown to the person whose folders they are.
func TestWhatGitSaysIsForTheOwner(t *testing.T) {
	store, _ := pears(t)
	v := visiting(t, store, nil)
	page := v.get("/project?of=example.com/ada/pear&commits=1")
	lacks(t, "the project on a server of many", page, "Grow the stem", "piece=commits")
}

func TestTheProjectPageBringsWhatTakesLong(t *testing.T) {
	store, _ := pears(t)
	b := visiting(t, store, func(o *web.Options) { o.Folders = true }).browse()
	b.open("/project?of=example.com/ada/pear")
	b.until(`document.querySelector("#files .plainrows") && document.querySelector("#commits .shares")`)
	for _, how := range []look{{390, "light"}, {820, "dark"}, {1440, "light"}} {
		b.size(how.width, how.scheme)
		if over := b.eval("document.documentElement.scrollWidth - innerWidth"); over != 0.0 {
			t.Errorf("the project at %d px is %v px too wide", how.width, over)
		}
		b.shot(fmt.Sprintf("project-%d-%s", how.width, how.scheme))
	}
}
