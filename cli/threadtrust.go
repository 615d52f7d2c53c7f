package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein/agent/roster"
)

// trust decides, or lets the person decide, whether an MCP server in an agent file
// may be started. One in the person's own config folder may. Other files come with
// a project, perhaps from a stranger, and a server is a program that runs without
// asking.
func (t *thread) trust(ctx context.Context, d roster.Definition, s roster.Server) error {
	own := filepath.Join(t.job.dirs.Config, "agents") + string(filepath.Separator)
	path := filepath.Clean(d.Path) // without .., which could lead out of our own folder
	name := "mcp:" + s.Name
	exact := name + ":" + fingerprint(s)
	if strings.HasPrefix(path, own) || t.allowed.has(name) || t.allowed.has(exact) {
		return nil
	}
	does := wants(s)
	refused := advise(fmt.Errorf("agent file %s wants to %s", d.Path, does), "if you trust it: --allow %s", name)
	if t.face.ask == nil {
		return refused
	}
	r, err := t.face.ask(ctx, question{text: fmt.Sprintf("The agent file %s wants to %s\nLet it?", t.job.tilde(d.Path), does), always: "in this project, as long as it stays the same"})
	switch {
	case err != nil:
		return err
	case r == no:
		return refused
	case r == always:
		t.allowForGood(exact)
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
