package write

import (
	"os/exec"
	"runtime"
	"testing"

	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/terminal"
)

func TestTheCommandToGoOnIsOneThatAShellTakes(t *testing.T) {
	for _, c := range []struct {
		r             resumption
		unix, windows string
	}{
		{resumption{[]string{"codex", "resume", "0199-a"}, ""}, "codex resume 0199-a", "codex resume 0199-a"},
		{resumption{[]string{"agsh", "-s", "a b"}, "/home/o'neil"}, `cd '/home/o'\''neil' && agsh -s 'a b'`, "cd \"/home/o'neil\"\nagsh -s \"a b\""},
		{resumption{[]string{"x", "~a", "", "$(rm)"}, "-d"}, `cd -- -d && x '~a' '' '$(rm)'`, "cd -- -d\nx ~a \"\" \"$(rm)\""},
		{resumption{[]string{"x", "a=b,c"}, `C:\a b`}, `cd 'C:\a b' && x 'a=b,c'`, "cd \"C:\\a b\"\nx a=b,c"},
		{resumption{[]string{"x"}, "/a\nb"}, "cd '/a\nb' && x", "cd \"/a\nb\"\nx"},
	} {
		if got := c.r.line("linux"); got != c.unix {
			t.Errorf("line(linux) of %q = %s, want %s", c.r, got, c.unix)
		}
		if got := c.r.line("windows"); got != c.windows {
			t.Errorf("line(windows) of %q = %s, want %s", c.r, got, c.windows)
		}
	}
}

func TestAQuotedWordIsWhatItWas(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no POSIX shell")
	}
	for _, word := range []string{"", "a b", "o'neil", `"`, `\`, "$HOME", "`id`", "~", "*", "a\nb", "!!", "ä", "-n;", "a=b", "#x", "\\'"} {
		out, err := exec.Command("sh", "-c", "printf %s "+terminal.ShellWord(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("sh makes %q of %s (%v), want %q", out, terminal.ShellWord(word), err, word)
		}
	}
}

func TestAnAgentIsFoundByWhatPeopleCallIt(t *testing.T) {
	for name, want := range map[string]string{
		"claude": "claude-code", "Claude Code": "claude-code", "claudecode": "claude-code", "codex": "codex", "Codex-CLI": "codex",
		"amplifier": "amplifier", "cl": "", "nobody": "", "": "",
	} {
		f, err := exchange.Called("--to", name)
		if f.Name != want || (err == nil) != (want != "") {
			t.Errorf("formatCalled(%q) = %q, %v; want %q", name, f.Name, err, want)
		}
	}
}
