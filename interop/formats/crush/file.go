package crush

import (
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// files holds the last versions of a session's files, up to maxFiles bytes.
type files struct {
	was  map[string]string
	size int
}

const maxFiles = 16 << 20

// A version is what is noted of a version of a file. Its whole content is in the
// record.
type version struct {
	Path    string     `json:"path"`
	Version int64      `json:"version"`
	Size    int        `json:"size"`              // bytes
	Line    int        `json:"line,omitempty"`    // first that differs from the version before, from 1
	Removed skein.Text `json:"removed,omitempty"` // lines from there
	Added   skein.Text `json:"added,omitempty"`   // lines in their place
}

// maxHunk is how much of a difference is noted, in bytes.
const maxHunk = 64 << 10

// file reads a version of a file.
func (r *reader) file(m *interop.Made, row foreign.Row) {
	at := stamp(m, row)
	content := text(row, "content")
	v := version{Path: row.Text("path"), Version: row.Int("version"), Size: len(content)}
	if was, ok := r.files.was[v.Path]; ok {
		var removed, added string
		v.Line, removed, added = differ(was, content)
		if len(removed)+len(added) <= maxHunk {
			v.Removed, v.Added = skein.Text(removed), skein.Text(added)
		}
	}
	r.files.keep(v.Path, content)
	m.Key = skein.ClientID("crush:f:" + row.Text("id"))
	if row.Text("id") == "" {
		m.Key = skein.ClientID(fmt.Sprintf("crush:f:%s:%d", v.Path, v.Version))
	}
	r.put(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "crush:file", Data: skein.MustJSON(v)}))
}

func (f *files) keep(path, content string) {
	f.size -= len(f.was[path])
	delete(f.was, path)
	if f.size+len(content) <= maxFiles {
		f.was[path] = content
		f.size += len(content)
	}
}

// differ returns the lines from the first to the last difference.
func differ(was, is string) (line int, removed, added string) {
	line = 1
	for {
		a, restA, okA := strings.Cut(was, "\n")
		b, restB, okB := strings.Cut(is, "\n")
		if a != b || !okA || !okB {
			break
		}
		was, is = restA, restB
		line++
	}
	for {
		a, b := strings.LastIndexByte(was, '\n'), strings.LastIndexByte(is, '\n')
		if a < 0 || b < 0 || was[a:] != is[b:] {
			break
		}
		was, is = was[:a], is[:b]
	}
	if was == is {
		return 0, "", ""
	}
	return line, was, is
}
