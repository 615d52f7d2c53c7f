package lines

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// read returns the lines of text, at most most bytes of each, with a mark for each
// error.
func read(t *testing.T, text string, most int) (got []string) {
	t.Helper()
	in := bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(text)), 16)
	for {
		line, err := Append(nil, in, most)
		s := string(line)
		switch {
		case errors.Is(err, ErrLong):
			s += "…"
		case errors.Is(err, io.EOF):
			if s != "" {
				got = append(got, s+"$")
			}
			return got
		case err != nil:
			t.Fatal(err)
		}
		got = append(got, s)
	}
}

func TestAppendGivesALineOrTheBeginningOfALongOne(t *testing.T) {
	long := strings.Repeat("x", 40)
	for _, c := range []struct {
		text string
		most int
		want []string
	}{
		{"", 9, nil},
		{"a\nb\n", 9, []string{"a\n", "b\n"}},
		{"a\n\nb", 9, []string{"a\n", "\n", "b$"}},
		{"abcdefgh\ni", 9, []string{"abcdefgh\n", "i$"}}, // exactly as long as allowed
		{"abcdefghi\nj\n", 9, []string{"abcdefghi…", "\n", "j\n"}},
		{"abcdefghi", 9, []string{"abcdefghi…"}}, // what follows is not known yet
		{long + "\n", 100, []string{long + "\n"}},
		{long + "\n", 20, []string{long[:20] + "…", long[:20] + "…", "\n"}},
	} {
		got := read(t, c.text, c.most)
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("of %q, at most %d bytes: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestAppendKeepsWhatThereIs(t *testing.T) {
	in := bufio.NewReader(strings.NewReader("cdef\n"))
	if got, err := Append([]byte("ab"), in, 5); string(got) != "abcde" || !errors.Is(err, ErrLong) {
		t.Errorf(`Append("ab", "cdef\n", 5) = %q, %v`, got, err)
	}
	if got, err := Append([]byte("ab"), in, 2); string(got) != "ab" || !errors.Is(err, ErrLong) {
		t.Errorf("Append to what is full = %q, %v", got, err)
	}
}

func TestSkipCountsTheRestOfALine(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 40)+"\nyz"), 16)
	if n, err := Skip(in); n != 41 || err != nil {
		t.Errorf("Skip = %d, %v; want 41 bytes", n, err)
	}
	if n, err := Skip(in); n != 2 || !errors.Is(err, io.EOF) {
		t.Errorf("Skip = %d, %v; want 2 bytes and the end", n, err)
	}
}
