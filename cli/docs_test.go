package cli

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/store/memory"
)

// reference is the page that is generated from the commands' help.
const reference = "../docs/commands.md"

func TestTheReferenceSaysWhatTheHelpSays(t *testing.T) {
	env, _, _ := clitest.NewEnv(t, memory.New())
	root := newRoot(&job.Frame{Env: env})
	h := terminal.HelpText{Width: 80}
	var b strings.Builder
	b.WriteString("# Commands\n\nMade from the commands' help: `go test ./cli -update`.\n\n```\n" + of(h, root) + "```\n")
	for _, c := range withParts(root) {
		b.WriteString("\n## " + c.CommandPath() + "\n\n```\n" + of(h, c) + "```\n")
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(reference), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(reference, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), b.String()); diff != "" {
		t.Errorf("%s is not what the help says (-page +help); go test ./cli -update writes it:\n%s", reference, diff)
	}
}

// withParts returns the commands of c that help lists, each before its subcommands.
func withParts(c *cobra.Command) (all []*cobra.Command) {
	for _, sub := range inOrder(c) {
		if sub.IsAvailableCommand() {
			all = append(append(all, sub), withParts(sub)...)
		}
	}
	return all
}

// Every command says what it does, in lines that fit on a terminal.
func TestEveryCommandHasHelpThatFits(t *testing.T) {
	env, _, _ := clitest.NewEnv(t, memory.New())
	root := newRoot(&job.Frame{Env: env})
	for _, c := range append(withParts(root), root) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: Short = %q, want a few words without a full stop", c.CommandPath(), c.Short)
		}
		for _, width := range []int{40, 80, 200} {
			for line := range strings.SplitSeq(of(terminal.HelpText{Width: width}, c), "\n") {
				if n := len([]rune(line)); n > width {
					t.Errorf("%s --help in %d columns has a line of %d: %s", c.CommandPath(), width, n, line)
				}
			}
		}
	}
}
