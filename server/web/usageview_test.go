package web_test

import (
	"encoding/csv"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// spentOnce is a visit to a store with one session of long ago.
func spentOnce(t *testing.T, agent string) *visit {
	t.Helper()
	store := memory.New()
	c := &composer{t: t, store: store}
	c.begin("s-old", composedNow.Add(-200*24*time.Hour), skein.Created{Title: "Old", Agent: agent, Project: "/home/ada/p", Checkout: &skein.Checkout{Branch: "fix/retry"}})
	c.asks("Is the brown fox quick?")
	c.answers(sonnet, "It is.", used(100_000, 10_000, 0, 0))
	c.answers(haiku, "It is.", used(1_000, 100, 0, 0))
	return visiting(t, store, nil)
}

func TestUsageOpensOnAPeriodThatHasSome(t *testing.T) {
	v := spentOnce(t, "codex")
	page := v.get("/usage")
	wants(t, "the page", page, `since=365d" aria-current="true"`, "Most expensive sessions", "by weekday and hour")
	wants(t, "30 days, as asked for", v.get("/usage?since=30d"), "Nothing was used")
}

// What a month cost takes two clicks: Usage, and the month.
func TestAMonthIsOneClickAway(t *testing.T) {
	b := spentOnce(t, "codex").browse()
	b.eval(`[...document.querySelectorAll("header a")].find((a) => a.textContent == "Usage").click()`)
	b.until(`document.querySelector("nav[aria-label=Month] a")`)
	b.eval(`[...document.querySelectorAll("nav[aria-label=Month] a")].find((a) => a.textContent == "May 2026").click()`)
	b.until(`document.querySelector("nav[aria-label=Month] [aria-current]")?.textContent == "May 2026" && document.querySelector(".cards")`)
	if got := b.eval(`location.search + " " + document.querySelector(".cards b").textContent`); got != "?since=2026-05-01&until=2026-05-31 $0.45" {
		t.Errorf("May leads to %v, want its days and $0.45", got)
	}
}

func TestUsageIsDividedByWhatIsAskedFor(t *testing.T) {
	v := spentOnce(t, "codex")
	for by, want := range map[string]string{"model": sonnet, "agent": "codex", "branch": "fix/retry", "repository": "p"} {
		page := v.get("/usage?since=&stack=" + by)
		_, legend, _ := strings.Cut(page, "<b>Cost</b>")
		if figure, _, _ := strings.Cut(legend, "</figure>"); by == "model" {
			wants(t, "the chart by "+by, figure, want, haiku, `class="s1"`, `class="s2"`)
		}
		wants(t, "the page by "+by, page, want, `aria-current="true">`+map[string]string{"repository": "project"}[by])
	}
	if status, _ := v.ask("GET", "/usage?stack=color", nil); status != 400 {
		t.Errorf("GET /usage?stack=color: %d, want 400", status)
	}
}

// What a chart shows is in a table under it too, for those who do not see it and for those
// who want the numbers.
func TestEachChartHasATable(t *testing.T) {
	v := spentOnce(t, "codex")
	for title, want := range map[string][]string{
		"Cost":   {"Day|Total|" + sonnet + "|" + haiku, "5 May 2026|$0.45|$0.45|&lt;$0.01"},
		"Tokens": {"Day|Total|Cache read|Cache write|Input|Output", "5 May 2026|111.1k|0|0|101k|10.1k"},
	} {
		_, figure, _ := strings.Cut(v.get("/usage?since=&stack=model"), "<figcaption><b>"+title+"</b>")
		figure, _, _ = strings.Cut(figure, "</figure>")
		var got []string
		for _, row := range strings.Split(figure, "<tr>")[1:] {
			row, _, _ = strings.Cut(row, "</tr>")
			var line []string
			for _, cell := range cellsOf.FindAllStringSubmatch(row, -1) {
				line = append(line, cell[1])
			}
			got = append(got, strings.Join(line, "|"))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("the table under the chart %s (-want +got):\n%s", title, d)
		}
	}
}

var cellsOf = regexp.MustCompile(`<t[hd][^>]*>([^<]*)</t[hd]>`)

func TestATableOfUsageIsCSVWithoutFormulas(t *testing.T) {
	v := spentOnce(t, `=HYPERLINK("http://x.example","x")`)
	rows, err := csv.NewReader(strings.NewReader(v.get("/usage?since=&csv=agent"))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("the CSV has %q, %v; want a head and one row", rows, err)
	}
	if got, want := strings.Join(rows[1], "|"), `'=HYPERLINK("http://x.example","x")|0.451500|2|101000|10100|0|0|0`; got != want {
		t.Errorf("the row is %s, want %s", got, want)
	}
	wants(t, "the page", v.get("/usage?since="), `href="/usage?csv=agent&amp;since="`)
	if status, _ := v.ask("GET", "/usage?csv=color", nil); status != 400 {
		t.Errorf("GET /usage?csv=color: %d, want 400", status)
	}
}
