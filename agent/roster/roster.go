package roster

import (
	"context"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// Options say what a Roster may use.
type Options struct {
	Getenv    func(name string) string
	Secret    func(provider string) (string, error) // key in the system's key ring, "" if it has none; nil for no key ring
	Providers map[string]Provider                   // configured ones; what they leave out is as in the built-in one of that name
	Folders   []string                              // of agent files, those of the first win
	Model     string                                // that agents have which name none; "" for none
	Effort    llm.Effort                            // how much models think; "" leaves it to them
	Client    *http.Client                          // nil for one of its own
	Environ   []string                              // environment that tools' programs are given what is harmless of; nil is the process's own

	Shut         []string // databases that this process has open, as in files.Options
	Cwd          string   // that servers are started in; "" is the process's own
	Version      string   // of the program, for servers
	CompactAfter int      // of agents, as in agent.Agent

	// Trust decides whether the MCP server s that the file of d names is
	// started, or spoken to; its error keeps the agent from being ready. Nil
	// trusts all: an agent file can come from a stranger.
	Trust func(ctx context.Context, d Definition, s Server) error

	// Notice is told of a server that cannot be reached. Nil: that is an error.
	Notice func(text string)

	// Guidance returns what stands behind the system prompt of every agent, for
	// a model that can read so many tokens, 0 for nobody knows. Nil for nothing.
	Guidance func(window int64) string

	// Memory is the folder of the USER.md and MEMORY.md that the tool remember
	// writes; "" for no such tool.
	Memory string

	// Store is where the tools look into other sessions. Nil: they do not.
	Store skein.Store

	// Find returns the session that a person means by name, for replay:NAME.
	// Nil: there is no such model.
	Find func(ctx context.Context, name string) (skein.Session, error)

	// Window returns how many tokens a model can read, 0 if that is not known.
	// Nil: of none it is.
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
