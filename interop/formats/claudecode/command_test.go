package claudecode

import (
	"testing"

	"github.com/skein-dev/skein"
)

// A command with arguments is what the user typed.
func TestCommandIsAPromptIfItHasArguments(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		ok               bool
	}{
		{"with arguments", "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the parser\nand its tests</command-args>", "/review the parser\nand its tests", true},
		{"name first", "<command-name>/dataviz</command-name>\n   <command-message>dataviz</command-message>\n  <command-args> draw it </command-args>", "/dataviz draw it", true},
		{"without", "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>", "", false},
		{"the program's own", "<command-name>/model</command-name><command-args>opus</command-args>", "", false},
		{"not closed", "<command-name>/review</command-name><command-args>the parser", "", false},
		{"typed by hand", "what does <command-name>/x</command-name><command-args>y</command-args> mean?", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := command(&making{}, []skein.Part{skein.TextPart(c.text)})
			if got != c.want || ok != c.ok {
				t.Errorf("command(%q) = %q, %v, want %q, %v", c.text, got, ok, c.want, c.ok)
			}
		})
	}
}
