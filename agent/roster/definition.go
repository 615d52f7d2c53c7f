package roster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// maxFile is the longest agent file, in bytes.
const maxFile = 1 << 20

// A Definition is the content of an agent file.
type Definition struct {
	Path        string // of the file, absolute; "" for the default agent
	Name        string
	Description string
	Model       string   // "" for the default
	Tools       []string // names of tools and groups; nil for the default ones
	Servers     []Server
	Subagents   []Subagent
	Timeout     time.Duration // of a turn; 0 means no limit
	MaxSteps    int           // model requests in a turn; 0 for the default
	System      string        // system prompt; "" for none
	Task        string        // first user message, before the prompt; may be ""
	Notes       []string      // oddities that do no harm: file:line and what
}

// A Server is an MCP server that an agent's tools come from.
type Server struct {
	Name    string
	Command string // program; "" if it is reached by URL
	Args    []string
	Env     map[string]string
	URL     string
	Headers map[string]string
}

// A Subagent is another agent that an agent can delegate to.
type Subagent struct {
	Path string // as written in the file: a path from the file's folder, or a name
	Name string // "" for the one in its file
}

// read reads an agent file.
func read(path string) (Definition, error) {
	b, err := load(path)
	if err != nil {
		return Definition{}, err
	}
	d, err := Parse(path, b)
	if err != nil {
		return d, err
	}
	return d, nil
}

func load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("agent file %s: %w", path, skein.ErrNotFound)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w agent file %s: not a regular file", skein.ErrInvalid, path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%w agent file %s: %d bytes, at most %d are allowed", skein.ErrInvalid, path, info.Size(), maxFile)
	}
	return os.ReadFile(path)
}

// Parse parses the text of the agent file at path, whose extension determines
// the format.
//
// The error wraps [skein.ErrInvalid] and begins with file and line.
func Parse(path string, text []byte) (Definition, error) {
	ext := filepath.Ext(path)
	d := Definition{Path: path, Name: strings.TrimSuffix(filepath.Base(path), ext)}
	front, body, ok := split(bytes.TrimPrefix(text, []byte("\ufeff")))
	if !ok {
		return Definition{}, fmt.Errorf("%s:1: %w agent file: the front matter that begins with --- has no closing line ---", path, skein.ErrInvalid)
	}
	p := parser{path: path, agentUse: ext == ".agentuse", to: &d}
	if err := p.front(front); err != nil {
		return Definition{}, err
	}
	if p.agentUse {
		d.Task = body
	} else {
		d.System = body
	}
	return d, nil
}

// split returns the YAML at the beginning of text and the rest; if there is no
// YAML, the rest is all of text. It reports whether the YAML has an end.
func split(text []byte) (front []byte, body string, ok bool) {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return nil, strings.TrimSpace(string(text)), true
	}
	for at := 0; at < len(rest); {
		line, _, _ := bytes.Cut(rest[at:], []byte("\n"))
		next := min(at+len(line)+1, len(rest))
		if string(bytes.TrimRight(line, " \t")) == "---" {
			return rest[:at], strings.TrimSpace(string(rest[next:])), true
		}
		at = next
	}
	return nil, "", false
}
