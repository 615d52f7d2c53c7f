package agentuse

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "agentuse"

// Format returns the format of AgentUse's session folders.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "AgentUse's session folders (~/.local/share/agentuse)",
		Places: places,
		Match:  func(string, []byte) bool { return false },
		Unit:   unit,
		Look:   look,
		Open:   open,
		Below:  below,
		Write:  write,
		Put:    interop.PutFolder,
		Resume: resume,
	}
}

func places(h interop.Home) []string {
	data := h.Env("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(h.Dir, ".local", "share")
	}
	return []string{filepath.Join(data, "agentuse", "project")}
}

// folderName is that of a session: a ULID and an agent.
var folderName = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}-[a-z0-9_-]+$`)

// unit returns the innermost session folder that a file is in.
func unit(name string) string {
	for dir := path.Dir(name); dir != "." && dir != "/" && dir != path.Dir(dir); dir = path.Dir(dir) {
		above := path.Base(path.Dir(dir))
		if (above == "session" || above == "subagent") && folderName.MatchString(path.Base(dir)) {
			return dir
		}
	}
	return ""
}

func below(name string) string {
	if at := strings.LastIndex(name, "/project/"); at >= 0 {
		return name[at+1:]
	}
	return path.Base(name)
}

func look(ctx context.Context, at string) (interop.Unit, error) {
	return interop.OpenFolder(ctx, at, interop.Folder{
		Leave: func(name string) bool { return name == "subagent" || strings.HasSuffix(name, ".tmp") },
		Order: order,
	})
}

// order puts what others hang on before them.
func order(a, b string) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// rank is session.json, then each message with its parts by their names, then
// the rest.
func rank(name string) string {
	dir, file := path.Split(name)
	switch {
	case name == "session.json":
		return "0"
	case file == "message.json":
		return "1" + dir + "0"
	case path.Base(dir) == "artifact": // which the parts speak of
		return "1" + path.Dir(path.Clean(dir)) + "/1"
	case path.Base(dir) == "part":
		return "1" + path.Dir(path.Clean(dir)) + "/2"
	}
	return "2"
}

// resume is how AgentUse goes on with a session: with a prompt made of it, as a
// session of its own.
func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	return []string{"agentuse", "sessions", "resume", w.ID}, cmp.Or(s.Cwd, s.Project)
}
