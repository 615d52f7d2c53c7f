package llm

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// The data of events is yielded unchanged, and only for complete events.
func TestEventsAreReadAsTheyWereSent(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"two", "event: a\ndata: {1}\n\ndata: {2}\n\n", []string{"{1}", "{2}"}},
		{"lines that end with CR LF", "event: a\r\ndata: {1}\r\n\r\ndata: {2}\r\n\r\n", []string{"{1}", "{2}"}},
		{"data of several lines", "data: {\ndata: 1}\n\n", []string{"{\n1}"}},
		{"data without a space, and with two", "data:{1}\n\ndata:  {2}\n\n", []string{"{1}", " {2}"}},
		{"comments, other fields and events without data", ": ping\n\nid: 7\nretry: 10\n\nevent: ping\ndata:\n\ndata: {1}\n\n", []string{"{1}"}},
		{"a long line", "data: " + long + "\n\n", []string{long}},
		{"what is cut off", "data: {1}\n\ndata: {2}\n", []string{"{1}"}},
		{"what is cut off in a line", "data: {1}\n\ndata: {2", []string{"{1}"}},
		{"OpenAI's end", "data: {1}\n\ndata: [DONE]\n\ndata: {2}\n\n", []string{"{1}"}},
	} {
		for _, in := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
			var got []string
			for data, err := range events(in) {
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				got = append(got, string(data))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		}
	}
}

// zeros never ends, and has no line feed.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestAnEventWithoutEndIsNotKept(t *testing.T) {
	for data, err := range events(io.MultiReader(strings.NewReader("data: "), zeros{})) {
		if !errors.Is(err, errLongEvent) {
			t.Errorf("events() yields %d bytes, %v; want %v", len(data), err, errLongEvent)
		}
	}
	lines := io.MultiReader(strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", maxEvent>>20)), strings.NewReader("data: x\n\n"))
	var last error
	for _, err := range events(lines) {
		last = err
	}
	if !errors.Is(last, errLongEvent) {
		t.Errorf("events() of an event of many lines = %v, want %v", last, errLongEvent)
	}
}

func TestDecodeTakesWhatHasAnotherTypeAsLeftOut(t *testing.T) {
	var got struct {
		A int    `json:"a"`
		B string `json:"b"`
	}
	if err := Decode([]byte(`{"a":"1","b":"x"}`), &got); err != nil || got.A != 0 || got.B != "x" {
		t.Errorf("Decode = %+v, %v; want b alone", got, err)
	}
	if err := Decode([]byte(`{"a":1,"b":"x`), &got); err == nil {
		t.Error("Decode of what is cut off = nil, want an error")
	}
}
