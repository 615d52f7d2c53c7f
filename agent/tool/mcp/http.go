package mcp

import (
	"context"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// dial connects to the server at its URL.
func (c *client) dial(ctx context.Context) (*connection, error) {
	u, err := url.Parse(c.server.URL)
	if err != nil {
		return nil, err
	}
	t := &sdk.StreamableClientTransport{
		Endpoint:             c.server.URL,
		HTTPClient:           &http.Client{Transport: &headers{of: c.server.Headers, to: u, by: http.DefaultTransport}},
		MaxRetries:           2,
		MaxEventSize:         maxMessage,
		DisableStandaloneSSE: true, // unsolicited messages are not needed
	}
	return c.session(ctx, t, nil)
}

// headers adds headers to the requests to one host. A redirect to another host
// does not get them.
type headers struct {
	of map[string]string
	to *url.URL
	by http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == h.to.Scheme && r.URL.Host == h.to.Host && len(h.of) > 0 {
		r = r.Clone(r.Context())
		for name, value := range h.of {
			r.Header.Set(name, value)
		}
	}
	return h.by.RoundTrip(r)
}
