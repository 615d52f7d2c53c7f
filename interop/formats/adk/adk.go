package adk

import (
	"context"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: skein.Origin.Format of what it reads.
const Name = "adk"

// dirName is the folder in which the kit's own commands keep an agent's sessions.
const dirName = ".adk"

// Format returns the format of the databases of Google's Agent Development Kit.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "Google ADK: .adk/session.db of an agent, and other SQLite files of its sessions",
		Places: places,
		Unit:   unit,
		Look:   look,
		Open:   open,
		Below:  below,
		Put:    interop.PutDatabase,

		Document: interop.IsDatabase,
	}
}

// places returns the databases of the agent in the working directory, and of those in
// its folders.
func places(h interop.Home) (all []string) {
	if h.Cwd == "" {
		return nil
	}
	all = append(all, filepath.Join(h.Cwd, dirName, "session.db"))
	more, err := filepath.Glob(filepath.Join(quoted(h.Cwd), "*", dirName, "session.db"))
	if err != nil {
		return all
	}
	return append(all, more...)
}

// quoted returns a pattern that matches only the path p; on systems without escapes,
// a path with special characters is not found unless it is given.
func quoted(p string) string {
	if filepath.Separator == '\\' {
		return p
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(p)
}

// unit accepts any database by its name's extension: programs name theirs as they
// like.
func unit(name string) string {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if file, ok := strings.CutSuffix(name, suffix); ok && slices.Contains([]string{".db", ".sqlite", ".sqlite3"}, path.Ext(file)) {
			return file
		}
	}
	return ""
}

// below keeps the databases of several agents apart.
func below(name string) string {
	if dir := path.Dir(name); path.Base(dir) == dirName {
		return path.Join(path.Base(path.Dir(dir)), dirName, path.Base(name))
	}
	return path.Base(name)
}

func look(ctx context.Context, path string) (interop.Unit, error) {
	return interop.OpenDatabase(ctx, path, interop.Database{Mentions: []string{"invocation_id"}, Ours: ours})
}

// ours returns the tables. Those with the state of apps and users belong to no
// session.
func ours(db *foreign.DB) []foreign.Part {
	sessions, ok1 := db.Table("sessions")
	events, ok2 := db.Table("events")
	if !ok1 || !ok2 || !sessions.Has("app_name", "user_id", "id") ||
		!events.Has("id", "app_name", "user_id", "session_id", "invocation_id", "timestamp") ||
		!events.Has("event_data") && !events.Has("author", "content") {
		return nil
	}
	return []foreign.Part{
		{Table: "sessions", KeyOf: func(r foreign.Row) string { return name(r, "id") }},
		{Table: "events", KeyOf: func(r foreign.Row) string { return name(r, "session_id") }},
		{Table: "app_states"},
		{Table: "user_states"},
		{Table: "adk_internal_metadata"},
		{Table: "sqlite_sequence"},
	}
}

// name returns a session's name here: sessions of several users and apps can have the
// same ID.
func name(r foreign.Row, id string) string {
	return url.PathEscape(r.Text("app_name")) + "/" + url.PathEscape(r.Text("user_id")) + "/" + url.PathEscape(r.Text(id))
}

// parts splits a name that name made; any other name is returned as the ID.
func parts(name string) (app, user, id string) {
	all := strings.Split(name, "/")
	for i := range all {
		plain, err := url.PathUnescape(all[i])
		if err != nil || len(all) != 3 {
			return "", "", name
		}
		all[i] = plain
	}
	if len(all) != 3 {
		return "", "", name
	}
	return all[0], all[1], all[2]
}
