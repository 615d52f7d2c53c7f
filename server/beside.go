package server

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
)

// besides adds routes of other packages to the document: programs call them
// too.
func besides(t *openapi.Table) {
	text := []openapi.Media{{Type: "text/plain"}}
	for _, o := range []openapi.Operation{
		{
			ID: "health", Method: http.MethodGet, Path: "/healthz", Tag: "server", Summary: "Check that the server is alive", Doc: "Needs no token. The answer is ok.", Gives: text,
		},
		{
			ID: "ready", Method: http.MethodGet, Path: "/readyz", Tag: "server", Summary: "Check that the server can do its work", Doc: "Needs no token. 503 if the store does not answer.", Gives: text,
		},
		{
			ID: "metrics", Method: http.MethodGet, Path: "/metrics", Tag: "server", Scope: door.Read, Summary: "Metrics for Prometheus",
			Doc: "Exists with --metrics on. Only for tokens that see all users' sessions.", Gives: text,
		},
		{
			ID: "create-login-code", Method: http.MethodPost, Path: "/v1/login-codes", Tag: "server", Scope: door.Read, Status: http.StatusCreated, Summary: "Make a code that logs a browser in, once, within 10 minutes",
			Doc: "A cookie is not enough. The page at path has a button that sends the code.", Gives: []openapi.Media{openapi.BodyOf[loginCode]("application/json")},
		},
		{
			ID: "mcp", Method: http.MethodPost, Path: "/mcp", Tag: "server", Scope: door.Read, Body: door.MB, Summary: "The Model Context Protocol, over streamable HTTP",
			Doc: "Tools and resources for agents. Tools that write exist only for tokens that may write.", Takes: []openapi.Media{openapi.BodyOf[map[string]any]("application/json")}, Gives: []openapi.Media{openapi.BodyOf[map[string]any]("application/json")},
		},
		{
			ID: "acp", Method: http.MethodPost, Path: "/v1/acp", Tag: "server", Scope: door.Read, Body: door.MaxBody, Status: http.StatusAccepted, Summary: "The Agent Client Protocol, over HTTP: a message of the client's",
			Doc: acpDoc + " initialize is answered with 200, and the header Acp-Connection-Id; other messages with 202, and what they cause comes in the streams. The answer to a permission that somebody else has answered: 409, answered.", Takes: []openapi.Media{openapi.BodyOf[map[string]any]("application/json")}, Gives: []openapi.Media{openapi.BodyOf[map[string]any]("application/json")},
		},
		{
			ID: "acp-stream", Method: http.MethodGet, Path: "/v1/acp", Tag: "server", Scope: door.Read, Stream: true, Summary: "The Agent Client Protocol: a WebSocket, or a stream of messages",
			Doc: acpDoc + " With Upgrade: websocket, the connection becomes a WebSocket. Otherwise the messages for the connection that the header Acp-Connection-Id names are streamed as SSE, or those of the session that Acp-Session-Id names.", Gives: []openapi.Media{openapi.BodyOf[map[string]any]("text/event-stream")},
		},
		{
			ID: "end-acp", Method: http.MethodDelete, Path: "/v1/acp", Tag: "server", Scope: door.Read, Status: http.StatusAccepted, Summary: "End a connection of the Agent Client Protocol",
			Doc: "The header Acp-Connection-Id names it.",
		},
		{
			ID: "inbox", Method: http.MethodPost, Path: "/v1/inbox/{key}", Tag: "inbox", Body: door.MB, Status: http.StatusAccepted, Summary: "Send a message to the agent that answers under a key",
			Doc: inboxDoc, Takes: []openapi.Media{openapi.BodyOf[inboxMessage]("application/json")}, Gives: []openapi.Media{openapi.BodyOf[inboxPlace]("application/json")},
		},
	} {
		t.Beside(o)
	}
	inbox(t)
}

const acpDoc = "Attaches to sessions that are open in editors. A token with the scope read watches, with answer it also answers what agents ask, with write it also sends prompts."

const inboxDoc = `Exists with --gateway. Needs no token: the request is signed by a source in the settings. The signature is v1= and, in hexadecimal, the HMAC-SHA256 of the timestamp, a dot and the body, with the source's secret. The timestamp may be five minutes off.

A message with the same id is accepted once. The agent's answer is sent to the source's URL, signed in the same way; with wait=1 it is in the response instead.`

// Shapes of the answers of other packages.
type (
	loginCode struct {
		Code string `json:"code"`
		Path string `json:"path" doc:"path of the page that logs in with the code"`
	}
	inboxMessage struct {
		ID   string `json:"id,omitempty" doc:"the source's ID of the message: a message with the same ID is accepted once; by default, the signature"`
		From string `json:"from,omitempty" doc:"the sender; returned with the answer, as to"`
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
		Session string `json:"session,omitempty" doc:"ID of the session that the message is in"`
	}
)

// inbox documents what only the inbox has.
func inbox(t *openapi.Table) {
	doc := t.Document()
	op := doc.Paths["/v1/inbox/{key}"].Post
	text := &huma.Schema{Type: huma.TypeString}
	op.Parameters = []*huma.Param{
		{Name: "key", In: "path", Required: true, Schema: text, Description: "a key that the source may write under"},
		{Name: "wait", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"0", "1"}}, Description: "1: respond when the agent has answered"},
		{Name: "Skein-Source", In: "header", Required: true, Schema: text, Description: "the source's name"},
		{Name: "Skein-Timestamp", In: "header", Required: true, Schema: text, Description: "seconds since 1970"},
	}
	doc.Components.SecuritySchemes["signature"] = &huma.SecurityScheme{Type: "apiKey", In: "header", Name: "Skein-Signature"}
	op.Security = []map[string][]string{{"signature": {}}}
	op.Responses["200"] = &huma.Response{Description: "With wait=1: what the agent answers.", Content: t.Content([]openapi.Media{openapi.BodyOf[inboxAnswer]("application/json")})}
}

// Shapes of bodies that are written by hand, for the document.
type (
	event struct {
		Seq       int64          `json:"seq" doc:"position in the session: 1, 2, 3, … without gaps"`
		Time      string         `json:"time" doc:"by the writer's clock, such as 2026-11-21T04:36:00.123Z; empty if unknown"`
		Kind      string         `json:"kind" doc:"created, said, tool, step, titled, changed, compacted, rewound, resumed, ended, amended, noted; more kinds may be added"`
		ClientID  string         `json:"client_id,omitempty" maxLength:"128" doc:"idempotency key, chosen by the writer: an event with the same one is stored once"`
		Damaged   bool           `json:"damaged,omitempty" doc:"it only stands in for one that cannot be read as it was written, and says why"`
		Payload   map[string]any `json:"payload,omitempty" doc:"depends on the kind; stored byte for byte"`
		Payload64 []byte         `json:"payload64,omitempty" doc:"the payload in Base64, if its bytes cannot be on one line of JSON"`
	}
	newEvent struct {
		Kind      string         `json:"kind"`
		Time      string         `json:"time,omitempty" doc:"default: now"`
		ClientID  string         `json:"client_id,omitempty" maxLength:"128"`
		Payload   map[string]any `json:"payload,omitempty"`
		Payload64 []byte         `json:"payload64,omitempty"`
	}
	newBlob struct {
		Hash string `json:"hash" doc:"SHA-256 of the data, in hexadecimal"`
		Data []byte `json:"data"`
	}
	newBatch struct {
		After  int64      `json:"after,omitempty" doc:"the last seq that the writer saw; 0 to append wherever the session ends, -1 if the session must be new"`
		Fence  int64      `json:"fence,omitempty" doc:"fencing number of the writer's lease"`
		Events []newEvent `json:"events"`
		Blobs  []newBlob  `json:"blobs,omitempty" doc:"blobs that the events refer to"`
	}
	eventPage struct {
		Items []event `json:"items"`
		Next  string  `json:"next_cursor,omitempty"`
	}
	fed struct {
		Session string `json:"session"`
		User    string `json:"user"`
		Event   event  `json:"event"`
	}
)
