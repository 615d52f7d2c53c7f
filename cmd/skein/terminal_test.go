//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestAThreadIsThereTomorrow(t *testing.T) {
	p := newPane(t, 80, 40)
	p.chat("--model echo")
	p.enter("Hello **there**")
	p.await(`^Hello there$`)
	p.await(`^session [0-9a-f-]{36}$`)
	s := p.leave()
	id := regexp.MustCompile(`Resume with: skein chat -r ([0-9a-f]{8})`).FindStringSubmatch(s)
	if id == nil {
		t.Fatalf("after Ctrl-D the screen is\n%s\nwant how to resume", s)
	}

	p.clear()
	p.chat("") // in the same folder: the same thread and model
	p.await(`^Hello \*\*there\*\* · echo ·`)
	p.await(`^You · turn 1 · `)
	p.enter("and a second one")
	p.await(`^and a second one$`)
	p.leave()

	p.clear()
	p.chat("-r " + id[1] + " --no-history")
	p.enter("/rename The first talk")
	p.await(`^this session is now "The first talk"$`)
	p.enter("/fork 1 The other way")
	p.await(`^this is now the fork [0-9a-f]{8}; back to the other session: /resume ` + id[1])
	p.enter("in the fork")
	p.await(`^in the fork$`)
	p.enter("/sessions")
	p.await(`The first talk .* 2 `)
	p.await(`The other way .* 2 `)
	p.enter("/resume first talk")
	p.await(`^The first talk · echo`)
	p.enter("/usage")
	p.await(`^messages  4 in 2 turns$`)
	p.leave()

	p.clear()
	p.enter("skein replay " + id[1] + " --speed 1000")
	p.await(`^You · turn 2 `)
	p.await(`^and a second one\n\$ *\z`)
	p.clear()
	p.enter("skein chat -r " + id[1] + " --replay --replay-speed 0.001")
	p.await(`^\(replay: the space bar pauses`)
	p.keys("Space")
	p.await(`^You · turn 1 (.*\n)+Hello`)
	p.keys("C-c") // show the rest at once
	p.await(`^You · turn 2 (.*\n)+\n❯ *\z`)
	p.leave()
}

func TestCtrlCStopsAnAnswerAndTwiceLeaves(t *testing.T) {
	p := newPane(t, 80, 30)
	p.chat("--model echo")
	p.enter("echo: slow 600s echo: words 1200")
	p.await(`^word word`)
	p.await(`answering · \d+s · .*tokens · Ctrl-C stops`)
	p.keys("C-c")
	p.await(`^\(stopped; what was complete is kept`)
	p.prompt()
	p.enter("still there")
	p.await(`^still there$`)
	p.prompt()
	p.keys("C-c")
	p.await(`^Ctrl-C again, or Ctrl-D, leaves`)
	p.prompt() // the first one is forgotten: the test must not depend on how fast the machine is
	p.keys("C-c", "C-c")
	p.await(`Resume with: .*\n\$ *\z`)
	p.code(0)

	p.clear()
	p.chat("")
	p.enter("echo: slow 600s echo: words 1200")
	p.await(`^word word`)
	p.keys("C-c", "C-c")
	p.await(`Resume with: .*\n\$ *\z`)
	p.clear()
	p.chat("--no-history")
	p.await(`^the last prompt has no answer yet: /retry`)
	p.leave()
}

func TestAPasteOfManyLinesIsOneMessage(t *testing.T) {
	p := newPane(t, 80, 30)
	p.chat("--model echo")
	p.paste("one\ntwo 東京\n\nfour")
	p.await(`^  two 東京\n\s*\n  four *\z`)
	p.keys("Up", "Up", "C-e")
	p.enter("!") // in the middle of the text
	p.await(`^  two 東京!\n\s*\n  four\n`)
	p.prompt()
	p.enter("/usage")
	p.await(`^messages  2 in 1 turn$`)
	p.enter(`/history`)
	p.await(`^You · turn 1 .*\n\n(.*\n)*two 東京!`)
	p.prompt()

	// Three ways to start a new line.
	p.tmux("send-keys", "-t", "p", "-l", "first")
	p.keys("M-Enter")
	p.tmux("send-keys", "-t", "p", "-l", "second")
	p.keys("C-j")
	p.enter(`third\`)
	p.enter("fourth")
	p.await(`^❯ first\n  second\n  third\n  fourth\n`)
	p.prompt()
	p.keys("Up") // the history has them as one entry
	p.await(`^❯ first\n  second\n  third\n  fourth *\z`)
	p.keys("C-c")
	p.leave()
}

func TestATerminalMayChangeItsWidth(t *testing.T) {
	p, goOn := heldPane(t, 100, 40, strings.TrimSpace(strings.Repeat("word ", 120)))
	p.chat("--model echo")
	p.enter("Some **words** that make a paragraph which is longer than the narrowest terminal is wide, and no longer.")
	p.await(`^Some words that`)
	p.prompt()
	const typed = "typing 東京 what is longer than every terminal but the widest, as wide as it is, by far"
	p.keys("-l", typed)
	p.await(`by far *\z`)
	// Each new size waits for the lines of the one before: a terminal that changes its
	// width while the program draws cannot be drawn on rightly.
	for _, now := range []struct {
		width int
		last  string // the last line as the program draws it, not as the terminal wraps it
	}{{80, `  is, by far`}, {60, `  dest, as wide as it is, by far`}, {40, `  it is, by far`}, {120, `❯ ` + typed}} {
		p.resize(now.width)
		p.await(`^` + now.last + ` *\z`)
	}
	s := p.await(`❯ ` + typed)
	if n := strings.Count(s, "typing"); n != 1 {
		t.Errorf("after resizing the prompt is there %d times, want once:\n%s", n, s)
	}
	p.keys("C-u")
	p.prompt()

	// While an answer arrives.
	p.enter("/model " + heldModel)
	p.await(heldModel + `(.*\n)+❯\s*\z`)
	p.enter("so many words")
	p.await(`answering`)
	p.resize(50)
	p.resize(90)
	goOn()
	p.await(`^❯ so many words\n(.*\n)*word(.*\n)*❯\s*\z`)
	s = p.prompt()
	_, after, _ := strings.Cut(s, "so many words")
	if n := strings.Count(after, "word"); n != 120 {
		t.Errorf("resized while it came, the answer has %d words, want 120:\n%s", n, s)
	}
	if strings.Contains(after, "answering") {
		t.Errorf("what was said while waiting is still there:\n%s", s)
	}
	p.leave()
}

func TestAToolAsksFirst(t *testing.T) {
	p := newPane(t, 80, 40)
	p.chat("--model echo")
	p.enter(`echo: call shell {"command": "echo one > f; echo done"}`)
	p.await(`^\[y\] yes  \[n\] no  \[a\] always in this project`)
	p.keys("n")
	p.await(`→ no$`)
	p.prompt()
	if _, err := os.Stat(filepath.Join(p.work, "f")); err == nil {
		t.Error("the person said no, and the command ran")
	}
	p.enter(`echo: call shell {"command": "echo one > f; echo done"}`)
	p.await(`^\[y\] yes.*\s*\z`)
	p.keys("x", "a")
	p.await(`^  ✓ shell echo one > f; echo done`)
	p.prompt()
	p.enter(`echo: call shell {"command": "cat f"} echo: then echo: say over`)
	p.await(`^  ✓ shell cat f`) // always
	p.await(`^over$`)
	p.prompt()
	p.keys("C-o")
	p.await(`^┌ shell cat f\n(│.*\n)*├╴\n│ one\n└`)
	p.leave()
}

func TestTabCompletes(t *testing.T) {
	p := newPane(t, 80, 30)
	if err := os.WriteFile(filepath.Join(p.work, "parser.go"), []byte("package parser\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	agents := filepath.Join(p.work, ".skein", "agents")
	if err := os.MkdirAll(agents, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(agents, "reviewer.md"), []byte("---\nname: reviewer\ndescription: reads\n---\nYou review.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.chat("--model echo")
	p.enter("hello")
	p.await(`^hello$`)
	p.prompt()
	p.keys("/", "h", "Tab")
	p.await(`^  /history  show`)
	p.await(`^  /help  `)
	p.keys("Tab", "Tab")
	p.await(`^› /help `)
	p.keys("Enter", "Enter")
	p.await(`^@PATH, @PATH:10-20 `)
	p.prompt()
	p.keys("-l", "look at @pa")
	p.keys("Tab")
	p.await(`^❯ look at @parser.go`)
	p.keys("C-u")
	for _, c := range [][2]string{
		{"/resume cli:", "/resume cli:api"},
		{"/model ec", "/model echo"},
		{"/personality rev", "/personality reviewer"},
		{"ask @rev", "ask @reviewer"},
		{"/export h", "/export html"},
	} {
		p.keys("-l", c[0])
		p.keys("Tab")
		p.await(`^❯ ` + c[1] + ` *\z`)
		p.keys("C-u")
	}
	p.enter("/histroy")
	p.await(`did you mean /history\?`)
	p.leave()
}

func TestTheTerminalObeysNoColourAndADumbOne(t *testing.T) {
	p := newPane(t, 80, 30, "NO_COLOR=1")
	p.chat("--model echo")
	p.enter("# Head\n\n`code` **bold**")
	p.await("^`code` bold$")
	p.prompt()
	if s := p.tmux("capture-pane", "-p", "-e", "-t", "p"); strings.Contains(s, "\x1b[") {
		t.Errorf("with NO_COLOR the screen has colours: %q", s)
	}
	p.leave()

	raw := filepath.Join(p.home, "raw")
	p.clear()
	p.tmux("pipe-pane", "-t", "p", "cat > "+raw)
	p.enter("TERM=dumb skein chat --no-history")
	p.await(`^> *\z`)
	p.enter("plain **words**")
	p.await(`^plain \*\*words\*\*\n> *\z`)
	p.leave()
	p.tmux("pipe-pane", "-t", "p")
	p.until(func(string) bool {
		b, err := os.ReadFile(raw)
		return err == nil && strings.Contains(string(b), "Resume with")
	}, "was written to a file")
	b, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	if _, said, _ := strings.Cut(string(b), "skein chat"); strings.Contains(said, "\x1b[3") || strings.Contains(said, "\x1b[1m") || strings.Contains(said, "\x1b[?2004h") {
		t.Errorf("a dumb terminal is sent %q", said)
	}
}

func TestASessionThatIsTakenOverEndsTheChat(t *testing.T) {
	p := newPane(t, 90, 40)
	p.chat("--model echo")
	p.enter("mine")
	p.await(`^mine$`)
	p.prompt()
	p.tmux("split-window", "-d", "-t", "p", "-c", p.work, "skein continue --take-over yours")
	p.until(func(string) bool { return strings.Count(p.tmux("list-panes", "-t", "p"), "\n") == 1 }, "is alone again")
	p.enter("mine again")
	p.await(`took this session over`)
	p.await(`^\$ *\z`)
	p.code(4)
}

func TestLinesTypedBeforeASessionWasTakenOverAreGivenBack(t *testing.T) {
	p := newPane(t, 90, 40)
	p.chat("--model echo --allow shell")
	p.fifo("on")
	p.enter(`echo: call shell {"command": "echo begun; read x < on"}`)
	p.await(`→ shell echo begun.*\n  begun`)
	p.enter("typed ahead")
	p.tmux("split-window", "-d", "-t", "p", "-c", p.work, "skein continue --take-over yours; echo go > on")
	p.await(`not stored: typed ahead\n`)
	p.await(`^\$ *\z`)
	p.code(4)
}

func TestAChatSaysWhatACrashLeft(t *testing.T) {
	p := newPane(t, 90, 40)
	p.chat("--model echo --allow shell")
	p.fifo("on")
	p.enter(`echo: call shell {"command": "echo begun; read x < on"}`)
	p.await(`→ shell echo begun.*\n  begun`)
	shell := strings.TrimSpace(p.tmux("list-panes", "-t", "p", "-F", "#{pane_pid}"))
	kill, err := exec.Command("sh", "-c", "kill -9 $(ps -o pid= --ppid "+shell+")").CombinedOutput()
	if err != nil {
		t.Fatalf("kill: %v: %s", err, kill)
	}
	p.await(`Killed`)
	p.keys("-l", "stty sane; clear")
	p.keys("C-j")
	p.until(func(s string) bool { return !strings.Contains(s, "Killed") }, "is as it was")
	p.clear()
	p.chat("")
	p.await(`^1 tool call in this session may or may not have run`)
	p.await(`^the last prompt has no answer yet: /retry`)
	p.enter("/retry")
	p.await(`^❯ /retry\n(.*\n)*.*(unknown|uncertain|interrupted)`)
	p.leave()
}

func TestASecondChatOnASessionSaysWhoHasIt(t *testing.T) {
	p := newPane(t, 90, 40)
	p.chat("--model echo")
	p.enter("mine")
	p.await(`^mine$`)
	p.prompt()
	out := filepath.Join(p.home, "second")
	p.tmux("split-window", "-d", "-t", "p", "-c", p.work, "skein chat < /dev/null > "+out+" 2>&1; echo code=$? >> "+out)
	var text string
	p.until(func(string) bool {
		b, err := os.ReadFile(out)
		text = string(b)
		return err == nil && strings.Contains(text, "code=") && strings.HasSuffix(text, "\n")
	}, "has a second chat that ended")
	if want := regexp.MustCompile(`session is locked by PID \d+ \(skein chat, since \d\d:\d\d\)\n.*--fork .*--take-over .*\ncode=4`); !want.MatchString(text) {
		t.Errorf("the second chat says\n%s\nwant who has the session, what to do, and exit code 4", text)
	}
	p.enter("still mine")
	p.await(`^still mine$`)
	p.leave()
}

func TestWhatIsTypedAheadIsSaidAfterwards(t *testing.T) {
	p, goOn := heldPane(t, 80, 30, "One two three four five six seven eight nine ten.")
	p.chat("--model " + heldModel)
	p.enter("hello")
	p.await(`answering`)
	p.enter("typed ahead")
	p.keys("-l", "not yet")
	p.await(`^❯ typed ahead\n❯ not yet *\z`)
	goOn()
	p.await(`nine ten\.\n\n❯ typed ahead\n\nIt is so\.\n\n❯ not yet *\z`)
	p.keys("C-u")
	p.leave()
}

func TestAChatFitsTheTerminal(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) { fits(t, width) })
	}
}

func fits(t *testing.T, width int) {
	p := newPane(t, width, 60)
	p.chat("--model echo")
	p.paste("# A plan\n\nA paragraph that is longer than sixty columns, so that it has to be broken somewhere.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| first | second |\n\n```go\nfunc main() {}\n```")
	p.enter("")
	s := p.await(`^    func main\(\) \{\}\n\n❯ *\z`)
	_, answer, _ := strings.Cut(s, "\nsession ")
	for line := range strings.Lines(answer) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n >= width {
			t.Errorf("a line of the answer has %d columns: %s", n, line)
		}
	}
	p.enter("/help")
	s = p.await(`^Ctrl-C (.*\n)+\n❯ *\z`)
	_, help, _ := strings.Cut(s, "❯ /help")
	for line := range strings.Lines(help) {
		if strings.HasPrefix(line, "/") && len(strings.Fields(line)) < 3 {
			t.Errorf("the help is broken: %q", line)
		}
	}
	p.leave()
}
