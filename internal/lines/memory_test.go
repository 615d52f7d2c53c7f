package lines_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/skein-dev/skein/internal/lines"
)

func TestLinesAreTheSameHoweverTheTextIsCut(t *testing.T) {
	text := "one\n\ntwo " + strings.Repeat("long ", 1<<10) + "\n \nthree"
	want := []string{"one\n", "\n", "two " + strings.Repeat("long ", 1<<10) + "\n", " \n", "three"}
	for _, parts := range [][]string{
		{text}, {"", text, ""}, strings.SplitAfter(text, "o"), strings.SplitAfter(text, "\n"), strings.SplitAfter(text, "l"),
	} {
		var bs [][]byte
		for _, p := range parts {
			bs = append(bs, []byte(p))
		}
		l := lines.New(bs...)
		var got []string
		for line := l.Next(); line != nil; line = l.Next() {
			got = append(got, string(line))
		}
		if !slices.Equal(got, want) {
			t.Errorf("lines of %d parts are %.60q, want %.60q", len(parts), got, want)
		}
		if err := iotest.TestReader(l.Again(), []byte(text)); err != nil {
			t.Errorf("Again of %d parts: %v", len(parts), err)
		}
		if l.Len() != int64(len(text)) {
			t.Errorf("Len of %d parts = %d, want %d", len(parts), l.Len(), len(text))
		}
		if strings.Join(parts, "") != text || strings.Join(parts, "") != string(slices.Concat(bs...)) {
			t.Errorf("the parts are not what they were")
		}
	}
}

func TestEachCallsWithWhatIsNotBlank(t *testing.T) {
	text := " one \n\n\t\ntwo " + strings.Repeat("long ", 1<<15) + "\n" + strings.Repeat("x", 1<<17) + "\nthree"
	want := []string{"one", "two " + strings.TrimSpace(strings.Repeat("long ", 1<<15)), strings.Repeat("x", 1<<17), "three"}
	for name, r := range map[string]io.Reader{
		"memory": lines.New([]byte(text)), "a reader": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)),
	} {
		var got []string
		if err := lines.Each(r, func(line lines.Rope) error {
			got = append(got, string(line.Bytes()))
			return nil
		}); err != nil || !slices.Equal(got, want) {
			t.Errorf("Each of %s: %.60q, %v, want %.60q", name, got, err, want)
		}
	}
	bad := errors.New("bad")
	if err := lines.Each(iotest.ErrReader(bad), nil); !errors.Is(err, bad) {
		t.Errorf("Each of a reader that fails: %v", err)
	}
	if err := lines.Each(strings.NewReader(text), func(lines.Rope) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("Each with what fails: %v", err)
	}
}
