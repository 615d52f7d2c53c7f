package codex

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// wroteAs is the version of Codex whose files are imitated.
const wroteAs = "0.169.0"

// program is skein's name where Codex records which program began a thread.
const program = "skein"

var isUUID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`) })

// threadID returns the ID that a session has in Codex: its own if that is a UUID,
// else the one it was read under, else one derived from its own.
func threadID(s *skein.Session) string {
	if id := strings.ToLower(string(s.ID)); isUUID().MatchString(id) {
		return id
	}
	if o := s.Origin; o != nil && o.Format == Name && s.Parent == nil && isUUID().MatchString(strings.ToLower(o.ID)) {
		return strings.ToLower(o.ID)
	}
	return uuidOf("codex thread " + string(s.ID))
}

// uuidOf returns a UUID (version 8) derived from name.
func uuidOf(name string) string {
	b := sha256.Sum256([]byte(name))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// A metaOut is a session_meta that is written. Codex requires all members but the
// last four. It continues a thread only under the provider named here.
type metaOut struct {
	ID         string          `json:"id"`
	Timestamp  string          `json:"timestamp"`
	Cwd        string          `json:"cwd"`
	Originator string          `json:"originator"`
	Version    string          `json:"cli_version"`
	Source     json.RawMessage `json:"source"`
	Provider   string          `json:"model_provider"`
	Git        *gitOut         `json:"git,omitempty"`
	ForkedFrom string          `json:"forked_from_id,omitempty"`
	Parent     string          `json:"parent_thread_id,omitempty"`
	Role       string          `json:"agent_role,omitempty"`
}

// meta returns the thread's session_meta: the one that it had, or a new one.
func (w *writer) meta() json.RawMessage {
	s := &w.d.Session
	if m := w.hadMeta(); m != nil {
		return m
	}
	m := metaOut{
		ID: w.id, Timestamp: stampOf(w.at), Cwd: utf8(first(s.Cwd, s.Project)), Originator: program, Version: wroteAs, Source: json.RawMessage(`"cli"`), Provider: w.provider(),
		Git: w.git(),
	}
	if m.Cwd == "" {
		m.Cwd = "/"
	}
	if p := s.Parent; p != nil {
		spot, ok := w.d.Other(p.Session)
		switch {
		case !ok:
		case p.Why == skein.Child:
			m.Parent, m.Role = spot.ID, utf8(s.Agent)
			m.Source = skein.MustJSON(sourceOut{subagentOut{spawnOut{Parent: spot.ID, Depth: 1, Role: m.Role}}})
		default:
			m.ForkedFrom = spot.ID
		}
	}
	return skein.MustJSON(m)
}

// provider returns the model provider that Codex is set to.
func (w *writer) provider() string {
	const usual = "openai"
	if w.d.Beside == nil {
		return usual
	}
	config, _ := w.d.Beside("config.toml") // it may be missing
	for l := range strings.Lines(string(config)) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") {
			break
		}
		name, value, _ := strings.Cut(l, "=")
		if value = strings.TrimSpace(value); strings.Trim(name, ` \t"'`) != "model_provider" || len(value) < 2 {
			continue
		}
		if text, _, ok := strings.Cut(value[1:], value[:1]); ok && text != "" {
			return utf8(text)
		}
	}
	return usual
}

type gitOut struct {
	Commit     string `json:"commit_hash,omitempty"`
	Branch     string `json:"branch,omitempty"`
	Repository string `json:"repository_url,omitempty"`
}

// git returns what was checked out when the session began; nil if that is not known.
func (w *writer) git() *gitOut {
	x := w.d.Checkouts().At(max(1, w.d.Session.Base+1))
	g := gitOut{Commit: utf8(x.Commit), Branch: utf8(x.Branch), Repository: utf8(interop.Address(x))}
	if g == (gitOut{}) {
		return nil
	}
	return &g
}

type sourceOut struct {
	Subagent subagentOut `json:"subagent"`
}

type subagentOut struct {
	Spawn spawnOut `json:"thread_spawn"`
}

type spawnOut struct {
	Parent string `json:"parent_thread_id"`
	Depth  int    `json:"depth"`
	Role   string `json:"agent_role,omitempty"`
}

// hadMeta returns the session_meta that the thread was read with, without its
// references to other files; nil if there is none with what Codex requires. It also
// sets whether lines are counted.
func (w *writer) hadMeta() json.RawMessage {
	for _, e := range w.d.Events {
		if e.Kind != skein.KindNoted || !w.ours[e.Seq] {
			continue
		}
		n, err := skein.Decode[skein.Noted](e)
		if err != nil || n.Name != Name+":"+typeMeta || len(n.Data) == 0 {
			continue
		}
		m, err := unmarshal[meta](n.Data)
		if err == nil && strings.EqualFold(m.ID, w.id) && m.Cwd != "" && m.Originator != "" && m.Version != "" {
			w.file.counted = m.HistoryMode == "paginated"
			return without(jsontext.Value(n.Data), "history_base", "subagent_history_start_ordinal")
		}
	}
	return nil
}

// stampOf spells a time as Codex does.
func stampOf(t skein.Time) string { return t.Std().UTC().Format("2006-01-02T15:04:05.000Z") }

// utf8 returns s as valid UTF-8.
func utf8(s string) string { return skein.Text(s).UTF8() }
