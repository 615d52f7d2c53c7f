package roster

import (
	"context"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool/files"
	"github.com/skein-dev/skein/llm"
)

// Options say what a Roster may use.
type Options struct {
	Getenv    func(name string) string
	Secret    func(provider string) (string, error) // key in the system's key ring, "" if it has none; nil means no key ring
	Providers map[string]Provider                   // configured ones; fields left empty are those of the built-in one of that name
	Folders   []string                              // of agent files; earlier ones take precedence
	Model     string                                // of agents that name none; may be ""
	Effort    llm.Effort                            // how much models think; "" leaves it to them
	Client    *http.Client                          // nil for one of its own
	Environ   []string                              // environment from which tools' programs get the harmless variables; nil means the process's own

	Files        files.Options // of the tools that read and write files
	Servers      []Server      // MCP servers of whoever answers, beside those in its file
	Cwd          string        // folder that servers are started in; "" means the process's own
	Version      string        // of the program, for servers
	CompactAfter int           // of agents, as in agent.Agent

	// Trust decides whether the MCP server s that the file of d names may be
	// started or contacted; its error makes Ready fail. Nil trusts every
	// server, although an agent file can come from a stranger.
	Trust func(ctx context.Context, d Definition, s Server) error

	// Notice is called about a server that cannot be reached. If nil, that is
	// an error.
	Notice func(text string)

	// Guidance returns the text after the system prompt of every agent, for a
	// model that can read this many tokens, 0 if unknown. Nil means no text.
	Guidance func(window int64) string

	// Memory is the folder of the USER.md and MEMORY.md that the tool remember
	// writes; without it, there is no such tool. Files.Memory keeps the other tools
	// from writing them.
	Memory string

	// Store is where the tools search other sessions. If nil, they do not.
	Store skein.Store

	// Find returns the session that a person means by name, for replay:NAME. If
	// nil, there is no such model.
	Find func(ctx context.Context, name string) (skein.Session, error)

	// Window returns how many tokens a model can read, 0 if that is not known.
	// If nil, it is known for none.
	Window func(provider, model string) int64
}

// A Roster knows who can answer. It is safe for use by many goroutines.
type Roster struct {
	Options
	providers map[string]Provider
}

// New returns a Roster. It does no work.
func New(o Options) *Roster {
	r := &Roster{Options: o, providers: known()}
	for name, p := range o.Providers {
		of, ok := r.providers[name]
		p.Keyless = p.Keyless || !ok && len(p.KeyEnv) == 0
		r.providers[name] = p.merge(of)
	}
	if r.Getenv == nil {
		r.Getenv = func(string) string { return "" }
	}
	return r
}
