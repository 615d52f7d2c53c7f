package interoptest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/store/memory"
)

// textEvils returns what is done to files that are not databases, and to the
// JSON in the columns of databases.
func textEvils() (all []evil) {
	for name, change := range members() {
		all = append(all, evil{name, func(t *testing.T, data []byte) ([]byte, bool) {
			if isSQLite(data) {
				return eachText(t, data, func(text []byte) []byte { return eachMember(text, change()) })
			}
			return differs(data, eachMember(data, change()))
		}})
	}
	for name, change := range wholes() {
		all = append(all, evil{name, func(_ *testing.T, data []byte) ([]byte, bool) {
			if isSQLite(data) && !slices.Contains([]string{"cut in half", "empty", "bytes flipped"}, name) {
				return nil, false
			}
			return differs(data, change(bytes.Clone(data)))
		}})
	}
	slices.SortFunc(all, func(a, b evil) int { return strings.Compare(a.name, b.name) })
	return all
}

func isSQLite(data []byte) bool { return bytes.HasPrefix(data, []byte("SQLite format 3\x00")) }

func differs(was, is []byte) ([]byte, bool) { return is, !bytes.Equal(was, is) }

// eachMember passes to change each member of the objects in JSON text whose value
// is neither an object nor a list, and replaces it with what change returns.
func eachMember(data []byte, change func(key, value string) string) []byte {
	member := regexp.MustCompile(`("(?:[^"\\\n]|\\.)*")(\s*:\s*)("(?:[^"\\\n]|\\.)*"|-?[0-9][-+.0-9eE]*|true|false|null)`)
	return member.ReplaceAllFunc(data, func(m []byte) []byte {
		p := member.FindSubmatch(m)
		return []byte(change(string(p[1]), string(p[3])))
	})
}

// members returns what is done to members of objects, a new function for each
// file.
func members() map[string]func() func(key, value string) string {
	isNumber := func(v string) bool { return strings.ContainsAny(v[:1], "-0123456789") }
	isString := func(v string) bool { return v[0] == '"' }
	keep := func(k, v string) string { return k + ":" + v }
	all := func(string, string) bool { return true }
	of := func(which func(k, v string) bool, values ...string) func() func(k, v string) string {
		return func() func(k, v string) string {
			n := 0
			return func(k, v string) string {
				if !which(k, v) {
					return keep(k, v)
				}
				n++
				return keep(k, values[n%len(values)])
			}
		}
	}
	numbers := func(_, v string) bool { return isNumber(v) }
	texts := func(_, v string) bool { return isString(v) }
	times := func(k, _ string) bool { return regexp.MustCompile(`(?i)time|date|stamp|created|at"$`).MatchString(k) }
	ids := func(k, v string) bool {
		return isString(v) && regexp.MustCompile(`(?i)id"$|uuid|session|key"$|parent|slug|name"$`).MatchString(k)
	}
	last := func(value string) func() func(k, v string) string { // a member with value follows text
		return func() func(k, v string) string {
			return func(k, v string) string {
				if k != `"text"` && k != `"content"` {
					return keep(k, v)
				}
				return keep(k, v) + `,"more":` + value
			}
		}
	}
	evilID := func(prefix string) func() func(k, v string) string {
		return func() func(k, v string) string {
			return func(k, v string) string {
				if !ids(k, v) {
					return keep(k, v)
				}
				return keep(k, `"`+prefix+v[1:])
			}
		}
	}
	return map[string]func() func(k, v string) string{
		"numbers beyond bounds":      of(numbers, "1e400", "-1e400", "9223372036854775808", "-0", "18446744073709551616", "-9223372036854775809", "1e-400", "0.1", strings.Repeat("9", 400)),
		"NaN and Infinity":           of(numbers, "NaN", "Infinity", "-Infinity"),
		"times out of time":          of(times, `"0000-01-01T00:00:00Z"`, "0", "-1", "9223372036854775807", "9214646400000000", `"yesterday"`, "null", `"+292000000-01-01T00:00:00Z"`, "true", `""`, "1e18", `"1e400"`),
		"times at the end":           of(times, "9214646400000000"),
		"times at year 0":            of(times, `"0000-01-01T00:00:00Z"`),
		"times in words":             of(times, `"soon"`),
		"no times":                   of(times, "null"),
		"IDs that climb":             evilID("../../../../"),
		"IDs from the root":          evilID("/etc/"),
		"IDs with a NUL":             evilID(`a\u0000`),
		"IDs with a line feed":       evilID(`a\n{}\n`),
		"IDs that are half a letter": evilID(`\ud800`),
		"IDs with signs":             evilID(`#%2e%2e%2f?*:|<>C:\\\\`),
		"long IDs":                   evilID(strings.Repeat("x", 10_000)),
		"IDs that are dots":          of(ids, `".."`, `"."`),
		"no IDs":                     of(ids, `""`),
		"one ID for all":             of(ids, `"same"`),
		"null for all":               of(all, "null"),
		"null for strings":           of(texts, "null"),
		"numbers for strings":        of(texts, "7"),
		"lists for strings":          of(texts, `["x",{"type":"text","text":"y"}]`),
		"objects for strings":        of(texts, `{"type":"text","text":{"x":1}}`),
		"strings for numbers":        of(numbers, `"12"`),
		"lists for all":              of(all, `[]`),
		"deep":                       last(strings.Repeat("[", 3000) + strings.Repeat("]", 3000)),
		"too deep":                   last(strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)),
		"many elements":              last("[" + strings.Repeat("1,", 20_000) + "1]"),
		"keys in upper case": func() func(k, v string) string {
			return func(k, v string) string { return keep(strings.ToUpper(k), v) }
		},
		"keys twice": func() func(k, v string) string {
			return func(k, v string) string { return keep(k, "null") + "," + keep(k, v) }
		},
		"keys twice, the second null": func() func(k, v string) string {
			return func(k, v string) string { return keep(k, v) + "," + keep(k, "null") }
		},
		"keys in two cases": func() func(k, v string) string {
			return func(k, v string) string {
				return keep(k, v) + "," + keep(strings.ToUpper(k), `{"x":"`+fmt.Sprint(len(v))+`"}`)
			}
		},
	}
}

// wholes returns what is done to whole files.
func wholes() map[string]func(data []byte) []byte {
	return map[string]func([]byte) []byte{
		"empty":       func([]byte) []byte { return nil },
		"cut in half": func(b []byte) []byte { return b[:len(b)/2] },
		"bytes flipped": func(b []byte) []byte {
			for i := 60; i < len(b); i += 97 {
				b[i] ^= 0x20
			}
			return b
		},
		"NULs in the middle": func(b []byte) []byte {
			return slices.Concat(b[:len(b)/2], make([]byte, 5000), b[len(b)/2:])
		},
		"Latin-1": func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("a"), []byte{0xe9}) },
		"UTF-16": func(b []byte) []byte {
			out := []byte{0xff, 0xfe}
			for _, u := range utf16.Encode([]rune(string(b))) {
				out = binary.LittleEndian.AppendUint16(out, u)
			}
			return out
		},
		"a mark at the beginning": func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) },
		"lines as on Windows":     func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) },
		"twice over":              func(b []byte) []byte { return append(b, b...) },
		"lines from last to first": func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			slices.Reverse(lines)
			return bytes.Join(lines, nil)
		},
		"each line thrice": func(b []byte) []byte {
			var out []byte
			for line := range bytes.Lines(b) {
				out = append(out, bytes.Repeat(line, 3)...)
			}
			return out
		},
		"all in one line": func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte(" ")) },
		"much behind it":  func(b []byte) []byte { return append(b, bytes.Repeat([]byte("{}\n"), 20_000)...) },
	}
}

// tooLong checks, for a format of documents: one that is longer than the limit is
// reported with its length, the limit and what to do, by an import and by [discover.Find],
// packed or not; nothing of it is imported.
func (s Suite) tooLong(t *testing.T) {
	name, data := s.document(t)
	if name == "" {
		return
	}
	data = append(data, filling(interop.MaxDocument)...)
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{name: data, name + ".zst": packer.EncodeAll(data, nil)} {
		root := filepath.Join(t.TempDir(), "x")
		at := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, at, data)
		store := memory.New()
		defer store.Close()
		rep := s.bring(t, store, root)
		_, found, err := discover.Find(context.Background(), store, []interop.Format{s.Format}, []string{root})
		if err != nil {
			t.Fatal(err)
		}
		for what, rep := range map[string]interop.Report{"Import": rep, "Find": found} {
			if rep.Skipped != 1 || rep.Unmatched != 0 || rep.Sessions != 0 || len(rep.Skips) != 1 {
				t.Errorf("%s of %s with %d bytes = %+v, want it skipped", what, file, len(data), rep)
				continue
			}
			skip := rep.Skips[0]
			if filepath.Base(skip.Path) != filepath.Base(at) {
				t.Errorf("%s names %s, want %s", what, skip.Path, at)
			}
			for _, word := range []string{"50.3 MB", "split it"} {
				if !strings.Contains(skip.Why, word) {
					t.Errorf("%s of %s says %q, want %q in it", what, file, skip.Why, word)
				}
			}
		}
	}
}

// document returns a document of the first case that has one, and "" if the
// format has none.
func (s Suite) document(t *testing.T) (name string, data []byte) {
	t.Helper()
	if s.Format.Look == nil || len(s.Tables) > 0 {
		return "", nil
	}
	for _, c := range s.cases(t) {
		root := lay(t, filepath.Join(s.Dir, c))
		for _, f := range files(t, root) {
			data := read(t, f)
			if filepath.FromSlash(s.Format.Unit(filepath.ToSlash(f))) != f || isSQLite(data) {
				continue
			}
			rel, err := filepath.Rel(filepath.Dir(root), f)
			if err != nil {
				t.Fatal(err)
			}
			return rel, data
		}
	}
	return "", nil
}

// filling returns n bytes that can be packed well, but not so well that they are no
// longer taken for a session.
func filling(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{})
	for at := 0; at < n; at += 64 << 10 {
		_, _ = r.Read(b[at:min(n, at+1<<10)]) // it never fails
	}
	return b
}
