package agentuse

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
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
		Unit:   unit,
		Look:   look,
		PlacedFiles: []interop.PlacedFile{
			{Name: "session.json", Is: interop.StartsWith("{", "it has a status, and an agent that is a sub-agent or not", `"agent"`, `"status"`, `"isSubAgent"`)},
			{Name: "message.json", Is: interop.StartsWith("{", "it has a user's prompt and an assistant's model", `"user"`, `"prompt"`, `"assistant"`, `"modelID"`)},
			{Name: "part/ID.json", Is: guessPart},
		},
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

// folderName matches a session folder's name: a ULID and an agent.
var folderName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}-[a-z0-9_-]+$`) })

// unit returns the innermost session folder that a file is in.
func unit(name string) string {
	for dir := path.Dir(name); dir != "." && dir != "/" && dir != path.Dir(dir); dir = path.Dir(dir) {
		above := path.Base(path.Dir(dir))
		if (above == "session" || above == "subagent") && folderName().MatchString(path.Base(dir)) {
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

// look opens a session's folder. The error wraps [interop.ErrTorn] while session.json
// is missing or being written: only it says what the session began with, and a
// session created without it stays that way.
func look(ctx context.Context, at string) (_ interop.Unit, err error) {
	u, err := interop.OpenFolder(ctx, at, interop.Folder{
		Leave: func(name string) bool { return name == "subagent" || strings.HasSuffix(name, ".tmp") },
		Order: order,
		Head:  "session.json",
	})
	if err != nil {
		return nil, err
	}
	if torn, err := torn(ctx, u); torn || err != nil {
		return nil, errors.Join(cmp.Or(err, interop.ErrTorn), u.Close())
	}
	return u, nil
}

// torn reports whether session.json, which is the first of the lines if there
// is one, is being written.
func torn(ctx context.Context, u interop.Unit) (_ bool, err error) {
	lines, err := u.Open(ctx, "")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	first, err := bufio.NewReader(lines).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	l, err := folder.Parse(first)
	if err != nil || l.File != "session.json" || l.Damage != "" || !interop.IsFresh(l.Mtime) {
		return false, nil // the reader reports anything else that is wrong with it
	}
	return !jsontext.Value(l.Data()).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), nil
}

// order puts a parent before its children.
func order(a, b string) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// rank orders session.json first, then each message with its parts by name, then the
// rest.
func rank(name string) string {
	dir, file := path.Split(name)
	switch {
	case name == "session.json":
		return "0"
	case file == "message.json":
		return "1" + dir + "0"
	case path.Base(dir) == "artifact": // which the parts refer to
		return "1" + path.Dir(path.Clean(dir)) + "/1"
	case path.Base(dir) == "part":
		return "1" + path.Dir(path.Clean(dir)) + "/2"
	}
	return "2"
}

// resume returns the command with which AgentUse resumes a session: as a new session,
// with a prompt made from the old one.
func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	return []string{"agentuse", "sessions", "resume", w.ID}, cmp.Or(s.Cwd, s.Project)
}

// guessPart knows a part of a message by its type and its message.
func guessPart(head []byte) interop.Guess {
	if bytes.Contains(head, []byte(`"sessionID"`)) { // opencode's, which these are like
		return interop.Guess{}
	}
	return interop.StartsWith("{", "it has a type and a messageID", `"type"`, `"messageID"`)(head)
}
