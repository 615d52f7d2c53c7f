package roster

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/agent/tool/mcp"
)

// served starts the MCP servers of d, unless Trust refuses one, and returns
// their tools. Servers that cannot be reached are reported, if there is a
// Notice; the tools of the others are returned.
func (r *Roster) served(ctx context.Context, t *Team, d Definition) ([]tool.Tool, error) {
	var servers []mcp.Server
	for _, s := range d.Servers {
		filled, err := r.fill(s)
		if err != nil {
			return nil, fmt.Errorf("%s: mcp server %s: %w", d.Path, s.Name, err)
		}
		if r.Trust != nil {
			if err := r.Trust(ctx, d, s); err != nil {
				return nil, err
			}
		}
		servers = append(servers, filled)
	}
	if len(servers) == 0 {
		return nil, nil
	}
	set := mcp.New(servers, mcp.Options{Cwd: r.Cwd, Environ: r.Environ, Version: r.Version})
	t.closers = append(t.closers, set.Close)
	tools, err := set.Tools(ctx)
	if err != nil && ctx.Err() == nil && r.Notice != nil {
		r.Notice(err.Error())
		err = nil
	}
	return tools, err
}

// fill returns s with ${NAME} in its env, url and headers replaced by values
// from the environment. A variable of its env that consists only of an unset
// variable is left out.
func (r *Roster) fill(s Server) (mcp.Server, error) {
	to := mcp.Server{Name: s.Name, Command: s.Command, Args: s.Args, Env: map[string]string{}, Headers: map[string]string{}}
	var err error
	expand := func(text string) string {
		return os.Expand(strings.ReplaceAll(text, "$$", "${$}"), func(name string) string {
			v := r.Getenv(name)
			if name == "$" {
				v = "$"
			}
			if v == "" && err == nil {
				err = fmt.Errorf("%w: $%s is not set", skein.ErrInvalid, name)
			}
			return v
		})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if v := s.Env[name]; v != "${"+name+"}" {
			to.Env[name] = expand(v)
		} else if v := r.Getenv(name); v != "" {
			to.Env[name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		to.Headers[name] = expand(s.Headers[name])
	}
	if s.URL != "" {
		to.URL = expand(s.URL)
	}
	return to, err
}
