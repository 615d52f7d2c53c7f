package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/roster"
)

// trust decides, or lets the person decide, whether an MCP server that an
// agent file names may be started. One in the person's own config folder may:
// others come with a project, perhaps from a stranger, and a server is a
// program that runs without asking.
func (t *thread) trust(ctx context.Context, d roster.Definition, s roster.Server) error {
	own := filepath.Join(t.job.dirs.Config, "agents") + string(filepath.Separator)
	name := "mcp:" + s.Name
	exact := name + ":" + fingerprint(s)
	if strings.HasPrefix(d.Path, own) || t.allowed.has(name) || t.allowed.has(exact) {
		return nil
	}
	does := "start: " + strings.Join(append([]string{s.Command}, s.Args...), " ")
	if s.Command == "" {
		does = "speak to: " + s.URL
	}
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

// fingerprint returns what changes when s does.
func fingerprint(s roster.Server) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", s.Command, s.Args, s.Env, s.URL, s.Headers))
	return hex.EncodeToString(sum[:6])
}
