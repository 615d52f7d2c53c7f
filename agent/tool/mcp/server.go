package mcp

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"time"
)

// A Server says how to reach a server.
type Server struct {
	Name    string            // prefix of its tools' names
	Command string            // program, looked up in PATH; "" if there is a URL
	Args    []string          // of Command
	Env     map[string]string // variables of Command beyond those that every program gets
	URL     string            // http or https; "" if there is a Command
	Headers map[string]string // sent with requests to URL's host, and to no other
}

// check reports what is wrong with s.
func (s *Server) check() error {
	switch {
	case s.Name == "":
		return fmt.Errorf("server %q %q: no name is given", s.Command, s.URL)
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

// Options configure the connections. The zero value is the usual.
type Options struct {
	Cwd     string        // working directory of commands; "" means the process's own
	Environ []string      // environment from which commands get theirs; nil means the process's own
	Connect time.Duration // time to connect and list tools; 0 means 30 s
	Call    time.Duration // time limit of a call; 0 means 10 minutes
	Leave   time.Duration // time for a command to exit by itself; 0 means 2 s
	Program string        // client name sent to servers; "" means skein
	Version string        // of Program
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
