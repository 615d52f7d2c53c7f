package opencode

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "opencode"

// The names of the program's database, and of the folder that it had before.
const (
	fileName   = "opencode.db"
	folderName = "storage"
)

// Format returns the format of opencode's sessions.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "opencode: ~/.local/share/opencode/opencode.db, and storage/ of old",
		Places: places,
		Unit:   unit,
		Look:   look,
		PlacedFiles: []interop.PlacedFile{
			{Name: "the run --format json output", Is: guessRun},
			{Name: "storage/part/…/ID.json", Is: interop.StartsWith("{", "it has a sessionID and a messageID", `"sessionID"`, `"messageID"`)},
			{Name: "storage/message/…/ID.json", Is: interop.StartsWith("{", "it has a sessionID, a role and a time", `"sessionID"`, `"role"`, `"time"`)},
			{Name: "storage/session/…/ID.json", Is: interop.StartsWith("{", "it has a projectID and a directory", `"projectID"`, `"directory"`)},
			{Name: "storage/project/ID.json", Is: interop.StartsWith("{", "it has a worktree and a time", `"worktree"`, `"time"`)},
		},
		Open:     open,
		Replaces: replaces,
		Below:    below,
		Write:    write,
		Put:      put,

		Document: interop.IsDatabase,
		Resume:   resume,
	}
}

// guessRun knows what opencode run --format json prints, whose lines each hold a part. It
// is as sure as of a file that is one part, which has the same fields.
func guessRun(head []byte) interop.Guess {
	g := interop.Printed(Name, "its lines have a sessionID and a part", func(o loose.Object) bool {
		return strings.HasPrefix(o.Str("sessionID"), "ses_") && o.Has("type", "timestamp", "part")
	})(head)
	if g.Sure == interop.Alike {
		g.Sure = interop.Known
	}
	return g
}

// places returns the database, the existing ones of other channels, and the folders
// of early versions. They are in the same folder on every system.
func places(h interop.Home) []string {
	data := h.Env("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(h.Dir, ".local", "share")
	}
	data = filepath.Join(data, Name)
	db := filepath.Join(data, fileName)
	if named := h.Env("OPENCODE_DB"); filepath.IsAbs(named) {
		db = named
	} else if named != "" && named != ":memory:" {
		db = filepath.Join(data, named)
	}
	out := []string{db}
	channels, _ := filepath.Glob(filepath.Join(escape(data), Name+"-*.db")) // the pattern is not a user's
	for _, c := range channels {
		if c != db {
			out = append(out, c)
		}
	}
	return append(out, filepath.Join(data, folderName), filepath.Join(data, "project"))
}

// unit returns the database that a file belongs to, or the early versions' folder
// that it is in.
func unit(name string) string {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		file, ok := strings.CutSuffix(name, suffix)
		base := path.Base(file)
		if ok && (base == fileName || strings.HasPrefix(base, Name+"-") && strings.HasSuffix(base, ".db")) {
			return file
		}
	}
	for dir := path.Dir(name); dir != "." && dir != "/" && dir != path.Dir(dir); dir = path.Dir(dir) {
		if path.Base(dir) == folderName && isPlace(strings.TrimPrefix(name, dir+"/")) {
			return dir
		}
	}
	return ""
}

// below returns a unit's path below the program's data folder.
func below(name string) string {
	if path.Base(name) != folderName {
		return path.Base(name)
	}
	if old := path.Dir(path.Dir(name)); path.Base(old) == "project" { // of one project
		return strings.TrimPrefix(name, path.Dir(old)+"/")
	}
	return folderName
}

// replaces reports whether a database is beside the folder from which the program
// once made it.
func replaces(name, old string) bool {
	if at := strings.LastIndex(name, ".db#"); at >= 0 {
		name = name[:at+len(".db")]
	}
	if at := strings.LastIndex(old, folderName+"#"); at >= 0 {
		old = old[:at+len(folderName)]
	}
	return path.Base(old) == folderName && unit(name) == name && path.Dir(name) == dataOf(old)
}

// dataOf returns the data folder that has a folder of sessions.
func dataOf(folder string) string {
	return strings.TrimSuffix(strings.TrimSuffix(folder, below(folder)), "/")
}

func look(ctx context.Context, at string) (interop.Unit, error) {
	if path.Base(filepath.ToSlash(at)) == folderName {
		return openTree(ctx, at)
	}
	return interop.OpenDatabase(ctx, at, interop.Database{Mentions: []string{"time_created"}, Ours: ours})
}

// resume returns the command that resumes a session in its folder.
func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	return []string{"opencode", "--session", w.ID}, s.Cwd
}

// put writes to a database, or a session that came from there to the early versions'
// folder.
func put(ctx context.Context, at string, parts []interop.Part) error {
	if path.Base(filepath.ToSlash(at)) == folderName {
		return interop.PutFolder(ctx, at, parts)
	}
	return interop.PutDatabase(ctx, at, parts)
}
