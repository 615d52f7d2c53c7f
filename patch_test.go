package skein

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestPathsOfAPatchAreFound(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: a/b.go\n*** Move to: a/c.go\r\n@@\n-x\n+*** Add File: no\n*** Delete File: d.go\n*** Add File: \n*** End Patch\n"
	want := []string{"a/b.go", "a/c.go", "d.go"}
	for name, input := range map[string]json.RawMessage{
		"text":      MustJSON(patch),
		"a command": MustJSON(map[string]any{"command": []string{"apply_patch", patch}}),
	} {
		f, err := FactsOf(Say(0, Message{Role: RoleAssistant, Parts: []Part{{Kind: PartCall, Call: &Call{ID: "c", Name: "apply_patch", Input: input}}}}))
		if err != nil || !slices.Equal(f.Paths, want) {
			t.Errorf("FactsOf(patch as %s) finds the paths %q and gives the error %v, want %q", name, f.Paths, err, want)
		}
	}
	if got := patchPaths("*** Add File: x\n"); got != nil {
		t.Errorf("patchPaths(no patch) gives %q, want none", got)
	}
}
