package roster

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// server parses one entry of mcp_servers.
func (p *parser) server(name string, k, v *yaml.Node) error {
	s := Server{Name: name}
	err := p.pairs(v, "mcp server "+name, func(key string, k, v *yaml.Node) (err error) {
		switch key {
		case "command":
			s.Command, err = p.text(key, v)
		case "args":
			s.Args, err = p.list(key, v)
		case "env":
			s.Env, err = p.texts(key, v)
		case "url":
			s.URL, err = p.text(key, v)
		case "headers":
			s.Headers, err = p.texts(key, v)
		case "type", "transport": // implied by whether there is a command
		case "requiredEnvVars", "allowedEnvVars": // AgentUse: variables that it passes on
			err = p.handOn(&s, key, v)
		default:
			p.note(k, "mcp server %s: %s: unknown setting", name, key)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case (s.Command == "") == (s.URL == ""):
		return p.wrong(k, "mcp server %s: want a command or a url", name)
	}
	p.to.Servers = append(p.to.Servers, s)
	return nil
}

// handOn parses the names of variables that a server gets from the environment.
func (p *parser) handOn(s *Server, key string, v *yaml.Node) error {
	names, err := p.list(key, v)
	for _, name := range names {
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		s.Env[name] = "${" + name + "}"
	}
	return err
}

// texts parses a mapping whose values are texts or numbers.
func (p *parser) texts(key string, v *yaml.Node) (map[string]string, error) {
	all := map[string]string{}
	err := p.pairs(v, key, func(name string, _, v *yaml.Node) (err error) {
		all[name], err = p.text(key+" "+name, v)
		return err
	})
	return all, err
}

// subagents parses a list of names, paths, or objects of path and name.
func (p *parser) subagents(v *yaml.Node) error {
	if v.Kind != yaml.SequenceNode {
		return p.wrong(v, "subagents: want a list, got %s", shown(v))
	}
	for _, item := range v.Content {
		var s Subagent
		if item.Kind == yaml.MappingNode {
			err := p.pairs(item, "subagents", func(key string, k, v *yaml.Node) (err error) {
				switch key {
				case "path":
					s.Path, err = p.text(key, v)
				case "name":
					s.Name, err = p.text(key, v)
				default:
					p.note(k, "subagents: %s: unknown setting", key)
				}
				return err
			})
			if err != nil {
				return err
			}
		} else {
			path, err := p.text("subagents", item)
			if err != nil {
				return err
			}
			s.Path = path
		}
		if s.Path == "" {
			s.Path = s.Name
		}
		if s.Path == "" {
			return p.wrong(item, "subagents: want a path or a name")
		}
		p.to.Subagents = append(p.to.Subagents, s)
	}
	return nil
}

// tools parses the names of tools or, in AgentUse's format, an object of
// groups.
func (p *parser) tools(v *yaml.Node) (err error) {
	if v.Kind != yaml.MappingNode {
		p.to.Tools, err = p.list("tools", v)
		return err
	}
	p.to.Tools = []string{}
	return p.pairs(v, "tools", func(key string, k, v *yaml.Node) error {
		switch key {
		case "filesystem":
			return p.filesystem(k, v)
		case "bash":
			p.note(k, "tools: bash: its list of commands is ignored; the tool shell asks before it runs")
			p.to.Tools = append(p.to.Tools, "shell")
		default:
			p.note(k, "tools: %s: unknown setting", key)
		}
		return nil
	})
}

// filesystem takes over the rights on files of an AgentUse agent, but not the
// list of files.
func (p *parser) filesystem(k, v *yaml.Node) error {
	if v.Kind != yaml.SequenceNode {
		return p.wrong(v, "tools: filesystem: want a list, got %s", shown(v))
	}
	p.note(k, "tools: filesystem: its paths are ignored; tools ask before they use files outside the session's folder")
	for _, item := range v.Content {
		err := p.pairs(item, "filesystem", func(key string, _, v *yaml.Node) error {
			if key != "permissions" {
				return nil
			}
			rights, err := p.list(key, v)
			if slices.Contains(rights, "read") {
				p.add("read_file", "list_files", "search_files")
			}
			if slices.Contains(rights, "write") {
				p.add("write_file")
			}
			if slices.Contains(rights, "edit") {
				p.add("edit_file")
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds tools that are not in the list yet.
func (p *parser) add(names ...string) {
	for _, name := range names {
		if !slices.Contains(p.to.Tools, name) {
			p.to.Tools = append(p.to.Tools, name)
		}
	}
}
