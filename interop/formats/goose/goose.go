package goose

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: skein.Origin.Format of what it reads.
const Name = "goose"

// fileName is the name of the program's database.
const fileName = "sessions.db"

// Format returns the format of goose's database and of the files before it.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "goose: ~/.local/share/goose/sessions, sessions.db and the .jsonl before it",
		Places: func(h interop.Home) []string { return placesOn(runtime.GOOS, h) },
		Match:  match,
		Order:  order,
		Unit:   unit,
		Look:   look,
		Open:   open,
		Below:  path.Base,
		Put:    interop.PutDatabase,

		Document: interop.IsDatabase,
	}
}

// placesOn returns the usual places on an operating system.
func placesOn(system string, h interop.Home) []string {
	if root := h.Env("GOOSE_PATH_ROOT"); root != "" {
		return []string{filepath.Join(root, "data", "sessions")}
	}
	if system == "windows" {
		data := h.Env("APPDATA")
		if data == "" {
			data = filepath.Join(h.Dir, "AppData", "Roaming")
		}
		return []string{filepath.Join(data, "Block", "goose", "data", "sessions")}
	}
	data := h.Env("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(h.Dir, ".local", "share")
	}
	return []string{filepath.Join(data, "goose", "sessions")}
}

// order puts the database before the files from which it may have been made.
func order(name string) string {
	if strings.HasSuffix(name, ".jsonl") {
		return "1"
	}
	return "0"
}

// unit recognizes a database by its name: the program's own, or goose….db for a copy.
func unit(name string) string {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		file, ok := strings.CutSuffix(name, suffix)
		if base := path.Base(file); ok && (base == fileName || strings.HasPrefix(base, Name) && strings.HasSuffix(base, ".db")) {
			return file
		}
	}
	return ""
}

// match recognizes a file from before the database by its first line: the session's
// metadata or, in the oldest files, a message.
func match(_ string, head []byte) interop.Guess {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte("\n"))
	o, _ := loose.Parse(line) // if the line is longer than head, its beginning
	switch {
	case isAbout(o):
		return interop.KnownBy("it begins with a description and a message_count")
	case isMessage(o):
		return interop.KnownBy("it begins with a message that has a role, and the time of its creation in seconds")
	}
	return interop.Guess{}
}

// isAbout reports whether o is the first line of a file.
func isAbout(o loose.Object) bool {
	return o.Has("description", "message_count") && !o.Has("type")
}

// isMessage reports whether o is a message.
func isMessage(o loose.Object) bool {
	if role := o.Str("role"); role != "user" && role != "assistant" || o.Has("type") || o.Has("uuid") {
		return false
	}
	return o.Get("created").Kind() == '0'
}

// look opens a database as a unit whose sources also say whether the program has
// counted their requests individually.
func look(ctx context.Context, path string) (interop.Unit, error) {
	c := &counted{of: map[string]bool{}}
	u, err := interop.OpenDatabase(ctx, path, interop.Database{Mentions: []string{"working_dir"}, Ours: func(db *foreign.DB) []foreign.Part { return c.ours(ctx, db) }})
	if err != nil {
		return nil, err
	}
	c.Unit = u
	return c, nil
}
