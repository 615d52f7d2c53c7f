package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/store/memory"
)

// listOf has sessions whose facets are known.
func listOf(t *testing.T, change func(*web.Options)) *visit {
	t.Helper()
	return visiting(t, listed(t), change)
}

// listed returns the store that listOf shows.
func listed(t *testing.T) skein.Store {
	t.Helper()
	store := memory.New()
	c := &composer{t: t, store: store}
	for i := range 6 {
		agent, branch := "codex", "main"
		if i%3 == 0 {
			agent, branch = "claude-code", "fix/retry"
		}
		c.begin(fmt.Sprintf("s-%d", i), composedNow.Add(-time.Duration(i)*20*time.Hour), skein.Created{Title: fmt.Sprint("Session ", i), Agent: agent, Project: fmt.Sprint("/home/ada/p", i%2), Checkout: &skein.Checkout{Branch: branch}})
		c.asks("Is the brown fox quick?")
		for range i {
			c.answers(sonnet, "It is.", used(100_000, 10_000, 0, 0))
		}
	}
	for i := range 5 {
		c.begin(fmt.Sprintf("s-robot-%d", i), composedNow.Add(-time.Hour), skein.Created{Agent: "robot", Project: "/home/ada/p0"})
		c.asks("Write a commit message for the staged changes")
	}
	c.begin("s-child", composedNow, skein.Created{Title: "A sub-agent", Agent: "codex", Parent: &skein.Parent{Session: "s-1", Why: skein.Child}})
	c.asks("Look.")
	c.begin("s-failed", composedNow, skein.Created{Title: "It failed", Agent: "codex"})
	c.asks("Do it.")
	c.put(skein.Say(c.at, skein.Message{Role: skein.RoleAssistant, Error: &skein.ErrorInfo{Message: "overloaded"}}))
	return store
}

// A noting store notes what it is asked that takes it through many sessions.
type noting struct {
	skein.Store
	notes *notes
}

type notes struct {
	counted int // calls of CountBy
	costs   [][]skein.SessionID
}

// Unwrap returns the store that is asked.
func (n noting) Unwrap() skein.Store { return n.Store }

func (n noting) As(u skein.User) skein.Store { return noting{n.Store.As(u), n.notes} }

func (n noting) CountBy(ctx context.Context, f skein.Filter, by ...skein.Dimension) (map[skein.Dimension][]skein.Counted, error) {
	n.notes.counted++
	return skein.CountListed(ctx, n.Store, f, by...)
}

func (n noting) Usage(ctx context.Context, q skein.UsageQuery) ([]skein.UsageRow, error) {
	if q.By == skein.BySession {
		n.notes.costs = append(n.notes.costs, q.Sessions)
	}
	return n.Store.Usage(ctx, q)
}

// All facets are counted in one walk through the sessions, those that something is chosen
// of in one each, and what a session cost is added up only if it is listed.
func TestFacetsAreCountedTogether(t *testing.T) {
	var n notes
	v := visiting(t, noting{listed(t), &n}, nil)
	v.get("/") // the first visit also asks whether something is running
	n = notes{}
	v.get("/")
	all := n.counted
	if all > 4 { // the names of projects, the size of the store, the facets, the sub-agents
		t.Errorf("the list goes through the sessions %d times to count them, want 4", all)
	}
	n = notes{}
	v.get("/?agent=codex&branch=fix%2Fretry&agent=claude-code")
	if n.counted > all+2 {
		t.Errorf("with an agent and a branch chosen, the list goes through the sessions %d times, want %d", n.counted, all+2)
	}
	for _, ids := range n.costs {
		if len(ids) == 0 || slices.ContainsFunc(ids, func(id skein.SessionID) bool { return id != "s-0" && id != "s-3" }) {
			t.Errorf("what %q cost is added up, want the two sessions that are listed", ids)
		}
	}
}

// facetCount returns the count that a page has beside a value of a facet; "" if it does not have it.
func facetCount(page, facet, value string) string {
	_, rest, _ := strings.Cut(page, `data-facet="`+facet+`"`)
	section, _, _ := strings.Cut(rest, "</section>")
	m := regexp.MustCompile(`<span>` + regexp.QuoteMeta(value) + `</span> <b>([^<]*)</b>`).FindStringSubmatch(section)
	if m == nil {
		return ""
	}
	return m[1]
}

func TestFacetsCountWhatAChoiceWouldList(t *testing.T) {
	v := listOf(t, nil)
	for path, want := range map[string]map[[2]string]string{
		"/": {
			{"agent", "codex"}: "5", {"agent", "claude-code"}: "2", {"agent", "robot"}: "5", {"in", "p0"}: "8", {"branch", "fix/retry"}: "2",
			{"state", "failed"}: "1", {"since", "today"}: "7", {"since", "last 7 days"}: "12",
		},
		"/?agent=codex&agent=claude-code": {{"agent", "robot"}: "5", {"in", "p0"}: "3", {"state", "failed"}: "1"},
		"/?in=%2Fhome%2Fada%2Fp1":         {{"agent", "codex"}: "2", {"agent", "robot"}: "", {"in", "p0"}: "8"},
		"/?state=failed":                  {{"agent", "codex"}: "1"},
		"/?children=1&agent=codex":        {{"agent", "codex"}: "6"},
	} {
		page := v.get(path)
		for of, n := range want {
			if got := facetCount(page, of[0], of[1]); got != n {
				t.Errorf("GET %s: the facet %s has %q beside %s, want %q", path, of[0], got, of[1], n)
			}
		}
	}
	for path, n := range map[string]int{"/": 12, "/?agent=codex&agent=claude-code": 7, "/?agent=codex&branch=main&since=2026-11-20": 1, "/?state=failed": 1, "/?cost=1&agent=codex": 2, "/?in=%2Fhome%2Fada%2Fp1&agent=robot": 0} {
		if got := strings.Count(v.get(path), "data-item"); got != n {
			t.Errorf("GET %s lists %d sessions, want %d", path, got, n)
		}
	}
	if cost := facetCount(v.get("/"), "cost", "$1 or more"); cost != "3" {
		t.Errorf("%q sessions cost $1 or more, want 3", cost)
	}
}

// order returns the IDs that a page lists, in order.
func order(page string) (ids []string) {
	for _, part := range strings.Split(page, `data-id="`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		ids = append(ids, id)
	}
	return ids
}

func TestTheListIsGroupedAndSorted(t *testing.T) {
	v := listOf(t, nil)
	wants(t, "the list by day", v.get("/"), `Today <span>7</span>`, `Yesterday <span>1</span>`, "4 more runs like this")
	wants(t, "the list by project", v.get("/?group=project"), `>p0</a> <span>8</span>`, `>p1</a> <span>3</span>`, `No project <span>1</span>`)
	wants(t, "the list by branch", v.get("/?group=branch"), `>main</a> <span>4</span>`, `href="/?branch=main"`)
	if got := order(v.get("/?sort=cost")); len(got) < 5 || got[0] != "s-5" || got[4] != "s-1" {
		t.Errorf("the dearest sessions are %q, want s-5 first, s-1 fifth", got)
	}
}

// Each way to sort is a link that a person can follow, and all pages together have all
// sessions.
func TestTheListIsSortedInEachWay(t *testing.T) {
	store := memory.New()
	c := &composer{t: t, store: store}
	for i := range 60 {
		c.begin(fmt.Sprintf("s-%02d", i), composedNow.Add(-time.Duration((i*7)%60)*time.Hour), skein.Created{Title: fmt.Sprint("Session ", i), Agent: "codex"})
		for range 1 + i%4 {
			c.asks("Is the brown fox quick?")
		}
	}
	b := visiting(t, store, nil).browse()
	b.size(360, "light")
	b.open("/?agent=codex")
	if broken := b.eval(`[...document.querySelectorAll(".arrange a, .arrange span > .dim")].filter((e) => { const r = document.createRange(); r.selectNodeContents(e); return r.getClientRects().length > 1 }).map((e) => e.textContent).join(", ")`); broken != "" {
		t.Errorf("on a phone, these words are broken: %v", broken)
	}
	b.size(390, "light")
	for name, want := range map[string]struct{ first, last string }{
		"newest": {"s-00", "s-17"}, "oldest": {"s-17", "s-00"}, "longest": {"s-03", "s-56"},
	} {
		b.open("/?agent=codex&group=project")
		b.eval(`[...document.querySelectorAll(".arrange a")].find((a) => a.textContent == "` + name + `").click()`)
		b.until(`location.search == "?agent=codex&sort=` + name + `"`)
		b.until(`(scrollTo(0, document.documentElement.scrollHeight), document.querySelectorAll("li[data-item]").length == 60)`)
		ids := b.eval(`[...document.querySelectorAll("li[data-item]")].map((e) => e.dataset.id).join(" ")`).(string)
		if all := strings.Fields(ids); all[0] != want.first || all[len(all)-1] != want.last {
			t.Errorf("the %s come in the order %s; want %s first and %s last", name, ids, want.first, want.last)
		}
		if at := b.eval(`[...document.querySelectorAll(".arrange [aria-current]")].map((a) => a.textContent).join(", ")`); at != "none, "+name {
			t.Errorf("the list of the %s says that it is arranged by %v", name, at)
		}
	}
}

// Of a facet with very many values, those that are not shown can be typed, and what is
// chosen is shown whatever its place among them.
func TestEveryValueOfALargeFacetCanBeChosen(t *testing.T) {
	store := memory.New()
	c := &composer{t: t, store: store}
	for i := range 230 {
		c.begin(fmt.Sprintf("s-%03d", i), composedNow.Add(-time.Duration(i)*time.Minute), skein.Created{
			Title: fmt.Sprint("Session ", i), Agent: "codex", Checkout: &skein.Checkout{Branch: fmt.Sprintf("b-%03d", i)},
		})
		c.asks("Is the brown fox quick?")
	}
	v := visiting(t, store, nil)
	wants(t, "the list", v.get("/?agent=codex"), `placeholder="30 more: type one"`)
	b := v.browse()
	b.size(1440, "light")
	b.open("/?agent=codex")
	b.do(chromedp.SendKeys(chromedp.CSS("[data-facet=branch] form input[name=branch]:not([type=hidden])"), "b-229\r"))
	b.until(`location.search == "?agent=codex&branch=b-229"`)
	if got := b.eval(`[...document.querySelectorAll("li[data-item]")].map((e) => e.dataset.id).join(" ") + ", chosen: " + [...document.querySelectorAll("[data-facet=branch] [aria-current]")].map((a) => a.textContent).join(" ")`); got != "s-229, chosen: b-229 1" {
		t.Errorf("after typing b-229, the list has %v; want s-229 alone, and its branch chosen", got)
	}
}

func TestAnUnknownWayToSortIsRefused(t *testing.T) {
	v := listOf(t, nil)
	if status, page := v.ask(http.MethodGet, "/?sort=size", nil); status != http.StatusBadRequest || !strings.Contains(page, "newest, oldest, longest or cost") {
		t.Errorf("GET /?sort=size is answered with %d and %s; want 400 and the ways that there are", status, page)
	}
}

func TestAViewIsKeptUntilItIsRemoved(t *testing.T) {
	v := listOf(t, nil)
	page := v.send("/views", url.Values{"name": {"Codex & <b>"}, "query": {"agent=codex&group=none"}, "back": {"/?agent=codex&group=none"}})
	wants(t, "the page after saving", page, "Codex &amp; &lt;b&gt;", `href="/?agent=codex&amp;group=none"`)
	wants(t, "the list", v.get("/"), "Codex &amp; &lt;b&gt;")
	lacks(t, "the list after removing", v.send("/views", url.Values{"name": {"Codex & <b>"}, "do": {"remove"}}), `href="/?agent=codex&amp;group=none"`)
}

func TestTheListGoesOnAsOneScrolls(t *testing.T) {
	store := memory.New()
	c := &composer{t: t, store: store}
	for i := range 170 {
		c.begin(fmt.Sprintf("s-%03d", i), composedNow.Add(-time.Duration(i)*time.Minute), skein.Created{Title: fmt.Sprint("Session ", i)})
		c.asks("Is the brown fox quick?")
	}
	b := visiting(t, store, nil).browse()
	b.size(1440, "light")
	b.open("/?group=day") // the address alone leads to what is running
	if n := b.eval(`[...document.querySelectorAll("li[data-item]")].filter((e) => e.getBoundingClientRect().bottom <= innerHeight).length`); n.(float64) < 25 {
		t.Errorf("a screen of 1440 by 900 shows %v sessions, want 25", n)
	}
	b.until(`(scrollTo(0, document.documentElement.scrollHeight), document.querySelectorAll("li[data-item]").length == 170)`)
	if n := b.eval(`new Set([...document.querySelectorAll("li[data-item]")].map((e) => e.dataset.id)).size`); n.(float64) != 170 {
		t.Errorf("%v of 170 sessions are listed", n)
	}
	if n := b.eval(`document.querySelectorAll(".day").length`); n.(float64) != 1 {
		t.Errorf("the day has %v titles, want 1", n)
	}
}

func TestFacetsOfManySessionsComeAfterTheList(t *testing.T) {
	v := listOf(t, func(o *web.Options) { o.Listed = 5 })
	page := v.get("/")
	if got := facetCount(page, "agent", "codex"); got != "" || strings.Count(page, "data-item") != 12 {
		t.Errorf("the list of many has %q beside codex, and %d sessions; want none and 12", got, strings.Count(page, "data-item"))
	}
	wants(t, "the list of many", page, `href="/?facets=1"`)
	if got := facetCount(v.get("/?facets=1"), "agent", "codex"); got != "5" {
		t.Errorf("the facets that were asked for have %q beside codex, want 5", got)
	}
	b := v.browse()
	b.open("/?group=day")
	b.until(`document.querySelector("[data-facet=agent]")?.textContent.includes("codex")`)
}
