package roster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/store/memory"
)

// ready assembles the agent of the file called name.
func ready(t *testing.T, dir, name string) (*Team, error) {
	t.Helper()
	r := New(Options{})
	d, err := r.Definition(name, dir)
	if err != nil {
		t.Fatal(err)
	}
	return r.Ready(t.Context(), d, "echo")
}

// TestAgentsThatAllNameEachOtherAreTooMany: they would be assembled once for
// each path from one to another, with all their servers.
func TestAgentsThatAllNameEachOtherAreTooMany(t *testing.T) {
	for n, want := range map[int]error{4: nil, 20: skein.ErrInvalid} {
		files, names := map[string]string{}, []string{}
		for i := range n {
			names = append(names, fmt.Sprintf("a%d.md", i))
		}
		for _, name := range names {
			files[name] = "---\ntools: []\nsubagents: [" + strings.Join(names, ", ") + "]\n---\n"
		}
		team, err := ready(t, write(t, files), "a0.md")
		if !errors.Is(err, want) {
			t.Errorf("Ready(one of %d that name each other) = %v, want %v", n, err, want)
		}
		if err == nil {
			_ = team.Close()
		}
	}
}

func TestASubagentOfAgentUsesIsGivenItsTask(t *testing.T) {
	dir := write(t, map[string]string{
		"lead.md":        "---\ntools: []\nsubagents: [check.agentuse]\n---\n",
		"check.agentuse": "Check the links.",
	})
	team, err := ready(t, dir, "lead.md")
	if err != nil {
		t.Fatal(err)
	}
	defer team.Close()
	store := memory.New()
	th, err := agent.Open(t.Context(), agent.Options{Store: store, Agent: team.Agent})
	if err != nil {
		t.Fatal(err)
	}
	out, err := th.Turn(t.Context(), skein.UserSays(`echo: call delegate {"agent": "check", "task": "In README.md."}`))
	if err != nil || !slices.Equal(strings.Fields(out.Text), strings.Fields("Check the links. In README.md.")) {
		t.Errorf("Turn = %q, %v, want what the subagent was told: its file's task and the one it was handed", out.Text, err)
	}
}
