package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/skein-dev/skein/internal/lines"
)

// maxEvent is the longest event of a stream, in bytes: even an answer that
// comes as one event at the end, with its reasoning, is far shorter.
const maxEvent = 64 << 20

// A Post is a request whose response is a stream of server-sent events.
type Post struct {
	Base   string   // URL of the API
	Path   []string // of the endpoint, below the base
	Header http.Header
	Body   any // sent as JSON
}

// Stream sends p according to the options, passes the data of each event of the
// response to take, yields the non-empty deltas that it returns, and finally
// those of [Exchange.End]. An error of take ends the answer.
func (x *Exchange) Stream(ctx context.Context, o *Options, p Post, take func(data []byte) ([]Delta, error), yield func(Delta, error) bool) {
	for data, err := range x.post(ctx, o, p) {
		var deltas []Delta
		if err == nil {
			deltas, err = take(data)
		}
		for _, d := range deltas {
			if d != (Delta{}) && !yield(d, nil) {
				return
			}
		}
		if err != nil {
			yield(x.End(ctx, err))
			return
		}
	}
	yield(x.End(ctx, nil))
}

// post yields the data of the events of the response to p, and at the end the
// error, if any.
func (x *Exchange) post(ctx context.Context, o *Options, p Post) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		req, err := p.request(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		res, err := x.send(o.HTTP(), req)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = res.Body.Close() }() // the rest of the response is not needed
		for data, err := range events(res.Body) {
			if !yield(data, err) {
				return
			}
		}
	}
}

// request returns p as an http.Request.
func (p *Post) request(ctx context.Context) (*http.Request, error) {
	u, err := url.Parse(p.Base)
	if err != nil {
		return nil, fmt.Errorf("%w: base URL %q", ErrRequest, p.Base)
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(p.Body); err != nil {
		return nil, &Error{Kind: ErrRequest, Message: cut("it cannot be written as JSON: " + err.Error()), Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.JoinPath(p.Path...).String(), bytes.NewReader(bytes.TrimSuffix(body.Bytes(), []byte("\n"))))
	if err != nil {
		return nil, err
	}
	for name, values := range p.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", "skein")
	return req, nil
}

// events yields the data of the complete events in r, up to OpenAI's end mark.
func events(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReader(r)
		var data []byte
		for {
			line, err := lineOf(in, maxEvent-len(data))
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(nil, err)
				}
				return
			}
			if len(line) == 0 {
				if string(data) == "[DONE]" || len(data) > 0 && !yield(data, nil) {
					return
				}
				data = nil
				continue
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			if string(name) == "data" {
				if len(data) > 0 {
					data = append(data, '\n')
				}
				data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
			}
		}
	}
}

var errLongEvent = fmt.Errorf("an event of the stream has more than %d bytes", maxEvent)

// lineOf returns the next line, without its end. A line must end in a line
// feed.
func lineOf(in *bufio.Reader, most int) ([]byte, error) {
	line, err := lines.Append(nil, in, most)
	switch {
	case errors.Is(err, lines.ErrLong):
		return nil, errLongEvent
	case err != nil:
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// Decode decodes the data of an event into to. A value of the wrong type, which
// some servers send, counts as left out. The error is that of [json.Unmarshal]:
// data is not JSON.
func Decode(data []byte, to any) error {
	err := json.Unmarshal(data, to)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
		return nil
	}
	return err
}
