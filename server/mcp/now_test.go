package mcp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skein-dev/skein/server/mcp"
)

func TestNowSaysWhichBudgetsAreNearlyUsed(t *testing.T) {
	c := started(t, mcp.Options{Store: store(t), Budgets: func(context.Context) ([]string, error) { return []string{"82 % of $1.00 (day)"}, nil }})
	text, failed := c.call("session_now", map[string]any{})
	if inside, _ := data(t, text); failed || !strings.Contains(text, "82 % of $1.00 (day)") || strings.Contains(inside, "82 %") {
		t.Errorf("session_now says\n%s\nwant the budget, outside the data", text)
	}
}
