package archtest

import (
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var flagName = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)

// TestWhatIsDeployedExists looks at the commands in the files that people copy:
// each flag must stand in the reference of the command that has it.
func TestWhatIsDeployedExists(t *testing.T) {
	reference := read(t, "docs/commands.md")
	for _, name := range []string{"deploy/compose.yaml", "deploy/skein.service", "docs/postgres.md"} {
		text := strings.ReplaceAll(read(t, name), "\\\n", " ")
		for line := range strings.Lines(text) {
			_, command, ok := strings.Cut(line, "skein ")
			if name == "deploy/compose.yaml" {
				_, command, ok = strings.Cut(line, "command: ")
			}
			verb, rest, _ := strings.Cut(strings.TrimSpace(command), " ")
			_, section, known := strings.Cut(reference, "\n## skein "+verb+"\n")
			sub, _, _ := strings.Cut(rest, " ")
			if _, its, is := strings.Cut(reference, "\n## skein "+verb+" "+sub+"\n"); is && sub != "" {
				verb, section = verb+" "+sub, its
			}
			if !ok || !known || verb == "" {
				continue
			}
			section, _, _ = strings.Cut(section, "\n## ")
			for _, f := range flagName.FindAllStringSubmatch(command, -1) {
				if !strings.Contains(section, "--"+f[1]) {
					t.Errorf("%s: %s: skein %s has no flag --%s", name, strings.TrimSpace(line), verb, f[1])
				}
			}
		}
	}
}

func TestComposeIsYAML(t *testing.T) {
	var c struct {
		Services map[string]struct {
			Command string
			Build   struct{ Dockerfile string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	if s := c.Services["skein"]; !strings.HasPrefix(s.Command, "serve ") || read(t, s.Build.Dockerfile) == "" {
		t.Errorf("deploy/compose.yaml: the service skein is %+v, want one that serves", s)
	}
}
