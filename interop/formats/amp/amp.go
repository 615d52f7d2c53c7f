package amp

import (
	"bytes"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "amp"

// Format returns the format of Amp's threads.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "Amp's threads on this machine (~/.local/share/amp/threads)",
		Places: func(h interop.Home) []string { return placesOn(runtime.GOOS, h) },
		Unit:   unitOf,
		Look:   look,
		Open:   open,
		Below:  below,
		Put:    interop.PutDocument,

		Document: document,
		Resume:   resume,
	}
}

func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	return []string{"amp", "threads", "continue", w.ID}, s.Cwd
}

// placesOn returns the usual places on an operating system.
func placesOn(system string, h interop.Home) (dirs []string) {
	data := h.Env("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(h.Dir, ".local", "share")
	}
	data = filepath.Join(data, "amp")
	if dir := h.Env("AMP_DATA_DIR"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			data = abs
		}
	}
	dirs = append(dirs, filepath.Join(data, "threads"))
	config := filepath.Join(h.Dir, ".config")
	switch system {
	case "darwin":
		config = filepath.Join(h.Dir, "Library", "Application Support")
	case "windows":
		if config = h.Env("APPDATA"); config == "" {
			config = filepath.Join(h.Dir, "AppData", "Roaming")
		}
		dirs = append(dirs, filepath.Join(config, "amp", "threads"))
	}
	for _, editor := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
		old := filepath.Join(config, editor, "User", "globalStorage", "sourcegraph.amp", "threads3")
		if _, err := os.Lstat(old); err == nil { // nothing writes there any more
			dirs = append(dirs, old)
		}
	}
	return dirs
}

// document recognizes a thread elsewhere, under any name.
func document(_ string, head []byte) interop.Guess {
	start := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n")
	if bytes.HasPrefix(start, []byte("{")) && bytes.Contains(head, []byte(`"messages"`)) && (bytes.Contains(head, []byte(`"id":"T-`)) || bytes.Contains(head, []byte(`"id": "T-`))) {
		return interop.KnownBy("it has messages, and an ID that begins with T-")
	}
	return interop.Guess{}
}

// unitOf recognizes a thread by its name, T-….json in threads or threads3.
func unitOf(name string) string {
	dir, base := path.Split(name)
	dir = path.Base(dir)
	if (dir == "threads" || dir == "threads3") && strings.HasPrefix(base, "T-") && strings.HasSuffix(base, ".json") {
		return name
	}
	return ""
}

func below(name string) string { return path.Join(path.Base(path.Dir(name)), path.Base(name)) }

// A thread is a document with a line before its pieces.
type thread struct {
	interop.Unit
	about []byte
}

// look opens a thread.
func look(ctx context.Context, at string) (interop.Unit, error) {
	var about []byte
	doc, err := interop.OpenDocument(ctx, at, func(data []byte) ([][]byte, bool) {
		about = aboutOf(data)
		return loose.Cut(data, "messages")
	})
	if err != nil {
		return nil, err
	}
	return thread{doc, about}, nil
}

// aboutOf returns the line that says what a thread is.
func aboutOf(data []byte) []byte {
	all, _ := loose.Parse(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) // if it is cut off, what there is
	var about loose.Object
	for _, name := range []string{"id", "created", "env", "relationships", "mainThreadID"} {
		if v := loose.Raw(all.Get(name)); v != nil {
			about = append(about, loose.Member{Name: name, Value: []byte(v)})
		}
	}
	line := append([]byte(`{"about":`), about.Without()...)
	line = bytes.ReplaceAll(bytes.ReplaceAll(line, []byte("\n"), nil), []byte("\r"), nil) // between values; in strings they are escaped
	return append(line, "}\n"...)
}

// Open implements [interop.Unit]; the error says that there is no such source.
func (t thread) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := t.Unit.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(t.about), r), r}, nil
}
