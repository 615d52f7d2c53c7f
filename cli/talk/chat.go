package talk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/read"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/render"
)

// NewChat returns the command chat.
func NewChat(f *job.Frame) *cobra.Command {
	var o thread.Options
	c := &cobra.Command{
		Use:   "chat [flags]",
		Short: "talk to a model in this project's thread",
		Long: `Talk to a model. Without a flag, chat continues the project's own thread, which
begins with your first message and is there again tomorrow. The project is the
git root, so its subfolders share the thread. --continue and --resume continue
other sessions.

/help lists the commands of a chat. Ctrl-C stops an answer and keeps what is
complete; pressed twice, it leaves the chat, as Ctrl-D does. Alt-Enter, Ctrl-J,
or a backslash at the end of a line begins a new line. Tab completes commands,
names and @paths, Ctrl-R searches earlier prompts, and Ctrl-O shows all of the
last tool call. In a pipe, each line of stdin is a prompt, answers go to stdout,
and everything else goes to stderr; the exit code is 1 if any turn failed.`,
		Example: `skein chat
	skein chat -c
	skein chat -r 4f1d22a0 --full-history
	skein chat --model echo`,
		Args: job.Words(0, 0, ""),
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, _ []string) error { return converse(ctx, &o, j) }),
	}
	o.PickFlags(c)
	o.Flags(c)
	o.ShowFlags(c)
	return c
}

// A chat is a conversation of a person with a thread.
type chat struct {
	*job.Job
	options thread.Options
	screen  screen.Screen // nil if closed
	thread  *thread.Thread
	calls   callLog
	above   string // the kind of the last thing shown: see gap
	thought string // reasoning not shown yet
	tokens  int64  // received in this turn, roughly
	kept    bool   // what the person said in this turn is stored
	failed  bool   // something that was said was not done
}

// converse runs the conversation that the flags ask for.
func converse(ctx context.Context, o *thread.Options, j *job.Job) (err error) {
	c := &chat{Job: j, options: *o}
	if err := c.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.closeScreen()) }()
	if c.thread, err = c.options.Open(ctx, j, thread.ProjectThread, c.face()); err != nil {
		return err
	}
	how := agent.Done
	defer func() {
		err = errors.Join(err, c.closeScreen(), c.thread.End(ctx, string(how)))
	}()
	if err = c.greet(ctx); err == nil {
		err = c.talk(ctx)
	}
	if errors.Is(err, errLeave) {
		err = nil
	}
	if err == nil && c.failed && !c.Terminal.In { // nobody is watching: the program that wrote the lines needs the exit code
		err = fault.ErrSilent
	}
	if err != nil {
		how = agent.Error
		if errors.Is(err, context.Canceled) {
			how = agent.Interrupted
		}
	}
	return err
}

// talk reads what the person says until they leave.
func (c *chat) talk(ctx context.Context) error {
	for {
		c.gap("prompt")
		text, err := c.screen.Read(ctx)
		if errors.Is(err, screen.ErrLeft) || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = c.obey(ctx, text)
		switch {
		case errors.Is(err, errLeave):
			return nil
		case ctx.Err() != nil:
			return context.Canceled
		case errors.Is(err, skein.ErrFenced), errors.Is(err, skein.ErrClosed):
			return err
		case err != nil:
			c.complain(err)
		}
	}
}

// errLeave ends the conversation at the person's request.
var errLeave = errors.New("the person leaves")

// obey does what text asks for: it runs a command, or sends a prompt to the model.
func (c *chat) obey(ctx context.Context, text string) error {
	if name, args, ok := slashed(text); ok {
		return c.command(ctx, name, args)
	}
	c.kept = false
	err := c.turn(ctx, func(ctx context.Context) (agent.Outcome, error) { return c.thread.Say(ctx, text) })
	switch {
	case c.kept:
	case errors.Is(err, skein.ErrFenced): // the session cannot continue here, so there is no next prompt
		c.screen.Note("not stored: " + cleanText(text))
	default:
		c.screen.Prefill(text)
	}
	return err
}

// complain shows an error that does not end the conversation, and what to do about
// it.
func (c *chat) complain(err error) {
	c.failed = true
	err = thread.NoModel(err)
	text, hint := fault.Sentence(err), ""
	if _, after, ok := strings.Cut(text, skein.ErrInvalid.Error()+" "); ok && errors.Is(err, skein.ErrInvalid) {
		text = after // the call path in the error means nothing to a person
	} else if _, hint = fault.Outcome(err, "skein chat"); !isAdvised(err) && errors.Is(err, fault.ErrUsage) {
		hint = "see: /help"
	}
	c.gap("error")
	c.screen.Note(c.Paint.Red("✗ ") + c.fitted(cleanText(text)))
	if a := (*skein.AmbiguousError)(nil); errors.As(err, &a) {
		c.screen.Note(sessions.Candidates(a.Candidates, c.Now()))
	}
	if hint != "" {
		c.screen.Note(c.Paint.Dim(c.fitted(cleanText(hint))))
	}
	if c.Verbose {
		c.screen.Note(c.Paint.Dim(c.fitted(cleanText("the error's path: " + err.Error()))))
	}
}

func isAdvised(err error) bool {
	a := (*fault.Advised)(nil)
	return errors.As(err, &a)
}

// turn lets the model answer, and if the turn was not completed, says why.
func (c *chat) turn(ctx context.Context, do func(context.Context) (agent.Outcome, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.tokens, c.thought = 0, ""
	c.screen.Begin(stop)
	out, err := do(ctx)
	left := c.screen.End()
	c.ponder()
	if err != nil {
		if !errors.Is(err, skein.ErrFenced) {
			c.complain(err)
			err = nil
		}
	} else if why := c.why(out); why != "" {
		c.failed = true
		c.gap("stop")
		c.screen.Note(c.Paint.Dim(why))
	}
	if left && err == nil {
		err = errLeave
	}
	return err
}

// why says why a turn ended before the model was done; "" if it was done.
func (c *chat) why(out agent.Outcome) string {
	switch out.Stop {
	case agent.Interrupted:
		return "(stopped; what was complete is kept, /retry takes the rest up again)"
	case agent.MaxSteps:
		return fmt.Sprintf("(stopped after %s, before the model was done; say \"go on\" to go on)", terminal.Count(out.Steps, "request"))
	case agent.Timeout:
		return "(stopped: it took longer than its agent allows; say \"go on\" to go on)"
	}
	return ""
}

// open opens the screen: a full terminal if the cursor can be moved on it, else a
// plain one.
func (c *chat) open() error {
	in, inOK := c.Stdin.(*os.File)
	out, outOK := c.Stdout.(*os.File)
	dumb := c.Getenv("TERM") == "dumb"
	if !inOK || !outOK || !c.Terminal.In || !c.Terminal.Out || dumb {
		s := screen.Streams{In: c.Stdin, Out: c.Stdout, Err: c.Stderr}
		if c.Terminal.In && c.Terminal.Err {
			s.Prompt = "> "
		}
		c.screen = screen.Plain(s)
		return nil
	}
	h, err := c.typed()
	if err != nil {
		c.Say("what was typed before cannot be read: %v", err)
	}
	c.screen, err = screen.Open(in, out, screen.Options{
		Paint: c.Paint, History: h, Complete: c.complete, Open: c.openCall,
	})
	return err
}

// typed returns the history of what was typed in this project.
func (c *chat) typed() (*screen.History, error) {
	cwd, err := c.Getwd()
	if err != nil {
		return &screen.History{}, err
	}
	return screen.OpenHistory(filepath.Join(c.Dirs.State, "history", projectFile(config.ProjectRoot(cwd))+".jsonl"))
}

func (c *chat) closeScreen() error {
	if c.screen == nil {
		return nil
	}
	err := c.screen.Close() // until it is closed, a key may still use it
	c.screen = nil
	return err
}

// face returns the callbacks by which the thread talks to the conversation.
func (c *chat) face() thread.Face {
	return thread.Face{Program: "skein chat", Observe: c.observe, Ask: c.ask, Tell: c.tell}
}

// tell prints a note that is not part of an answer.
func (c *chat) tell(format string, args ...any) {
	text := cleanText(fmt.Sprintf(format, args...))
	if c.screen == nil || !c.Terminal.Err {
		c.Say("%s", text)
		return
	}
	c.gap("note")
	c.screen.Note(c.Paint.Dim(c.fitted(text)))
}

// fitted wraps text to the width of the terminal.
func (c *chat) fitted(text string) string {
	if width := c.width(); width > 0 {
		return ansi.Wrap(text, width-1, "")
	}
	return text
}

// ask asks the person a question. At the end of a pipe the answer is no.
func (c *chat) ask(ctx context.Context, q job.Question) (job.Reply, error) {
	c.screen.Said()
	choices := []screen.Choice{
		{Key: 'y', Label: "yes", Value: string(job.Yes)},
		{Key: 'n', Label: "no", Value: string(job.No)},
	}
	if q.Always != "" {
		choices = append(choices, screen.Choice{Key: 'a', Label: "always " + q.Always, Value: string(job.Always)})
	}
	c.gap("question")
	answer, err := c.screen.Ask(ctx, screen.Question{Text: c.Paint.Yellow("? ") + cleanText(q.Text), Choices: choices})
	if errors.Is(err, io.EOF) || errors.Is(err, screen.ErrLeft) {
		return job.No, nil
	}
	return job.Reply(answer), err
}

// gap prints a blank line between things of different kinds, except in a pipe.
func (c *chat) gap(kind string) {
	if _, ok := c.screen.(*screen.Terminal); ok && c.above != "" && c.above != kind {
		c.screen.Note("")
	}
	c.above = kind
}

// observe shows what happens in the thread.
func (c *chat) observe(u agent.Update) {
	if u.Child != "" {
		c.watchChild(u)
		return
	}
	switch u.Kind {
	case agent.Stored:
		c.kept = c.kept || slices.ContainsFunc(u.Events, func(e skein.Event) bool { return e.Kind == skein.KindSaid })
	case agent.Asking:
		c.screen.Said()
		c.screen.Work(screen.Work{Doing: "thinking", Tokens: c.tokens})
	case agent.Reasoning:
		c.thought += u.Text
		c.reckon(u.Text)
		c.screen.Work(screen.Work{Doing: "thinking", Detail: lastLine(c.thought), Tokens: c.tokens})
	case agent.Text:
		c.ponder()
		if c.above != "answer" {
			c.gap("answer")
		}
		c.reckon(u.Text)
		c.screen.Say(u.Text)
		c.screen.Work(screen.Work{Doing: "answering", Tokens: c.tokens})
	case agent.Calling:
		c.screen.Work(screen.Work{Doing: "preparing " + u.Text, Tokens: c.tokens})
	case agent.Waiting:
		c.screen.Said()
		c.tell("%v; again in %s", u.Err, terminal.Seconds(u.Wait))
		c.screen.Work(screen.Work{Doing: fmt.Sprintf("waiting %s to try again", terminal.Seconds(u.Wait)), Tokens: c.tokens})
	case agent.Answered:
		c.ponder()
		c.screen.Said()
	case agent.Compacting:
		c.screen.Work(screen.Work{Doing: "summing up what is older", Tokens: c.tokens})
	case agent.Compacted:
		if u.Err != nil {
			c.tell("what is older was not summed up: %v", u.Err)
		} else {
			c.tell("what is older was summed up; nothing is lost: skein show has all of it")
		}
	default:
		c.watchTool(u)
	}
}

// reckon estimates the tokens of text that came: about four bytes each.
func (c *chat) reckon(text string) { c.tokens += int64(len(text)+3) / 4 }

// ponder shows the reasoning received so far, if the person wants to see it.
func (c *chat) ponder() {
	text := strings.TrimSpace(cleanText(c.thought))
	c.thought = ""
	if text == "" || !c.options.Thinking || c.screen == nil {
		return
	}
	c.gap("thought")
	c.screen.Note(c.Paint.Dim("┊ " + strings.ReplaceAll(text, "\n", "\n┊ ")))
}

// lastLine returns the last line of text that is not blank.
func lastLine(text string) string {
	text = strings.TrimRight(text, "\n ")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// cleanText returns untrusted text made safe for a terminal.
func cleanText(text string) string { return render.Clean(text) }

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

// projectFile returns a file name for data about a project: the name of its folder,
// and a hash of its path.
func projectFile(project string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, filepath.Base(project))
	sum := sha256.Sum256([]byte(project))
	return name[:min(len(name), 40)] + "-" + hex.EncodeToString(sum[:6])
}
