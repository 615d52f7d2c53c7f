package mcp_test

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/mcp"
	"github.com/skein-dev/skein/store/memory"
)

// Text that a client is not shown is not lost when the client renames the
// session.
func TestARenamedSessionKeepsItsWholeDescription(t *testing.T) {
	st := memory.New()
	t.Cleanup(func() { _ = st.Close() })
	about := "deploy with ghp_" + strings.Repeat("a1B2", 9) + " daily"
	if _, err := skein.Add(t.Context(), st, "s", skein.NewEvent(skein.KindCreated, 1, skein.Created{}),
		skein.NewEvent(skein.KindTitled, 2, skein.Titled{Title: "One", Description: about, By: skein.ByModel})); err != nil {
		t.Fatal(err)
	}
	c := started(t, mcp.Options{Store: st, Write: true})
	if text, failed := c.call("session_rename", map[string]any{"session": "s", "title": "Two"}); failed {
		t.Fatal(text)
	}
	if s, err := st.Session(t.Context(), "s"); err != nil || s.Title != "Two" || s.Description != about {
		t.Errorf("the session is %q, %q, %v; want %q, %q", s.Title, s.Description, err, "Two", about)
	}
}
