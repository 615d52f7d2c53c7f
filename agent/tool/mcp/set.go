package mcp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/skein-dev/skein/agent/tool"
)

// A Set is the servers of one agent. Make one with [New]. It is safe for use
// by many goroutines.
type Set struct{ clients []*client }

// New returns the set of servers. It does not connect to them yet.
func New(servers []Server, o Options) *Set {
	s := &Set{}
	for _, x := range servers {
		s.clients = append(s.clients, &client{server: x, options: o.filled(), watchers: map[string]func(string){}})
	}
	return s
}

// Tools connects to all servers concurrently, and returns their tools, in the
// order of the servers. If there is an error, it names each server that cannot
// be reached and why, and the tools of the others are returned.
func (s *Set) Tools(ctx context.Context) ([]tool.Tool, error) {
	found := make([][]remote, len(s.clients))
	errs := make([]error, len(s.clients))
	var all sync.WaitGroup
	for i, c := range s.clients {
		all.Go(func() {
			if found[i], errs[i] = c.list(ctx); errs[i] != nil {
				errs[i] = fmt.Errorf("mcp server %s: %w", c.server.Name, errs[i])
			}
		})
	}
	all.Wait()
	var tools []tool.Tool
	used := map[string]bool{}
	for i, rs := range found {
		for _, r := range rs {
			name := fit(s.clients[i].server.Name, r.Name, used)
			used[name] = true
			tools = append(tools, s.clients[i].tool(name, r))
		}
	}
	return tools, errors.Join(errs...)
}

// Close ends the connections, and the programs with all processes that they
// started, after giving them a moment to exit. Tools of s fail from now on.
// Closing twice is fine. Errors are the system's.
func (s *Set) Close() error {
	errs := make([]error, len(s.clients))
	var all sync.WaitGroup
	for i, c := range s.clients {
		all.Go(func() { errs[i] = c.close() })
	}
	all.Wait()
	return errors.Join(errs...)
}

// maxName is the longest name of a tool, in bytes.
const maxName = 64

// fit returns a name for a tool: letters, digits, _ and - only, and not one
// that is used.
func fit(server, name string, used map[string]bool) string {
	s := plain(server) + "__" + plain(name)
	if len(s) <= maxName && !used[s] {
		return s
	}
	sum := fmt.Sprintf("_%x", sha256.Sum256([]byte(server+"\x00"+name)))[:9]
	s = s[:min(len(s), maxName-len(sum))] + sum
	for n := 2; used[s]; n++ { // the server has two tools of that name
		s = fmt.Sprintf("%s%d", s[:min(len(s), maxName-4)], n)
	}
	return s
}

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, s)
}
