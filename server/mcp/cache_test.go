package mcp_test

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein/server/mcp"
)

// Nothing in between may cache what one client may see for another one.
func TestNoAnswerMayBeKeptForOthers(t *testing.T) {
	c := started(t, mcp.Options{Store: store(t)})
	check := func(method string, r sdk.CacheableResult, err error) {
		t.Helper()
		if err != nil || r.GetCacheScope() != "private" || r.GetTTLMs() != 0 {
			t.Errorf("%s: cache scope %q for %d ms, %v; want private, for none", method, r.GetCacheScope(), r.GetTTLMs(), err)
		}
	}
	tools, err := c.ListTools(t.Context(), nil)
	check("tools/list", tools, err)
	resources, err := c.ListResources(t.Context(), nil)
	check("resources/list", resources, err)
	templates, err := c.ListResourceTemplates(t.Context(), nil)
	check("resources/templates/list", templates, err)
	read, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "skein://session/s1"})
	check("resources/read", read, err)
}
