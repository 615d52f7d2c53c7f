package server

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein/server/door"
)

// besides adds routes of other packages to the document: programs call them
// too.
func (t *table) besides() {
	text := []media{{Type: "text/plain"}}
	for _, o := range []operation{
		{
			ID: "health", Method: http.MethodGet, Path: "/healthz", Tag: "server", Summary: "Whether the server is alive", Doc: "It needs no token and says ok, nothing else.", Gives: text,
		},
		{
			ID: "ready", Method: http.MethodGet, Path: "/readyz", Tag: "server", Summary: "Whether the server can do its work now", Doc: "It needs no token. 503 if the store does not answer.", Gives: text,
		},
		{
			ID: "metrics", Method: http.MethodGet, Path: "/metrics", Tag: "server", Scope: door.Read, Summary: "Counts, for Prometheus",
			Doc: "There with --metrics on. Only for tokens that see everybody's sessions.", Gives: text,
		},
		{
			ID: "create-login-code", Method: http.MethodPost, Path: "/v1/login-codes", Tag: "server", Scope: door.Read, Status: http.StatusCreated, Summary: "A code that logs a browser in, once, for 10 minutes",
			Doc: "A login by cookie does not suffice. The page at path has a button that sends it.", Gives: []media{bodyOf[loginCode]("application/json")},
		},
		{
			ID: "mcp", Method: http.MethodPost, Path: "/mcp", Tag: "server", Scope: door.Read, Body: door.MB, Summary: "The Model Context Protocol, over streamable HTTP",
			Doc: "Tools and resources for agents; those that write are there for tokens that may write.", Takes: []media{bodyOf[map[string]any]("application/json")}, Gives: []media{bodyOf[map[string]any]("application/json")},
		},
		{
			ID: "inbox", Method: http.MethodPost, Path: "/v1/inbox/{key}", Tag: "inbox", Body: door.MB, Status: http.StatusAccepted, Summary: "A message from elsewhere to the agent that answers under a key",
			Doc: inboxDoc, Takes: []media{bodyOf[inboxMessage]("application/json")}, Gives: []media{bodyOf[inboxPlace]("application/json")},
		},
	} {
		t.beside(o)
	}
	t.inbox()
}

const inboxDoc = `There with --gateway. No token: the request is signed by a source of the settings. The signature is v1= and, in hexadecimal, the HMAC-SHA256 with the source's secret of the timestamp, a dot and the body. The timestamp may be five minutes off.

A message with the same id is taken once. The answer goes to the source's URL, signed likewise; with wait=1 it is in the answer of the request.`

// Shapes of the answers of other packages.
type (
	loginCode struct {
		Code string `json:"code"`
		Path string `json:"path" doc:"of the page that logs in with it"`
	}
	inboxMessage struct {
		ID   string `json:"id,omitempty" doc:"the source's name for the message: sent twice it is taken once; the signature if it is left out"`
		From string `json:"from,omitempty" doc:"who says it; given back with the answer, as to"`
		Text string `json:"text"`
	}
	inboxPlace struct {
		Key string `json:"key"`
		To  string `json:"to,omitempty"`
		ID  string `json:"id"`
	}
	inboxAnswer struct {
		Key     string `json:"key"`
		To      string `json:"to,omitempty"`
		ID      string `json:"id"`
		Text    string `json:"text"`
		Session string `json:"session,omitempty" doc:"where it was said"`
	}
)

// beside adds an operation that another package answers to the document.
func (t *table) beside(o operation) {
	op := &huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: o.Path, Summary: o.Summary, Description: o.Doc, Tags: []string{o.Tag},
		Responses: map[string]*huma.Response{}, Security: []map[string][]string{},
	}
	if o.Scope > door.Open {
		op.Security = append(op.Security, map[string][]string{"token": {o.Scope.String()}})
	}
	t.api.OpenAPI().AddOperation(op)
	t.fill(op, o)
}

// inbox documents what only the inbox has.
func (t *table) inbox() {
	doc := t.api.OpenAPI()
	op := doc.Paths["/v1/inbox/{key}"].Post
	text := &huma.Schema{Type: huma.TypeString}
	op.Parameters = []*huma.Param{
		{Name: "key", In: "path", Required: true, Schema: text, Description: "one that the source may write under"},
		{Name: "wait", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"0", "1"}}, Description: "1: answer when the agent has"},
		{Name: "Skein-Source", In: "header", Required: true, Schema: text, Description: "the source's name"},
		{Name: "Skein-Timestamp", In: "header", Required: true, Schema: text, Description: "seconds since 1970"},
	}
	doc.Components.SecuritySchemes["signature"] = &huma.SecurityScheme{Type: "apiKey", In: "header", Name: "Skein-Signature"}
	op.Security = []map[string][]string{{"signature": {}}}
	op.Responses["200"] = &huma.Response{Description: "With wait=1: what the agent answers.", Content: t.content([]media{bodyOf[inboxAnswer]("application/json")})}
}
