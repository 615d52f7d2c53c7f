package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAllowingAToolChangesNothingElseInTheFile(t *testing.T) {
	const project = `/home/ada/api "x"`
	head := `[project."/home/ada/api \"x\""]` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"no file":        {"", head + `allow = ["shell"]` + "\n"},
		"no table":       {"color = \"never\" # mine", "color = \"never\" # mine\n\n" + head + `allow = ["shell"]` + "\n"},
		"no list":        {head + "# nothing yet\n\n[[price]]\nmodel = \"m\"\n", head + `allow = ["shell"]` + "\n# nothing yet\n\n[[price]]\nmodel = \"m\"\n"},
		"an empty list":  {head + "allow = []\n", head + "allow = [\"shell\"]\n"},
		"a list":         {head + "  allow = [ 'files' ] # these\n[a]\nb = 1\n", head + "  allow = [ 'files' , \"shell\"] # these\n[a]\nb = 1\n"},
		"there already":  {head + "allow = ['shell']", head + "allow = ['shell']"},
		"other project":  {"[project.b]\nallow = ['x']\n", "[project.b]\nallow = ['x']\n\n" + head + `allow = ["shell"]` + "\n"},
		"literal quotes": {"[ project . '/home/ada/api \"x\"' ]\nallow = [\"a\",]\n", "[ project . '/home/ada/api \"x\"' ]\nallow = [\"a\",\"shell\"]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := AllowIn(c.text, project, "shell")
			if err != nil {
				t.Fatalf("allowIn(%q) = %v", c.text, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("allowIn(%q) (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

// A file that cannot be edited safely is left alone.
func TestAllowingAToolLeavesAStrangeFileAlone(t *testing.T) {
	for _, text := range []string{
		"[project.\"/p\"]\nallow = [\n  \"a\",\n]\n",
		"project = {\"/p\" = {allow = [\"a\"]}}\n",
		"project.\"/p\".allow = [\"a\"]\n",
		"[project.\"/p\"]\nallow = [\"]\"] # ]\n",
		"[broken\n",
	} {
		if got, err := AllowIn(text, "/p", "shell"); err == nil {
			t.Errorf("allowIn(%q) = %q, want an error", text, got)
		}
	}
}
