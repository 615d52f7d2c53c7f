package web_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
)

// cells returns the text of each row of a table.
func cells(page, id string) (rows [][]string) {
	_, part, _ := strings.Cut(page, `id="by-`+id+`"`)
	part, _, _ = strings.Cut(part, "</section>")
	for _, row := range regexp.MustCompile(`(?s)<tr data-item>.*?</tr>`).FindAllString(part, -1) {
		var words []string
		for _, cell := range regexp.MustCompile(`(?s)<t[hd][ >].*?</t[hd]>`).FindAllString(row, -1) {
			words = append(words, strings.TrimSpace(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(cell, ""))))
		}
		rows = append(rows, words)
	}
	return rows
}

func TestUsageShowsTheNumbersOfTheStoreAtItsPrices(t *testing.T) {
	store := composed(t)
	page := visiting(t, store, nil).get("/usage?since=")
	table, err := price.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []skein.Dimension{skein.ByDay, skein.ByModelID, skein.ByAgent, skein.ByRepository, skein.BySession} {
		rows, err := store.Usage(t.Context(), skein.UsageQuery{By: by})
		if err != nil {
			t.Fatal(err)
		}
		sums, got := table.Sums(rows, by), cells(page, string(by))
		if len(got) == 0 {
			t.Fatalf("the page has no table by %s:\n%s", by, page)
		}
		var total, shown price.Sum
		for i, s := range sums {
			total = total.Plus(s)
			if i >= len(got)-1 && len(got) < len(sums) {
				shown = shown.Plus(s)
				continue
			}
			want := []string{s.Money(), render.Count(s.Usage.Requests), render.Count(s.Usage.Input), render.Count(s.Usage.Output), render.Count(s.Usage.CacheRead), render.Count(s.Usage.CacheWrite)}
			if g := strings.Join(got[i][1:], " "); g != strings.Join(want, " ") {
				t.Errorf("by %s, %s: the page has %s, want %v", by, s.Of, g, want)
			}
		}
		if len(got) < len(sums) && got[len(got)-1][1] != shown.Money() {
			t.Errorf("by %s: the others cost %s, want %s", by, got[len(got)-1][1], shown.Money())
		}
		if by == skein.ByDay {
			wants(t, "the page", page, "<b>"+html.EscapeString(total.Money())+"</b>cost")
		}
	}
}

func TestUsageOfATimeLeavesOutTheRest(t *testing.T) {
	v := visiting(t, composed(t), nil)
	week := cells(v.get("/usage?since=7d"), "day")
	if n := len(week); n == 0 || n > 8 {
		t.Errorf("/usage?since=7d names %d days, want 1 to 8", n)
	}
	if days := cells(v.get("/usage?since=2026-11-21"), "day"); len(days) != 1 {
		t.Errorf("/usage?since=2026-11-21 names %d days, want 1", len(days))
	}
	wants(t, "nothing", v.get("/usage?since=1m"), "Nothing was used")
	if status, body := v.ask("GET", "/usage?since=soon", nil); status != 400 || !strings.Contains(body, "soon") {
		t.Errorf("/usage?since=soon: %d %s, want 400 with the value", status, body)
	}
}

func TestUsageOfAnotherUserIsNotShown(t *testing.T) {
	store := composed(t)
	v := visiting(t, store, nil)
	token, err := v.tokens.Add(tokenOf("eve", "read"))
	if err != nil {
		t.Fatal(err)
	}
	v.as(token)
	wants(t, "eve's page", v.get("/usage?since="), "Nothing was used")
}
