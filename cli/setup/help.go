package setup

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// The parts of the setup that belong to no agent, as --only and --except name them.
const (
	service    = "service"
	completion = "completion"
	man        = "man"
)

var parts = []string{service, completion, man}

// manPage is what setup calls the part man.
const manPage = "manual page"

// helpTexts make what setup installs for those who type commands.
type helpTexts struct {
	root   func() *cobra.Command // the program
	manual func(*cobra.Command) string
}

// edits returns the manual page, and the completion for the person's shell, as files in
// the folders where man and the shell look by themselves. What a package installed for
// all users of the machine, as there reports, is left out.
func (h helpTexts) edits(m computer, there func(path string) bool) (all []fileEdit) {
	if m.OS == "windows" {
		return nil
	}
	add := func(what, base string, below []string, text string) {
		name := filepath.Join(below...)
		for _, dir := range []string{"/usr/share", "/usr/local/share", "/opt/homebrew/share"} {
			if there(filepath.Join(dir, name)) || there(filepath.Join(dir, name+".gz")) {
				return
			}
		}
		all = append(all, fileEdit{What: what, Path: filepath.Join(base, name), Text: text})
	}
	data := m.at("XDG_DATA_HOME", ".local/share")
	add(manPage, data, []string{"man", "man1", "skein.1"}, h.manual(h.root()))
	var script bytes.Buffer
	switch m.shell() {
	case "bash":
		if h.root().GenBashCompletionV2(&script, true) == nil {
			add(completion, data, []string{"bash-completion", "completions", "skein"}, script.String())
		}
	case "fish":
		if h.root().GenFishCompletion(&script, true) == nil {
			add(completion, m.Config, []string{"fish", "completions", "skein.fish"}, script.String())
		}
	}
	return all
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// part returns the part of the setup that a change belongs to.
func (c *fileEdit) part() string {
	switch {
	case c.Agent != "":
		return c.Agent
	case c.What == manPage:
		return man
	case c.What == completion:
		return completion
	}
	return service
}

// shell returns the name of the person's shell, without the folder; "" if not known.
func (m computer) shell() string { return filepath.Base(m.Env("SHELL")) }
