package repository

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A gitConfig holds what Git's configuration says about remotes.
type gitConfig struct {
	urls    map[string]string // by remote
	tracks  map[string]string // remote by branch
	instead []rewrite
	order   []string // of remotes
}

// A rewrite is a shorter name for the beginning of addresses.
type rewrite struct{ short, base string }

// config reads the repository's configuration, and the user's, which may have
// short names for addresses. Included files are not read.
func (r *repo) config() (gitConfig, error) {
	c := gitConfig{urls: map[string]string{}, tracks: map[string]string{}}
	var errs []error
	for _, name := range append(userConfigs(), filepath.Join(r.common, "config")) {
		b, err := small(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		parseConfig(string(b), c.add)
	}
	return c, errors.Join(errs...)
}

// userConfigs returns the paths of the user's configuration.
func userConfigs() (all []string) {
	if name, set := os.LookupEnv("GIT_CONFIG_GLOBAL"); set {
		if name == "" || name == os.DevNull {
			return nil
		}
		return []string{name}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	xdg := os.Getenv("XDG_CONFIG_HOME")
	if xdg == "" {
		xdg = filepath.Join(home, ".config")
	}
	return []string{filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig")}
}

func (c *gitConfig) add(section, sub, key, value string) {
	switch section + "." + key {
	case "remote.url":
		if _, is := c.urls[sub]; !is { // the first is fetched from
			c.urls[sub] = value
			c.order = append(c.order, sub)
		}
	case "branch.remote":
		c.tracks[sub] = value
	case "url.insteadof":
		c.instead = append(c.instead, rewrite{value, sub})
	}
}

// remote returns the identity of the remote that a repository is known by:
// origin, else the one that the branch tracks, else the first one that has an
// address.
func (c *gitConfig) remote(branch string) ID {
	for _, name := range append([]string{"origin", c.tracks[branch]}, c.order...) {
		if id := Normalize(c.expand(c.urls[name])); id != "" {
			return id
		}
	}
	return ""
}

// expand replaces the longest short name that an address begins with.
func (c *gitConfig) expand(url string) string {
	fits := slices.DeleteFunc(slices.Clone(c.instead), func(r rewrite) bool { return r.short == "" || !strings.HasPrefix(url, r.short) })
	if len(fits) == 0 {
		return url
	}
	best := slices.MaxFunc(fits, func(a, b rewrite) int { return len(a.short) - len(b.short) })
	return best.base + url[len(best.short):]
}

// parseConfig calls set for each variable of a configuration file. Sections and
// keys are in lower case, subsections as they are. A line that is not of the
// format is passed over.
func parseConfig(text string, set func(section, sub, key, value string)) {
	var section, sub string
	for text != "" {
		line := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section, sub, line = header(line)
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, rest, has := strings.Cut(line, "=")
		value := "true"
		if has {
			value, text = configValue(strings.TrimLeft(rest, " \t"), text)
		}
		if key = strings.ToLower(strings.TrimSpace(key)); section != "" {
			set(section, sub, key, value)
		}
	}
}

// header reads [section "sub"] and returns what follows it.
func header(line string) (section, sub, rest string) {
	quoted := false
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quoted:
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ']' && !quoted:
			section, sub, _ = strings.Cut(line[1:i], " ")
			sub = strings.TrimSpace(sub)
			if inner, ok := strings.CutPrefix(sub, `"`); ok {
				sub = unescape.Replace(strings.TrimSuffix(inner, `"`))
			} else if before, after, ok := strings.Cut(section, "."); ok { // an old form
				section, sub = before, strings.ToLower(after)
			}
			return strings.ToLower(section), sub, strings.TrimSpace(line[i+1:])
		}
	}
	return "", "", ""
}

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// configValue reads a value, which may continue in the next lines, and returns
// the lines after it.
func configValue(line, next string) (value, rest string) {
	var b strings.Builder
	quoted := false
	end := 0 // of the value without the spaces behind it
	for i := 0; ; i++ {
		if i >= len(line) {
			break
		}
		switch ch := line[i]; {
		case ch == '\\' && i+1 == len(line):
			var more string
			more, next, _ = strings.Cut(next, "\n")
			line, i = strings.TrimSuffix(more, "\r"), -1
		case ch == '\\':
			i++
			b.WriteByte(escaped(line[i]))
			end = b.Len()
		case ch == '"':
			quoted = !quoted
			end = b.Len()
		case (ch == '#' || ch == ';') && !quoted:
			return b.String()[:end], next
		default:
			if b.WriteByte(ch); quoted || ch != ' ' && ch != '\t' {
				end = b.Len()
			}
		}
	}
	return b.String()[:end], next
}

func escaped(ch byte) byte {
	switch ch {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return ch
}
