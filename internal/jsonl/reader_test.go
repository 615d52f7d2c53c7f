package jsonl

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

var limits = Limits{Bytes: 64, Depth: 4}

func pieces(t testing.TB, r *Reader) (ps []Piece) {
	t.Helper()
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return ps
		}
		if err != nil {
			t.Fatalf("Next() = %v", err)
		}
		ps = append(ps, p)
	}
}

func show(ps []Piece) (out []string) {
	for _, p := range ps {
		s := string(p.Body)
		if p.Damage != "" {
			s += "!" + p.Damage
		}
		if p.Torn {
			s += "!torn"
		}
		if !p.Ended {
			s += "…"
		}
		out = append(out, s)
	}
	return out
}

func TestNext(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"lines are pieces":                     {"{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		"a missing last line feed":             {"{\"a\":1}\n{\"b\":2}", []string{`{"a":1}`, `{"b":2}…`}},
		"a torn last line has no body":         {"{\"a\":1}\n{\"b\":", []string{`{"a":1}`, `!torn: the file ends in it!torn…`}},
		"two objects on a line":                {"{\"a\":1}{\"b\":2} {\"c\":3}\n", []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		"a whole object after a torn one":      {"{\"a\":\"x{\"b\":{\"c\":2}}\n", []string{`!cut off`, `{"b":{"c":2}}`}},
		"a byte order mark, CRLF, blank lines": {"\xef\xbb\xbf{\"a\":1}\r\n\r\n \n[2]\r\n", []string{`{"a":1}`, ``, ``, `[2]`}},
		"NUL runs":                             {"\x00\x00{\"a\":1}\x00\n\x00\n", []string{`{"a":1}!3 NUL bytes`, `!1 NUL bytes`}},
		"no object at all":                     {"hello\n{}\n", []string{`!no JSON object: "hello\n"`, `{}`}},
		"brackets and quotes inside strings":   {`{"a":"}\"]\\"}` + "\n", []string{`{"a":"}\"]\\"}`}},
		"too deep":                             {"[[[[1]]]]\n[[[[[1]]]]]\n", []string{`[[[[1]]]]`, `!nested 5 deep`}},
		"invalid UTF-8 is read":                {"{\"a\":\"\xff\"}\n", []string{"{\"a\":\"\ufffd\"}!invalid UTF-8"}},
		"a line longer than the limit":         {strings.Repeat("x", 130) + "\n{}\n", []string{"!line longer than 64 bytes", "!line longer than 64 bytes", "!line longer than 64 bytes", `{}`}},
		"a line as long as the limit":          {`{"a":"` + strings.Repeat("x", 56) + "\"}\n{}\n", []string{`{"a":"` + strings.Repeat("x", 56) + "\"}", `{}`}},
		"the end of an object, torn from it":   {"\"b\":2}\n{}\n", []string{`!no JSON object: "\"b\":2}\n"`, `{}`}},
		"an object and then rubbish":           {"{\"a\":1}}\n{}\n", []string{`{"a":1}`, `!no JSON object: "}\n"`, `{}`}},
		"an object and then the start of one":  {`{"a":1}{"b"`, []string{`{"a":1}`, `!torn: the file ends in it!torn…`}},
		"an empty stream":                      {"", nil},
		"a string that does not end":           {"{\"a\":\"b\\\"\n{}\n", []string{`!cut off`, `{}`}},
		"a line feed alone":                    {"\n", []string{``}},
		"a blank line that the stream ends in": {"{}\n  ", []string{`{}`, `…`}},
	} {
		t.Run(name, func(t *testing.T) {
			whole := NewReader(strings.NewReader(c.in), limits)
			got := pieces(t, whole)
			if diff := cmp.Diff(c.want, show(got)); diff != "" {
				t.Errorf("pieces of %.80q (-want +got):\n%s", c.in, diff)
			}
			bytewise := pieces(t, NewReader(iotest.OneByteReader(strings.NewReader(c.in)), limits))
			if diff := cmp.Diff(got, bytewise); diff != "" {
				t.Errorf("read byte by byte, pieces of %.80q differ (-whole +bytewise):\n%s", c.in, diff)
			}
			check(t, []byte(c.in), got)
		})
	}
}

// check tests what is true of the pieces of any stream.
func check(t *testing.T, in []byte, ps []Piece) {
	t.Helper()
	var raw []byte
	for i, p := range ps {
		if p.Offset != int64(len(raw)) {
			t.Errorf("pieces of %.80q: piece %d has offset %d, want %d", in, i, p.Offset, len(raw))
		}
		if want := 1 + bytes.Count(raw, []byte("\n")); p.Line != want {
			t.Errorf("pieces of %.80q: piece %d is on line %d, want %d", in, i, p.Line, want)
		}
		if !p.Ended && i < len(ps)-1 {
			t.Errorf("pieces of %.80q: piece %d of %d has not ended", in, i, len(ps))
		}
		if len(p.Raw) == 0 {
			t.Fatalf("pieces of %.80q: piece %d is empty", in, i)
		}
		raw = append(raw, p.Raw...)
	}
	if !bytes.Equal(raw, in) {
		t.Errorf("Raw of all pieces = %.80q, want %.80q", raw, in)
	}
}

func TestRejectFindsTheObjectAfterATornOne(t *testing.T) {
	in := "{\"a\":\"te{\"b\":\"x\"}\n{\"c\":1}\n"
	r := NewReader(strings.NewReader(in), limits)
	p, _ := r.Next()
	p = r.Reject(p, "invalid")
	got := append([]Piece{p}, pieces(t, r)...)
	want := []string{"!invalid", `{"b":"x"}`, `{"c":1}`}
	if diff := cmp.Diff(want, show(got)); diff != "" {
		t.Errorf("pieces of %q after Reject (-want +got):\n%s", in, diff)
	}
	check(t, []byte(in), got)
}

func TestResumeGoesOnWhereAnotherLeftOff(t *testing.T) {
	in := "{\"a\":1}{\"b\":2}\n\n" + strings.Repeat("x", 150) + "\n{}\n{\"t"
	all := pieces(t, NewReader(strings.NewReader(in), limits))
	for n := range all {
		r := NewReader(strings.NewReader(in), limits)
		for range n {
			r.Next()
		}
		at := r.Place()
		rest := pieces(t, Resume(strings.NewReader(in[at.Offset:]), limits, at))
		if diff := cmp.Diff(all[n:], rest); diff != "" {
			t.Errorf("Resume(%+v) (-want +got):\n%s", at, diff)
		}
	}
}

// A growing stream keeps all pieces but the last one if that has not ended, unless a
// line of several objects grows beyond the limit.
func FuzzGrow(f *testing.F) {
	f.Add([]byte("{\"a\":1}{\"b\":2}\n\n{\"c\":\"{\"d\":1}\nxyz{}\n"), 9)
	f.Add([]byte("\xef\xbb\xbf{}\r\n\x00\x00{\"a\":[1,{}]}\n[[[[[]]]]]"), 20)
	f.Add([]byte("[]\ufeff"), 4)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		all := pieces(t, NewReader(bytes.NewReader(in), limits))
		check(t, in, all)
		long := slices.ContainsFunc(bytes.Split(in, []byte("\n")), func(l []byte) bool { return len(l) > limits.Bytes })
		if cut < 0 || cut > len(in) || long {
			return
		}
		part := pieces(t, NewReader(bytes.NewReader(in[:cut]), limits))
		for i, p := range part {
			if p.Ended && (i >= len(all) || !bytes.Equal(p.Raw, all[i].Raw)) {
				t.Errorf("%q cut at %d: piece %d is %q and ended, but it is another in the whole", in, cut, i, p.Raw)
			}
		}
	})
}

// A line of many chunks is in memory once, and twice while it is joined.
func TestALongLineIsCopiedOnce(t *testing.T) {
	const size = 8 * maxChunk
	line := `{"a":"` + strings.Repeat("x", size+maxChunk/3) + "\"}\n"
	in := "{}\n" + line + "{}\n" + line
	for name, r := range map[string]io.Reader{"a file": strings.NewReader(in), "a slow stream": iotest.HalfReader(strings.NewReader(in))} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := pieces(t, NewReader(r, Limits{Bytes: 2 * size, Depth: 4}))
		runtime.ReadMemStats(&after)
		check(t, []byte(in), got)
		if len(got) != 4 {
			t.Errorf("%s: %d pieces, want 4", name, len(got))
		}
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(2*len(in)+8*maxChunk); took > most {
			t.Errorf("%s: reading %d bytes takes %d, want at most %d", name, len(in), took, most)
		}
	}
}
