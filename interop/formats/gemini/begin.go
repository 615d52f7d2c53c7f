package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

func (r *reader) begin() interop.Begin {
	at := location{r.file, r.id, r.saved, r.meta}
	cwd := at.cwd()
	b := interop.Begin{ID: skein.SessionID(r.id), Time: r.start, Created: skein.Created{
		Surface: "cli", Project: cwd, Cwd: cwd, Agent: r.agent, Provider: r.provider, Program: r.agent,
		Origin: &skein.Origin{ID: r.id},
	}}
	if cwd == "" {
		b.Is = at.isFolder
	}
	if r.saved != "" {
		b.ID = skein.SessionID(r.name + "-checkpoint-" + r.saved)
		if b.ID.Check() != nil {
			b.ID = skein.SessionID(r.name + "-checkpoint-" + short(r.saved))
		}
		b.Created.Origin.ID, b.Created.Title = r.saved, r.saved
	}
	if c := loose.Raw(r.meta.Without("sessionId", "startTime", "lastUpdated", "summary", "messages")); r.meta != nil && len(c) > len("{}") {
		b.Created.Config = c
	}
	if parent := at.parent(); parent != "" {
		b.ParentID, b.Created.Parent = parent, &skein.Parent{Why: skein.Child}
		b.Created.Surface = "subagent"
	}
	return b
}

// A location is where a file is, and what that and its head say of its project.
type location struct {
	file  interop.File
	id    string // of the session
	saved string // the name of a checkpoint; "" for others
	meta  loose.Object
}

// parent returns the ID of the session that started this one: the file is in a folder
// named after it.
func (l location) parent() string {
	dir := path.Dir(filepath.ToSlash(l.file.Path))
	if l.saved != "" || path.Base(path.Dir(dir)) != "chats" || path.Base(dir) == l.id {
		return ""
	}
	return path.Base(dir)
}

// up returns the way from the folder of the file to that of its project.
func (l location) up() string {
	switch {
	case l.saved != "":
		return "."
	case l.parent() != "":
		return "../.."
	}
	return ".."
}

// isFolder reports whether the file, or the folder of its project, has the hash of dir.
func (l location) isFolder(dir string) bool {
	hash := hashOf(dir)
	return l.meta.Str("projectHash") == hash || l.slug() == hash
}

// slug returns the name of the project's folder.
func (l location) slug() string {
	return path.Base(path.Join(path.Dir(filepath.ToSlash(l.file.Path)), l.up()))
}

// cwd returns the directory that the program ran in: the one whose hash is in the
// file, or that the name of the project's folder stands for; "" if unknown.
func (l location) cwd() string {
	if b, ok := l.file.Beside(path.Join(l.up(), ".project_root")); ok {
		if dir := strings.TrimSpace(skein.Text(b).UTF8()); absolute(dir) {
			return dir
		}
	}
	hash := l.meta.Str("projectHash")
	for _, v := range l.meta.List("directories") {
		if dir := loose.Str(v); hash == hashOf(dir) && absolute(dir) {
			return dir
		}
	}
	return l.registered(hash)
}

// registered looks up the project in projects.json.
func (l location) registered(hash string) string {
	b, ok := l.file.Beside(path.Join(l.up(), "../../projects.json"))
	if !ok {
		return ""
	}
	all, err := loose.Parse(b)
	if err != nil {
		return ""
	}
	slug := l.slug()
	for _, m := range all.Obj("projects") {
		if absolute(m.Name) && (loose.Str(m.Value) == slug || hashOf(m.Name) == hash || hashOf(m.Name) == slug) {
			return m.Name
		}
	}
	return ""
}

// absolute reports whether a path is absolute on any system.
func absolute(dir string) bool {
	if len(dir) > 4096 || strings.ContainsAny(dir, "\x00\n\r") || dir != skein.Text(dir).UTF8() {
		return false
	}
	return strings.HasPrefix(dir, "/") || len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/')
}

// hashOf is the name that a project's folder had before it was readable.
func hashOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// A checkpoint reads what /chat save saved: the contents that the model is sent,
// without IDs or times.
type checkpoint struct{ *reader }

// tagOf returns the name that the user gave a checkpoint.
func tagOf(stem string) string {
	tag := strings.TrimPrefix(strings.TrimPrefix(stem, "checkpoint"), "-")
	if plain, err := url.PathUnescape(tag); err == nil {
		tag = plain
	}
	if tag = skein.Text(tag).UTF8(); tag == "" {
		return "checkpoint"
	}
	return tag
}

// Read implements [interop.Reader]; the error says that the piece holds no content.
func (c checkpoint) Read(l interop.Line) (m interop.Made, err error) {
	text, err := interop.Piece(l.Body)
	if err != nil {
		return m, err
	}
	e := loose.Element(text)
	if l.N == 0 || len(e) == 0 || e[0] == ']' {
		return m, nil
	}
	o, err := loose.Parse(e)
	if err != nil {
		return m, err
	}
	id := c.saved + "\x00" + string(e)
	return c.make(c.key("#"+short(id)), c.content(short(id), o, o.Without())...), nil
}

// content makes events of a content in the API's form: a role and parts.
func (r *reader) content(id string, o loose.Object, raw jsontext.Value) []piece {
	said := r.gather(id, o.Get("parts"))
	switch o.Str("role") {
	case "user":
		return r.user(said, nil, 0)
	case "model":
		return said.answer(skein.Message{Role: skein.RoleAssistant, Provider: r.provider}, 0)
	}
	return []piece{{slot: "note", event: noted("unknown", "", 0, raw)}}
}
