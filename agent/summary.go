package agent

import (
	"errors"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

// attempts is how often a summary is requested.
const attempts = 3

// compactSystem is the system prompt for a summary; compactAsk is the message
// after the conversation that is to be summarized.
const (
	compactSystem = "You summarize a conversation between a person and an agent, so that the agent can continue the work from your summary alone."
	compactAsk    = "Summarize this conversation up to here. Keep: what the person asked for, in their words where they matter, and what they said they want or do not want; " +
		"what was decided and why; what was done, with the names of files, functions and commands; what was found out; what failed; what is still to be done, and what was to come next. " +
		"Leave out greetings and what no longer matters. Answer with the summary and nothing else."
	summaryHead = "[Summary of what was said before:]\n\n"
	summaryKept = "[The messages above are verbatim. Summary of everything else that was said and done up to here:]\n\n"
	keptRoom    = 64 << 10 // bytes of user messages that a compaction keeps
)

// An asideError says that the model failed at a request that was not for the
// conversation's next answer.
type asideError struct{ err error }

func (f *asideError) Error() string { return f.err.Error() }
func (f *asideError) Unwrap() error { return f.err }

// sumUp has the model summarize what p covers, and stores the summary.
func (u *turn) sumUp(p *plan, trigger string) error {
	u.o.Observe(Update{Kind: Compacting})
	before, _, err := usedOf(u.window)
	if err != nil {
		return err
	}
	c := skein.Compacted{To: p.to, Keep: p.keeps(u.keptRoom()), Trigger: trigger, Before: before}
	room := u.room
	for try := 1; try <= attempts; {
		var size int
		if c.Summary, size, err = u.summary(p, room, try); err == nil {
			c.Summary = p.head(c.Keep) + c.Summary
			if err := u.put(u.ctx, nil, skein.NewEvent(skein.KindCompacted, u.now(), c)); err != nil {
				return err
			}
			u.o.Observe(Update{Kind: Compacted})
			return nil
		}
		if f := (*asideError)(nil); !errors.As(err, &f) {
			return err
		}
		if errors.Is(err, llm.ErrTooLong) && (room == 0 || size <= room) && u.ctx.Err() == nil {
			room = size / 2
			continue
		}
		if asked, ok := llm.Again(err); ok && try < attempts && asked <= patience {
			_ = u.o.Wait(u.ctx, backoff(try, asked)) // the end of ctx is noticed below
		}
		if u.ctx.Err() != nil {
			u.o.Observe(Update{Kind: Compacted, Err: u.ctx.Err()})
			return u.ctx.Err()
		}
		try++
	}
	c.Failed, c.Summary, c.Keep = true, "", nil
	if perr := u.put(u.ctx, nil, skein.NewEvent(skein.KindCompacted, u.now(), c)); perr != nil {
		return perr
	}
	u.o.Observe(Update{Kind: Compacted, Err: err})
	return err
}

// keptRoom returns how many bytes of user messages a compaction keeps.
func (v *modelView) keptRoom() int {
	room := keptRoom
	if w := v.agent.Window; w > 0 { // tokens of about four bytes each
		room = int(min(int64(room), w))
	}
	if v.room > 0 {
		room = min(room, v.room/4)
	}
	return room
}

// head returns the text that precedes the summary of p.
func (p *plan) head(keep []skein.Seq) string {
	if len(keep) > 0 {
		return summaryKept
	}
	return summaryHead
}

// summary requests the summary of what p covers, showing at most room bytes of
// it, and returns how many bytes it showed.
func (u *turn) summary(p *plan, room, try int) (text string, size int, err error) {
	rules := u.agent.Model.About().Rules
	rules.Room, rules.Aside = room, true
	v, err := window.Context(p.events(), rules)
	if err != nil {
		return "", 0, err
	}
	r := llm.Request{System: compactSystem, Messages: v.Messages, Opaque: v.Opaque, Blob: u.blob}
	m, err := u.aside(modeCompact, r, try)
	if err != nil {
		return "", v.Size, err
	}
	if text = strings.TrimSpace(m.Words()); text == "" {
		return "", v.Size, &asideError{&llm.Error{Kind: llm.ErrCut, Message: "the summary is empty"}}
	}
	return text, v.Size, nil
}

// events returns a session whose context is what p covers and the request for
// its summary.
func (p *plan) events() (events []skein.Event) {
	add := func(e skein.Event) {
		e.Seq = skein.Seq(len(events) + 1)
		events = append(events, e)
	}
	var keep []skein.Seq
	for _, e := range p.kept {
		add(skein.Say(e.Time, e.Message))
		keep = append(keep, skein.Seq(len(events)))
	}
	if p.before != nil {
		c := p.before.what
		c.To, c.Keep = skein.Seq(len(events)), keep
		add(skein.NewEvent(skein.KindCompacted, 0, c))
	}
	for _, s := range p.states {
		add(s)
	}
	for _, e := range p.items {
		add(skein.Say(e.Time, e.Message))
	}
	ask := skein.UserSays(compactAsk)
	ask.Synthetic = true
	add(skein.Say(0, ask))
	return events
}

// aside makes a request that is not for the conversation's next answer, and
// stores its steps but not its answer. An error of the model's is an
// *asideError.
func (u *turn) aside(mode string, r llm.Request, try int) (*skein.Message, error) {
	s, err := u.start(mode, r, try)
	if err != nil {
		return nil, err
	}
	m, err := stream(u.ctx, u.agent.Model, r, u.now, func(llm.Delta) {})
	if m != nil {
		m = u.filled(m, &s, nil)
		u.count(m)
	}
	if perr := u.keep(u.ctx, nil, u.finish(s, m, err)); perr != nil {
		return nil, perr
	}
	if err != nil {
		return nil, &asideError{err}
	}
	return m, nil
}
