package llmtest

import (
	"errors"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// A Suite says how to reach a provider.
type Suite struct {
	Serve func(t testing.TB, replies ...Reply) *Server // starts a server with its wire format
	Open  func(o llm.Options) (llm.Provider, error)    // as the provider's New does
	Model string                                       // model to ask for
	NoKey bool                                         // it also works without a key
	Cut   string                                       // why an answer ends that reached its limit, in the provider's words

	TooLong string // the provider's error text for a request that is too long
}

// Run tests that the provider keeps every promise.
func Run(t *testing.T, s Suite) {
	for _, p := range promises() {
		t.Run(p.name, func(t *testing.T) {
			leaks := goleak.IgnoreCurrent()
			transport := http.DefaultTransport.(*http.Transport).Clone()
			c := &check{T: t, suite: s, client: &http.Client{Transport: transport}}
			p.run(c)
			transport.CloseIdleConnections()
			if c.server != nil {
				c.server.close()
			}
			goleak.VerifyNone(t, leaks)
		})
	}
}

// A promise is what a provider promises, and its test.
type promise struct {
	name string
	run  func(c *check)
}

func promises() []promise {
	return []promise{
		{"text comes in pieces that add up to the message", text},
		{"calls come whole", calls},
		{"reasoning comes apart from text and goes back as it came", reasoning},
		{"a thought before a text is no text", apart},
		{"results and files are sent as the provider wants them", results},
		{"system prompt, tools and limit are sent as they are", settings},
		{"messages that keep the rules are taken", anyMessages},
		{"what cannot be sent is an error of its own", unsendable},
		{"an opaque item goes before the messages", opaque},
		{"tokens are counted in skein's terms", usage},
		{"request ID, model and stop are known", names},
		{"an answer at its limit has no torn call", limit},
		{"a server that says little does", bare},
		{"errors say what a caller can do", failures},
		{"an error in the stream is an error", midway},
		{"what is no stream is an error", pages},
		{"a request is sent once", once},
		{"the key is in no error", secrecy},
		{"a cut at any byte leaves what there was", cuts},
		{"what is no JSON breaks the answer off", garbage},
		{"nobody there is an error", nobody},
		{"a caller that leaves ends the request", leave},
		{"many may ask at once", many},
		{"options that make no sense are turned down", options},
	}
}

// A check is the test of one promise of one provider.
type check struct {
	*testing.T
	suite  Suite
	client *http.Client
	server *Server
}

// ask starts a server with these replies and returns a provider that uses it.
func (c *check) ask(replies ...Reply) llm.Provider {
	c.Helper()
	return c.askWith("", replies...)
}

func (c *check) askWith(effort llm.Effort, replies ...Reply) llm.Provider {
	c.Helper()
	if c.server == nil {
		c.server = c.suite.Serve(c.T)
	}
	c.server.Reply(replies...)
	return c.open(llm.Options{Key: Key, BaseURL: c.server.URL, Model: c.suite.Model, Effort: effort, Client: c.client})
}

func (c *check) open(o llm.Options) llm.Provider {
	c.Helper()
	p, err := c.suite.Open(o)
	if err != nil {
		c.Fatalf("New(%s) = %v", o.Model, err)
	}
	return p
}

// last returns the last request.
func (c *check) last() Request {
	c.Helper()
	all := c.server.Requests()
	if len(all) == 0 {
		c.Fatal("no request came")
	}
	return all[len(all)-1]
}

// answer asks p and returns the message of an answer that must be complete.
func (c *check) answer(p llm.Provider, r llm.Request) skein.Message {
	c.Helper()
	m, err := Collect(c.T, p.Stream(c.Context(), r))
	if err != nil {
		c.Fatalf("Stream(%v) = %v", p.About(), err)
	}
	return *m
}

// fails asks p and returns the error that it must give.
func (c *check) fails(p llm.Provider) (*skein.Message, *llm.Error) {
	c.Helper()
	m, err := Collect(c.T, p.Stream(c.Context(), hello()))
	if err == nil {
		c.Fatalf("Stream(%v) = nil error, message %+v", p.About(), m)
	}
	e := (*llm.Error)(nil)
	if !errors.As(err, &e) {
		c.Fatalf("Stream(%v) = %v (%T), want an *llm.Error", p.About(), err, err)
	}
	return m, e
}

// hello returns a small request.
func hello() llm.Request {
	return llm.Request{Messages: []skein.Message{skein.UserSays("hello")}}
}
