package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/skein-dev/skein"
)

// AllowIn returns the TOML text with tool added to what is allowed in project. The
// error says that the text has a form that it cannot add to.
func AllowIn(text, project, tool string) (string, error) {
	before, err := Tables(text)
	if err != nil {
		return "", err
	}
	allowed := allowedIn(before, project)
	if slices.Contains(allowed, tool) {
		return text, nil
	}
	edited := insertAllowed(text, project, tool)
	after, err := Tables(edited)
	if err != nil {
		return "", err
	}
	// The edited file must now say this, and otherwise what it said before.
	if !slices.Equal(allowedIn(after, project), append(allowed, tool)) {
		return "", errors.New("the file is written in a form that skein cannot extend")
	}
	forget(before, project)
	forget(after, project)
	if !reflect.DeepEqual(before, after) {
		return "", errors.New("the file is written in a form that skein cannot extend")
	}
	return edited, nil
}

// insertAllowed adds tool to the list allow of the project's table, and adds the
// list or the table if it is missing.
func insertAllowed(text, project, tool string) string {
	lines := strings.SplitAfter(text, "\n")
	head := slices.IndexFunc(lines, func(l string) bool { return isTable(l, project) })
	if head < 0 {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if text != "" {
			text += "\n"
		}
		return text + fmt.Sprintf("[project.%s]\nallow = [%s]\n", TomlText(project), TomlText(tool))
	}
	for i := head + 1; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), "["); i++ {
		name, list, ok := strings.Cut(lines[i], "=")
		end := strings.LastIndex(list, "]")
		if !ok || strings.TrimSpace(name) != "allow" || end < 0 {
			continue
		}
		comma := ", "
		if inner := strings.TrimSpace(list[strings.Index(list, "[")+1 : end]); inner == "" || strings.HasSuffix(inner, ",") {
			comma = ""
		}
		lines[i] = name + "=" + list[:end] + comma + TomlText(tool) + list[end:]
		return strings.Join(lines, "")
	}
	if !strings.HasSuffix(lines[head], "\n") {
		lines[head] += "\n"
	}
	lines[head] += fmt.Sprintf("allow = [%s]\n", TomlText(tool))
	return strings.Join(lines, "")
}

// isTable reports whether line begins the table of project.
func isTable(line, project string) bool {
	if !strings.HasPrefix(strings.TrimSpace(line), "[") {
		return false
	}
	var top struct {
		Project map[string]map[string]any `toml:"project"`
	}
	if err := toml.Unmarshal([]byte(line), &top); err != nil {
		return false
	}
	_, ok := top.Project[project]
	return ok
}

// Tables returns the tables of a TOML file. The error says where it is not TOML.
func Tables(text string) (top map[string]any, err error) {
	err = toml.Unmarshal([]byte(text), &top)
	return top, err
}

// allowedIn returns which tools top allows in project.
func allowedIn(top map[string]any, project string) (names []string) {
	projects, _ := top["project"].(map[string]any)
	table, _ := projects[project].(map[string]any)
	list, _ := table["allow"].([]any)
	for _, name := range list {
		names = append(names, fmt.Sprint(name))
	}
	return names
}

// forget removes from top what it allows in project, and tables that are then
// empty.
func forget(top map[string]any, project string) {
	projects, _ := top["project"].(map[string]any)
	table, _ := projects[project].(map[string]any)
	delete(table, "allow")
	if len(table) == 0 {
		delete(projects, project)
	}
	if len(projects) == 0 {
		delete(top, "project")
	}
}

// TomlText quotes s for TOML, which has the same escapes as JSON.
func TomlText(s string) string { return string(skein.AppendQuoted(nil, s)) }

// ReplaceFile replaces a file of the person's own atomically; its mode stays.
//
// The error is that of the file system.
func ReplaceFile(path string, text []byte) (err error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".skein-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
