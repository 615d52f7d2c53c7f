package mcp

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"time"
)

// A Server says where to find a server.
type Server struct {
	Name    string            // what its tools' names begin with
	Command string            // the program, looked up in PATH; "" if there is a URL
	Args    []string          // of Command
	Env     map[string]string // what Command knows beside what every program does
	URL     string            // http or https; "" if there is a Command
	Headers map[string]string // that requests to URL, and to no other host, have
}

// check reports what is wrong with s.
func (s *Server) check() error {
	switch {
	case s.Name == "":
		return fmt.Errorf("server %q %q: it has no name", s.Command, s.URL)
	case (s.Command == "") == (s.URL == ""):
		return fmt.Errorf("server %s: want a command or a URL", s.Name)
	case s.Command != "":
		return nil
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return fmt.Errorf("server %s: %w", s.Name, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("server %s: URL %q: want one that begins with http:// or https://", s.Name, u.Redacted())
	}
	return nil
}

// Options say what servers find. The zero value is the usual.
type Options struct {
	Cwd     string        // that commands start in; "" is the process's own
	Environ []string      // what commands' environment is taken from; nil is the process's own
	Connect time.Duration // to connect and list tools; 0 is 30 s
	Call    time.Duration // that a call may take; 0 is 10 minutes
	Leave   time.Duration // for a command to end by itself; 0 is 2 s
	Program string        // who asks, for servers; "" is skein
	Version string        // of it
}

func (o Options) filled() Options {
	o.Connect = cmp.Or(o.Connect, 30*time.Second)
	o.Call = cmp.Or(o.Call, 10*time.Minute)
	o.Leave = cmp.Or(o.Leave, 2*time.Second)
	o.Program = cmp.Or(o.Program, "skein")
	o.Version = cmp.Or(o.Version, "0")
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	return o
}
