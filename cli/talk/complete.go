package talk

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/read"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/render"
)

// complete returns the completions at byte at of the text being typed: commands and
// their arguments, and after @ paths and agents.
func (c *chat) complete(text string, at int) screen.Completion {
	typed := text[:at]
	if i := mentioned(typed); i >= 0 {
		return screen.Completion{From: i, Words: c.mentionable(typed[i+1:])}
	}
	if !strings.HasPrefix(typed, "/") || strings.Contains(typed, "\n") {
		return screen.Completion{}
	}
	name, args, ok := strings.Cut(typed, " ")
	if !ok {
		return screen.Completion{Words: slashWords(typed)}
	}
	for _, s := range slashes() {
		if s.words != nil && (s.name == name[1:] || slices.Contains(s.also, name[1:])) {
			return screen.Completion{From: len(name) + 1, Words: s.words(context.Background(), c, args)}
		}
	}
	return screen.Completion{}
}

// mentionable returns the paths and agents that begin with typed.
func (c *chat) mentionable(typed string) (words []screen.Word) {
	dir, base := filepath.Split(typed)
	in := config.FromHome(dir, c.Dirs.Home)
	if !filepath.IsAbs(in) {
		in = filepath.Join(c.thread.Cwd(), in)
	}
	files, err := os.ReadDir(in)
	if err != nil {
		files = nil // nothing to offer
	}
	for _, f := range files {
		name := f.Name()
		if !strings.HasPrefix(name, base) || strings.HasPrefix(name, ".") && base == "" || strings.ContainsAny(name, " \"") || render.Line(name) != name {
			continue
		}
		if f.IsDir() {
			name += "/"
		}
		words = append(words, screen.Word{Text: "@" + dir + name})
	}
	for _, w := range agentWords(context.Background(), c, typed) {
		words = append(words, screen.Word{Text: "@" + w.Text, About: w.About})
	}
	return words
}

// agentWords returns the agents whose names begin with typed.
func agentWords(_ context.Context, c *chat, typed string) (words []screen.Word) {
	found, _, err := c.thread.Roster.Definitions()
	if err != nil {
		return nil // there is no place to show an error
	}
	for _, d := range found {
		if strings.HasPrefix(d.Name, typed) {
			words = append(words, screen.Word{Text: d.Name, About: d.Description})
		}
	}
	return words
}

// modelWords returns the models that have answered before, and the providers.
func modelWords(ctx context.Context, c *chat, typed string) (words []screen.Word) {
	var names []string
	found, err := sessions.Matching(ctx, c.Job, skein.Filter{Limit: sessions.Most})
	if err != nil {
		found = nil
	}
	for i := range found {
		if s := &found[i]; s.Origin == nil {
			names = append(names, thread.OwnModel(s))
		}
	}
	for _, p := range c.thread.Roster.Providers() {
		names = append(names, p+":")
	}
	names = append(names, "echo")
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		if n != "" && strings.HasPrefix(n, typed) {
			words = append(words, screen.Word{Text: n})
		}
	}
	return words
}

// sessionWords returns the sessions whose names match typed.
func sessionWords(ctx context.Context, c *chat, typed string) (words []screen.Word) {
	found, err := sessions.Matching(ctx, c.Job, skein.Filter{NoChildren: true, Limit: sessions.Most})
	if err != nil {
		return nil
	}
	for _, w := range sessions.NamesOf(found, typed) {
		name, about, _ := strings.Cut(w, "\t")
		words = append(words, screen.Word{Text: name, About: about})
	}
	return words
}

// formatWords returns the formats that a session can be exported to.
func formatWords(_ context.Context, c *chat, typed string) (words []screen.Word) {
	for _, f := range read.ExportNames {
		if strings.HasPrefix(f, typed) {
			words = append(words, screen.Word{Text: f})
		}
	}
	return words
}

// mentioned returns the index of the @ that begins the last word of typed; -1 if it
// has none.
func mentioned(typed string) int {
	i := strings.LastIndexAny(typed, " \t\n(") + 1
	if strings.HasPrefix(typed[i:], "@") {
		return i
	}
	return -1
}

func slashWords(typed string) (words []screen.Word) {
	for _, s := range slashes() {
		for _, n := range append([]string{s.name}, s.also...) {
			if strings.HasPrefix("/"+n, typed) {
				words = append(words, screen.Word{Text: "/" + n, About: s.doc})
				break
			}
		}
	}
	return words
}
