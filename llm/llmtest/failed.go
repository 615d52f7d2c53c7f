package llmtest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skein-dev/skein/llm"
)

func failures(c *check) {
	late := Fails(429, "Slow down.")
	late.After = 7 * time.Second
	for _, tt := range []struct {
		reply Reply
		want  error
	}{
		{Fails(400, "messages: something is wrong"), llm.ErrRequest},
		{Fails(400, c.suite.TooLong), llm.ErrTooLong},
		{Fails(401, "That key is not known."), llm.ErrDenied},
		{Fails(403, "That key may not."), llm.ErrDenied},
		{Fails(404, "There is no such model."), llm.ErrModel},
		{Fails(413, "Request exceeds the maximum size"), llm.ErrTooLong},
		{Fails(422, "cannot process that"), llm.ErrRequest},
		{late, llm.ErrBusy},
		{Fails(500, "Internal server error"), llm.ErrBusy},
		{Fails(503, "Service Unavailable"), llm.ErrBusy},
		{Fails(529, "Overloaded"), llm.ErrBusy},
	} {
		m, e := c.fails(c.ask(tt.reply))
		id := fmt.Sprintf("req_%04d", len(c.server.Requests()))
		if !errors.Is(e, tt.want) || m != nil || e.Status != tt.reply.Status || !strings.Contains(e.Message, tt.reply.Message) || e.After != tt.reply.After || e.Request != id {
			c.Errorf("HTTP %d %q: Stream() = %#v, message %+v, want %v, after %s, request %s", tt.reply.Status, tt.reply.Message, e, m, tt.want, tt.reply.After, id)
		}
	}
	wrong := c.open(llm.Options{Key: "sk-wrong-key", BaseURL: c.server.URL, Model: c.suite.Model, Client: c.client})
	if _, e := c.fails(wrong); !errors.Is(e, llm.ErrDenied) || strings.Contains(e.Error(), "sk-wrong-key") {
		c.Errorf("Stream() with a wrong key = %v, want %v, without the key", e, llm.ErrDenied)
	}
}

func midway(c *check) {
	reply := Says("This is the answer that does not come to its end.")
	reply.Status, reply.Message = 200, "It is too much just now"
	m, e := c.fails(c.ask(reply))
	if !errors.Is(e, llm.ErrBusy) || !strings.Contains(e.Message, reply.Message) || m == nil || !strings.HasPrefix("This is the answer that does not come to its end.", m.Words()) || m.Words() == "" {
		c.Errorf("Stream() = %#v, message %+v, want %v and what there was", e, m, llm.ErrBusy)
	}
}

func pages(c *check) {
	m, e := c.fails(c.ask(Reply{Page: "<html><body>Please log in to the network</body></html>"}))
	if !errors.Is(e, llm.ErrRequest) || m != nil || !strings.Contains(e.Message, "text/html") {
		c.Errorf("Stream() answered with a page = %v, message %+v, want %v", e, m, llm.ErrRequest)
	}
	other := c.suite.Serve(c.T, Says("I have your key."))
	_, e = c.fails(c.ask(Reply{To: other.URL + "/v1/messages"}))
	if n := len(other.Requests()); !errors.Is(e, llm.ErrRequest) || n != 0 {
		c.Errorf("Stream() sent elsewhere = %v, and %d requests came there, want %v and none", e, n, llm.ErrRequest)
	}
	other.close()
}

func once(c *check) {
	for i, reply := range []Reply{Fails(429, "wait"), Fails(500, "oh"), Fails(529, "busy"), {Break: Drop}, Breaks(Says("Hello."), Cut, 0)} {
		_, _ = c.fails(c.ask(reply)) // other tests check which error
		if n := len(c.server.Requests()); n != i+1 {
			c.Fatalf("%+v: %d requests came, want %d: the client tries again by itself", reply, n, i+1)
		}
	}
}

func secrecy(c *check) {
	for _, reply := range []Reply{
		Fails(401, "Incorrect API key provided: "+Key+"."),
		{Status: 200, Message: "key " + Key + " is over its limit", Parts: Says("Hello.").Parts},
		{Page: "<html>" + Key + "</html>"},
	} {
		_, e := c.fails(c.ask(reply))
		if s := fmt.Sprintf("%v %+v %#v %v", e, e, e, e.Err); strings.Contains(s, Key) || !strings.Contains(e.Message, "[key]") {
			c.Errorf("Stream() = %s, which has the key in it", s)
		}
	}
}
