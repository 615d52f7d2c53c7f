package web_test

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/store/inspect"
)

func TestBinGivesSessionsBack(t *testing.T) {
	store := composed(t)
	v := visiting(t, store, nil)
	wants(t, "the bin", v.get("/bin"), "s-other-38", "s-other-39")
	page := v.send("/bin/restore", url.Values{"id": {"s-other-38"}})
	wants(t, "the bin", page, "Restored: ", "s-other-39")
	if strings.Contains(page, "s-other-38") {
		t.Error("s-other-38 is in the bin still")
	}
	if s, err := store.Session(t.Context(), "s-other-38"); err != nil || s.Binned != 0 {
		t.Errorf("s-other-38 is binned at %s, %v; want it back", s.Binned, err)
	}
}

func TestBinDestroysOnlyWhatIsInItAndOnlyWhenSure(t *testing.T) {
	store := composed(t)
	var logs []skein.SessionID
	v := visiting(t, store, func(o *web.Options) {
		o.Purged = func(s skein.Session) error { logs = append(logs, s.ID); return nil }
	})
	there := func(id skein.SessionID) bool {
		_, err := store.Session(t.Context(), id)
		return !errors.Is(err, skein.ErrNotFound)
	}
	one := url.Values{"id": {"s-other-39"}}
	wants(t, "the question", v.send("/bin/purge", one), "Delete for good?", "cannot be undone")
	if !there("s-other-39") {
		t.Fatal("it was destroyed before anybody was sure")
	}
	one.Set("sure", "yes")
	wants(t, "the bin", v.send("/bin/purge", one), "Deleted for good: 1 session")
	if there("s-other-39") || len(logs) != 1 || logs[0] != "s-other-39" {
		t.Errorf("s-other-39 is there: %v, logs of %v were removed; want it gone with its log", there("s-other-39"), logs)
	}
	status, body := v.ask("POST", "/bin/purge", url.Values{"id": {"s-retry"}, "sure": {"yes"}})
	if status != 400 || !there("s-retry") {
		t.Errorf("purging what is not in the bin: %d %s, want 400 and nothing done", status, body)
	}
}

func TestBinIsForThoseWhoMayWrite(t *testing.T) {
	v := visiting(t, composed(t), nil)
	for _, c := range []struct {
		scope, path string
		status      int
	}{{"read", "/bin/restore", 403}, {"read", "/bin/purge", 403}, {"write", "/bin/purge", 403}} {
		of := tokenOf("", c.scope)
		of.Name = c.scope + c.path
		token, err := v.tokens.Add(of)
		if err != nil {
			t.Fatal(err)
		}
		v.as(token)
		if status, body := v.ask("POST", c.path, url.Values{"id": {"s-other-39"}, "sure": {"yes"}}); status != c.status {
			t.Errorf("POST %s with the scope %s: %d %s, want %d", c.path, c.scope, status, body, c.status)
		}
	}
}

// ill is an examiner with a finding.
type ill struct{}

// Examine implements [inspect.Examiner].
func (ill) Examine(_ context.Context, x inspect.Examination) iter.Seq2[inspect.Finding, error] {
	return func(yield func(inspect.Finding, error) bool) {
		_ = yield(inspect.Finding{Area: "index", Level: inspect.Damaged, Text: "12 words are missing <b>", Mendable: !x.Repair, Mended: x.Repair}, nil)
	}
}

func TestHealthLooksWhenAskedAndMends(t *testing.T) {
	v := visiting(t, composed(t), func(o *web.Options) { o.Examiners = []inspect.Examiner{ill{}} })
	if page := v.get("/health"); strings.Contains(page, "12 words") {
		t.Error("the page looked without being asked")
	}
	wants(t, "health", v.get("/health?look=1"), "1 thing damaged", "12 words are missing &lt;b&gt;", "Mend 1")
	wants(t, "health", v.send("/health/repair", url.Values{}), "all is well", "mended")
	token, err := v.tokens.Add(tokenOf("eve", "write"))
	if err != nil {
		t.Fatal(err)
	}
	v.as(token)
	if status, _ := v.ask("GET", "/health?look=1", nil); status != 403 {
		t.Errorf("GET /health as eve: %d, want 403", status)
	}
}
