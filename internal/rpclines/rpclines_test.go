package rpclines_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein/internal/rpclines"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// What is not a message is reported, and every message after it is read.
func TestWhatIsNoMessageIsSetAside(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, c := range []struct {
		name, in string
		messages int
		odd      []string
	}{
		{"nothing", "", 0, nil},
		{"one without a line feed", ping, 1, nil},
		{"blank lines and spaces", "\n \r\n\t" + ping + " \r\n\n", 1, nil},
		{"a line that is not JSON", "starting up\n" + ping + "\n", 1, []string{"starting up"}},
		{"JSON that is no message", "[]\n7\n{}\n" + ping + "\n", 1, []string{"[]", "7", "{}"}},
		{"a batch", "[" + ping + ",8," + ping + "]\n" + ping + "\n", 3, []string{"8"}},
		{"a line that is too long", long + "\n" + ping + "\n", 1, []string{"too long"}},
		{"a long line of spaces", strings.Repeat(" ", 70_000) + ping + "\n", 1, nil},
		{"a long last line", ping + "\n" + long, 1, []string{"too long"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
				var odd []string
				r := rpclines.New(io.NopCloser(in), 60_000, func(text []byte, why error) error {
					if errors.Is(why, rpclines.ErrLong) {
						text = []byte("too long")
					}
					odd = append(odd, string(text))
					return nil
				})
				got, err := io.ReadAll(r)
				if want := strings.Repeat(ping+"\n", c.messages); err != nil || string(got) != want {
					t.Errorf("read %.200q, %v; want %q", got, err, want)
				}
				if diff := cmp.Diff(c.odd, odd); diff != "" {
					t.Errorf("set aside (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAnErrorOfTheCallerEndsTheReading(t *testing.T) {
	stop := errors.New("stop")
	for _, line := range []string{"no JSON", "{}", "[8]", strings.Repeat("x", 5000)} {
		r := rpclines.New(io.NopCloser(strings.NewReader(line+"\n"+ping+"\n")), 4096, func([]byte, error) error { return stop })
		if got, err := io.ReadAll(r); !errors.Is(err, stop) || len(got) > 0 {
			t.Errorf("after %.10q: read %q, %v; want nothing and %v", line, got, err, stop)
		}
	}
}
