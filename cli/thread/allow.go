package thread

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/render"
)

// allowInProject adds to the person's own config.toml that a tool need not ask in a
// project. The rest of the file, including comments, stays as it is.
//
// The error says why the file could not be changed; it is then as it was before.
func allowInProject(j *job.Job, project, tool string) error {
	file := filepath.Join(j.Dirs.Config, "config.toml")
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a symbolic link stays one
	}
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	edited, err := config.AllowIn(string(old), project, tool)
	if err != nil {
		return fmt.Errorf("%s: %w; add it there by hand: [project.%s] allow = [%q]", file, err, config.TomlText(project), tool)
	}
	if edited == string(old) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return config.ReplaceFile(file, []byte(edited))
}

// Allowed is the tools that need not ask in a thread.
type Allowed struct {
	Project string
	Tools   []string
}

// allowed returns the tools that need not ask in a project: by the flags, by the
// settings, by what the person said there before.
func allowed(j *job.Job, project string, flags []string) *Allowed {
	var names []string
	for _, given := range flags {
		names = append(names, strings.FieldsFunc(given, func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	names = append(names, j.Settings.Words("allow")...)
	names = append(names, j.Settings.Projects[project].Allow...)
	return &Allowed{project, roster.Flat(names)}
}

// has reports whether name need not ask; * allows all tools.
func (a *Allowed) has(name string) bool {
	return slices.Contains(a.Tools, name) || slices.Contains(a.Tools, "*")
}

// Runs reports whether a tool need not ask. A tool that asks each time must be
// allowed by name.
func (a *Allowed) Runs(of tool.Tool) bool {
	return a.has(of.Spec.Name) && (!of.Each || slices.Contains(a.Tools, of.Spec.Name))
}

// decides decides whether a tool that asks first may run, if nobody need be asked.
func (t *Thread) decides(of tool.Tool) (agent.Approval, bool) {
	yes := t.Allowed.Runs(of) || t.auto.Load() && !of.Each
	return agent.Approval{Yes: yes}, yes
}

// approve lets the person decide whether a tool that asks first may run.
func (t *Thread) approve(ctx context.Context, of tool.Tool, c tool.Call, text string) (agent.Approval, error) {
	name := of.Spec.Name
	if t.face.Ask == nil {
		t.face.Tell("not allowed, as nobody can be asked: %s; --allow %s lets it run", render.Line(text), name)
		return agent.Approval{Reason: "Nobody can be asked, and " + name + " was not allowed beforehand."}, nil
	}
	q := job.Question{Text: text, Call: &skein.Call{ID: c.ID, Name: name, Input: c.Input}}
	if !of.Each {
		q.Always = "in this project"
	}
	r, err := t.face.Ask(ctx, q)
	if err != nil {
		return agent.Approval{}, err
	}
	if r == job.Always {
		t.allowAlways(name)
	}
	return agent.Approval{Yes: r != job.No}, nil
}

// allowAlways allows the tool name in this project from now on.
func (t *Thread) allowAlways(name string) {
	t.Allowed.Tools = append(t.Allowed.Tools, name)
	if err := allowInProject(t.Job, t.Allowed.Project, name); err != nil {
		t.face.Tell("%s is allowed until the end of this program only: %v", name, err)
	}
}

// trust decides, or lets the person decide, whether an MCP server in an agent file
// may be started. One in the person's own config folder may. Other files come with
// a project, perhaps from a stranger, and a server is a program that runs without
// asking.
func (t *Thread) trust(ctx context.Context, d roster.Definition, s roster.Server) error {
	own := filepath.Join(t.Job.Dirs.Config, "agents") + string(filepath.Separator)
	path := filepath.Clean(d.Path) // without .., which could lead out of our own folder
	name := "mcp:" + s.Name
	exact := name + ":" + fingerprint(s)
	brought := slices.ContainsFunc(t.Options.Servers, func(b roster.Server) bool { return b.Name == s.Name && fingerprint(b) == fingerprint(s) })
	if brought || strings.HasPrefix(path, own) || t.Allowed.has(name) || t.Allowed.has(exact) {
		return nil
	}
	does := wants(s)
	refused := fault.Advise(fmt.Errorf("agent file %s wants to %s", d.Path, does), "if you trust it: --allow %s", name)
	if t.face.Ask == nil {
		return refused
	}
	r, err := t.face.Ask(ctx, job.Question{Text: fmt.Sprintf("The agent file %s wants to %s\nLet it?", t.Job.Tilde(d.Path), does), Always: "in this project, as long as it stays the same"})
	switch {
	case err != nil:
		return err
	case r == job.No:
		return refused
	case r == job.Always:
		t.allowAlways(exact)
	}
	return nil
}

// wants describes what s does when it is trusted, and what it receives: a variable
// or header may contain a key.
func wants(s roster.Server) string {
	var b strings.Builder
	b.WriteString("start: " + s.Command)
	for _, arg := range s.Args {
		if arg == "" || strings.ContainsAny(arg, " \t\r\n\"'\\") {
			arg = strconv.Quote(arg)
		}
		b.WriteString(" " + arg)
	}
	if s.Command == "" {
		b.Reset()
		b.WriteString("speak to: " + s.URL)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		fmt.Fprintf(&b, "\nwith %s=%q", name, s.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		fmt.Fprintf(&b, "\nwith %s: %q", name, s.Headers[name])
	}
	return b.String()
}

// fingerprint returns a text that changes when what s does changes.
func fingerprint(s roster.Server) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", s.Command, s.Args, s.Env, s.URL, s.Headers))
	return hex.EncodeToString(sum[:6])
}
