package roster

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/skein-dev/skein"
)

// A parser reads the YAML of an agent file into a Definition.
type parser struct {
	path     string
	agentUse bool
	to       *Definition
}

// wrong returns an error about a line of the file; n may be nil.
func (p *parser) wrong(n *yaml.Node, format string, args ...any) error {
	line := 1
	if n != nil {
		line = n.Line + 1 // the first line is ---
	}
	return fmt.Errorf("%s:%d: %w agent file: %s", p.path, line, skein.ErrInvalid, fmt.Sprintf(format, args...))
}

// note records something odd that does no harm.
func (p *parser) note(n *yaml.Node, format string, args ...any) {
	p.to.Notes = append(p.to.Notes, fmt.Sprintf("%s:%d: %s", p.path, n.Line+1, fmt.Sprintf(format, args...)))
}

// front parses the YAML.
func (p *parser) front(text []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return p.broken(err)
	}
	if len(doc.Content) == 0 {
		return nil
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil
	}
	return p.pairs(top, "the front matter", p.field)
}

// broken returns the error of text that is not valid YAML, with its line.
func (p *parser) broken(err error) error {
	said := strings.TrimPrefix(err.Error(), "yaml: ")
	at := &yaml.Node{}
	if m := atLine().FindStringSubmatch(said); m != nil {
		if line, err := strconv.Atoi(m[1]); err == nil {
			at.Line, said = line, m[2]
		}
	}
	return p.wrong(at, "%s", said)
}

func atLine() *regexp.Regexp { return regexp.MustCompile(`^line (\d+): (.*)$`) }

// pairs calls each for every key and value of a mapping.
func (p *parser) pairs(n *yaml.Node, what string, each func(key string, k, v *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return p.wrong(n, "%s: want keys and values, got %s", what, shown(n))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode:
			return p.wrong(k, "%s: want a name as key", what)
		case seen[k.Value]:
			return p.wrong(k, "%s: is given twice", k.Value)
		case v.Kind == yaml.AliasNode:
			return p.wrong(v, "%s: aliases (*%s) are not supported", k.Value, v.Value)
		}
		seen[k.Value] = true
		if err := each(k.Value, k, v); err != nil {
			return err
		}
	}
	return nil
}

// field parses one key of the front matter.
func (p *parser) field(key string, k, v *yaml.Node) (err error) {
	d := p.to
	switch key {
	case "name":
		if d.Name, err = p.text(key, v); err == nil && strings.TrimSpace(d.Name) == "" {
			err = p.wrong(v, "name: empty")
		}
	case "description":
		d.Description, err = p.text(key, v)
	case "model":
		d.Model, err = p.text(key, v)
	case "tools":
		return p.tools(v)
	case "mcp_servers", "mcpServers":
		return p.pairs(v, key, p.server)
	case "subagents":
		return p.subagents(v)
	case "timeout":
		d.Timeout, err = p.duration(key, v)
	case "max_steps", "maxSteps":
		d.MaxSteps, err = p.number(key, v)
	default:
		p.note(k, "%s: unknown setting", key)
	}
	return err
}

func (p *parser) text(key string, v *yaml.Node) (string, error) {
	if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
		return "", p.wrong(v, "%s: want text, got %s", key, shown(v))
	}
	return v.Value, nil
}

func (p *parser) number(key string, v *yaml.Node) (int, error) {
	n, err := strconv.Atoi(v.Value)
	if v.Kind != yaml.ScalarNode || err != nil || n < 1 {
		return 0, p.wrong(v, "%s: want a number from 1, got %s", key, shown(v))
	}
	return n, nil
}

// duration parses a number of seconds, or a number with a unit.
func (p *parser) duration(key string, v *yaml.Node) (time.Duration, error) {
	if v.Kind == yaml.ScalarNode {
		if s, err := strconv.ParseFloat(v.Value, 64); err == nil && s > 0 && s < 1e7 {
			return time.Duration(s * float64(time.Second)), nil
		}
		if d, err := time.ParseDuration(v.Value); err == nil && d > 0 {
			return d, nil
		}
	}
	return 0, p.wrong(v, "%s: want a time such as 90 (seconds) or 5m, got %s", key, shown(v))
}

// list parses a list of texts, or one text with commas.
func (p *parser) list(key string, v *yaml.Node) ([]string, error) {
	all := []string{}
	if v.Kind == yaml.ScalarNode && v.Tag == "!!str" {
		for word := range strings.SplitSeq(v.Value, ",") {
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, word)
			}
		}
		return all, nil
	}
	if v.Kind != yaml.SequenceNode {
		return nil, p.wrong(v, "%s: want a list, got %s", key, shown(v))
	}
	for _, item := range v.Content {
		s, err := p.text(key, item)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// shown describes n for an error.
func shown(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "*" + n.Value
	}
	if n.Value == "" {
		return "nothing"
	}
	return strconv.Quote(n.Value)
}
