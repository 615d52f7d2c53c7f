package llm

import (
	"context"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// minKey is the minimum length of a key, in bytes: shorter ones are dummies for
// local servers that need none, and occur in many words.
const minKey = 8

// An Exchange is one HTTP request and its Answer.
type Exchange struct {
	Answer
	Header string // name of the header with the provider's request ID
	Key    string // must not occur in any error
}

// Named sets the vendor's name of the model that answers. If that is only the
// dated version of the requested model, the message keeps the requested name,
// because the provider's rules depend on it.
func (x *Exchange) Named(model string) {
	asked := strings.TrimSuffix(x.Message.Model, "-latest")
	if model != "" && !strings.HasPrefix(model, asked) {
		x.Message.Model = model
	}
}

// noWay returns err or, if no connection to u was made, an *[Error] that says
// so and names the address.
func noWay(u *url.URL, err error) error {
	if e := (*net.OpError)(nil); !errors.As(err, &e) || e.Op != "dial" && e.Op != "proxyconnect" {
		return err
	}
	if in := (*url.Error)(nil); errors.As(err, &in) {
		err = in.Err // a URL may contain a key
	}
	return &Error{Kind: ErrNoWay, Message: cut(u.Scheme + "://" + u.Host + ": " + plainCause(err)), Err: err}
}

// plainCause returns in words for people why no connection was made, without the names
// of system calls.
func plainCause(err error) string {
	var name *net.DNSError
	var call syscall.Errno
	switch {
	case errors.As(err, &name):
		return name.Err
	case errors.As(err, &call):
		return call.Error()
	}
	return err.Error()
}

// send sends req. If the response is not an event stream, it returns an
// *[Error].
func (x *Exchange) send(c *http.Client, req *http.Request) (*http.Response, error) {
	res, err := c.Do(req)
	if err != nil {
		return nil, noWay(req.URL, err)
	}
	x.Message.Request = res.Header.Get(x.Header)
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode/100 != 2:
		return nil, Refused(res)
	case media == "application/json", media == "text/html":
		e := Refused(res)
		if errors.Is(e, ErrRequest) || errors.Is(e, ErrCut) {
			e.Kind = ErrRequest // the same server would answer the same again
			e.Message = cut("answered with " + media + " in place of a stream of events: " + e.Message)
		}
		return nil, e
	}
	return res, nil
}

// End returns the last Delta of the answer, and its error: err is what ended
// it, or nil. Once the answer has [Answer.Ended], err is ignored.
func (x *Exchange) End(ctx context.Context, err error) (Delta, error) {
	switch {
	case x.Ended:
		return Delta{Message: x.whole()}, nil
	case ctx.Err() != nil:
		return Delta{Message: x.broken()}, ctx.Err()
	}
	e := (*Error)(nil)
	switch {
	case errors.As(err, &e):
	case err != nil:
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err // a URL may contain a key
		}
		e = &Error{Kind: ErrCut, Message: cut(err.Error()), Err: err}
	default:
		e = &Error{Kind: ErrCut, Message: "the stream ended before the answer did"}
	}
	if e.Request == "" {
		e.Request = x.Message.Request
	}
	if len(x.Key) >= minKey && strings.Contains(e.Message, x.Key) {
		e.Message, e.Err = strings.ReplaceAll(e.Message, x.Key, "[key]"), nil
	}
	return Delta{Message: x.broken()}, e
}
