package llmtest

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// A feed answers every request with the same stream.
type feed []byte

// RoundTrip implements [http.RoundTripper].
func (f feed) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: req,
		Body: io.NopCloser(bytes.NewReader(f)), ContentLength: int64(len(f)),
	}, nil
}

// Feed asks the provider and passes it data as the stream of its answer.
func Feed(t testing.TB, s Suite, data []byte) (*skein.Message, error) {
	t.Helper()
	p, err := s.Open(llm.Options{Key: Key, BaseURL: "http://provider.invalid/v1", Model: s.Model, Client: &http.Client{Transport: feed(data)}})
	if err != nil {
		t.Fatal(err)
	}
	return Collect(t, p.Stream(t.Context(), hello()))
}

// Fuzz gives the provider streams of arbitrary bytes: each must end, with a
// message or an error that keep the rules of [Collect].
func Fuzz(f *testing.F, s Suite) {
	server := s.Serve(f)
	call := skein.Call{ID: "call_1", Name: "read_file", Input: []byte(`{"path":"a"}`)}
	for _, rp := range []Reply{Says("Hello, 世界."), Thinks("Hm.", Calls(call, call)), {Stop: s.Cut}} {
		var stream []byte
		for _, e := range server.wire.events(&Request{Model: s.Model}, &rp, "req_0001") {
			stream = append(stream, e.bytes()...)
		}
		f.Add(stream)
		f.Add(append(stream, server.wire.broken(&refusal{status: 200, message: "Overloaded"}).bytes()...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := Feed(t, s, data); err == nil && m == nil {
			t.Errorf("Stream() of %q has neither message nor error", data)
		}
	})
}
