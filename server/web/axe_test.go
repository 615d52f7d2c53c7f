package web_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/server/web/imports"
	"github.com/skein-dev/skein/store/memory"
)

// An axe examines pages with axe-core.
type axe struct{ source string }

// newAxe reads axe-core, which scripts/axe installs: it is no part of this project.
func newAxe(t *testing.T) axe {
	t.Helper()
	file := os.Getenv("SKEIN_AXE")
	if file == "" {
		t.Skip("SKEIN_AXE is not set to the path of axe.min.js: pages are not examined for accessibility; SKEIN_AXE=$(scripts/axe) sets it")
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return axe{string(source)}
}

// in puts axe-core into the page that b shows. The browser does not lay out messages that
// are far from what it shows, so that axe-core would measure them where they are not.
func (a axe) in(b *tab) {
	b.t.Helper()
	b.eval(a.source + `; document.querySelectorAll(".msg").forEach((m) => { m.style.contentVisibility = "visible" }); true`)
}

// fault is something that is wrong on a page.
type fault struct {
	Rule, Help string
	Nodes      []string
}

// faults returns what is wrong on the page, and how many rules were applied to it.
func (a axe) faults(b *tab) (all []fault, rules int) {
	b.t.Helper()
	b.eval(`delete window.axed; axe.run(document, {resultTypes: ["violations"]}).then(
		(r) => (window.axed = JSON.stringify({rules: r.passes.length + r.violations.length, faults: r.violations.map((v) => ({Rule: v.id, Help: v.help, Nodes: v.nodes.map((n) => n.html.slice(0, 300) + " " + n.any.concat(n.all).map((c) => c.message).join("; "))}))})),
		(e) => (window.axed = JSON.stringify({error: String(e)}))); true`)
	b.until(`window.axed`)
	var out struct {
		Rules  int     `json:"rules"`
		Faults []fault `json:"faults"`
		Error  string  `json:"error"`
	}
	if err := json.Unmarshal([]byte(b.eval("window.axed").(string)), &out); err != nil || out.Error != "" {
		b.t.Fatalf("axe-core: %v %s", err, out.Error)
	}
	return out.Faults, out.Rules
}

// looks are the sizes and color schemes in which pages are examined.
func looks() (all []look) {
	for _, width := range []int64{390, 820, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			all = append(all, look{width, scheme})
		}
	}
	if testing.Short() {
		return []look{all[1], all[len(all)-2]} // both schemes, the smallest and the largest size
	}
	return all
}

type look struct {
	width  int64
	scheme string
}

// examine examines pages in every look. A page's steps, after its path, open what it hides.
func (a axe) examine(b *tab, pages map[string][]string) {
	b.t.Helper()
	for _, path := range slices.Sorted(maps.Keys(pages)) {
		for _, how := range looks() {
			b.size(how.width, how.scheme)
			b.open(path)
			b.until(`true`)
			a.in(b)
			for _, step := range append([]string{"as it opens"}, pages[path]...) {
				if step != "as it opens" {
					b.eval(step)
				}
				found, rules := a.faults(b)
				if rules < 10 {
					b.t.Errorf("%s: only %d rules were applied", path, rules)
				}
				for _, f := range found {
					b.t.Errorf("%s at %d px, %s, %s: %s: %s\n%q", path, how.width, how.scheme, step, f.Rule, f.Help, f.Nodes)
				}
			}
		}
	}
}

// unfold opens everything that can be folded.
const unfold = `document.querySelectorAll("details").forEach((d) => { d.open = true }); true`

// TestEveryPageIsAccessible examines the pages with axe-core, in every size, light and dark.
func TestEveryPageIsAccessible(t *testing.T) {
	a := newAxe(t)
	p := &parrot{}
	v := chatting(t, p)
	id := everything(t, p.store)
	c := &composer{t: t, store: p.store, calls: 7000}
	c.begin("s-waits", composedNow.Add(-5*time.Minute), skein.Created{Title: "It waits", Project: "/home/ada/courier", Agent: "claude-code", Model: sonnet})
	c.asks("Do it")
	c.calling("AskUserQuestion", `{"questions":[{"question":"Delete it?","options":[]}]}`)
	v.send("/sessions/s-fork/chat", said("run make \"release\""))
	v.send("/sessions/s-fork/chat", said("then tell me"))
	keys := `document.getElementById("keys").showModal(); true`
	b := v.quietly() // some pages come with an error
	a.examine(b, map[string][]string{
		"/":                           {unfold, keys},
		"/?agent=reviewer&children=1": {unfold},
		"/?group=project":             nil,
		"/?title=nothing+like+this":   nil,
		"/now":                        nil,
		"/search":                     {unfold},
		"/search?q=brown":             {unfold},
		"/search?q=nothinglikethis":   nil,
		"/usage?since=":               {unfold},
		"/bin":                        {unfold},
		"/projects":                   nil,
		"/project?of=github.com/ada/courier&files=1": {unfold},
		"/health?look=1":                        {unfold},
		"/settings":                             {unfold},
		"/login":                                nil,
		"/offline":                              nil,
		"/none":                                 nil,
		"/chat":                                 nil,
		"/sessions/none":                        nil,
		"/sessions/s-fork/chat":                 {unfold},
		"/sessions/s-retry":                     {unfold},
		"/sessions/s-fork/compare?with=s-retry": {unfold},
		"/sessions/s-retry/tree":                {unfold},
		"/sessions/s-retry/replay":              {unfold},
		"/sessions/s-retry/outline":             {unfold},
		"/sessions/s-retry/changes":             {unfold},
		"/sessions/s-retry/file?path=upload.go": {unfold},
		"/sessions/s-retry/messages/2":          {unfold},
		"/sessions/s-retry?find=upload":         {unfold},
		"/sessions/" + string(id):               {unfold},
		"/sessions/" + string(id) + "?before=0": {unfold},
	})
}

// The page of imports says other things before, during and after an import.
func TestThePagesOfAnImportAreAccessible(t *testing.T) {
	a := newAxe(t)
	hold := make(chan struct{})
	n := newcoming(t, func(o *imports.Options) {
		o.After = func(context.Context, interop.Report) error {
			<-hold
			return nil
		}
	})
	b := n.browse()
	b.until(`document.querySelector(".found li")`)
	a.examine(b, map[string][]string{"/": {unfold}})
	n.send("/import", url.Values{})
	a.examine(b, map[string][]string{"/import": nil, "/usage": nil})
	close(hold)
	n.ended()
	n.sendFiles("shopping.txt")
	n.ended()
	a.examine(b, map[string][]string{"/import": {unfold}, "/": nil})
}

// A project's page brings its files and commits later.
func TestTheProjectPageIsAccessible(t *testing.T) {
	a := newAxe(t)
	store, _ := pears(t)
	b := visiting(t, store, func(o *web.Options) { o.Folders = true }).browse()
	a.examine(b, map[string][]string{"/project?of=example.com/ada/pear&files=1&commits=1": {unfold}, "/projects": nil, "/?in=example.com/ada/pear": nil})
}

// An empty store has pages too, and they say what to do.
func TestEveryPageOfAnEmptyStoreIsAccessible(t *testing.T) {
	a := newAxe(t)
	b := visiting(t, memory.New(), nil).browse()
	pages := map[string][]string{}
	for _, path := range []string{"/", "/now", "/search", "/search?q=brown", "/usage", "/bin", "/health", "/projects"} {
		pages[path] = nil
	}
	a.examine(b, pages)
}

// A team's settings have accounts, a token that was just made, and what the server has set.
func TestTheSettingsOfATeamAreAccessible(t *testing.T) {
	a := newAxe(t)
	v := visiting(t, composed(t), teamed)
	b := v.browse()
	a.examine(b, map[string][]string{"/settings": {unfold}})
	b.eval(`document.querySelector("[name=theme]").value = "dark"; document.querySelector("form[action='/settings/looks']").requestSubmit(); true`)
	b.until(`document.documentElement.dataset.theme == "dark"`)
	a.examine(b, map[string][]string{"/settings": {unfold}})
}
