package agent

import (
	"errors"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// attempts is how often a summary is asked for.
const attempts = 3

// compactSystem is what the model reads before a conversation that it is to
// sum up, compactAsk what it reads after it.
const (
	compactSystem = "You sum up a conversation between a person and an agent, so that the agent can go on with the work from your summary alone."
	compactAsk    = "Sum up this conversation up to here. Keep: what the person asked for, in their words where they matter, and what they said they want or do not want; " +
		"what was decided and why; what was done, with the names of files, functions and commands; what was found out; what failed; what is still to be done, and what was to come next. " +
		"Leave out greetings and what no longer matters. Answer with the summary and nothing else."
	summaryHead = "[What was said before, summed up:]\n\n"
)

// An asideError says that the model failed at a request that is not about the
// conversation's next answer.
type asideError struct{ err error }

func (f *asideError) Error() string { return f.err.Error() }
func (f *asideError) Unwrap() error { return f.err }

// sumUp lets the model sum up what p covers, and stores that.
func (u *turn) sumUp(p *plan, trigger string) error {
	u.o.Observe(Update{Kind: Compacting})
	before, err := usedOf(u.window)
	if err != nil {
		return err
	}
	c := skein.Compacted{To: p.to, Trigger: trigger, Before: before}
	for try := 1; try <= attempts; try++ {
		if c.Summary, err = u.summary(p, try); err == nil {
			c.Summary = summaryHead + c.Summary
			if err := u.put(u.ctx, nil, skein.NewEvent(skein.KindCompacted, u.now(), c)); err != nil {
				return err
			}
			u.o.Observe(Update{Kind: Compacted})
			return nil
		}
		if f := (*asideError)(nil); !errors.As(err, &f) {
			return err
		}
		if asked, ok := llm.Again(err); ok && try < attempts && asked <= patience {
			_ = u.o.Wait(u.ctx, backoff(try, asked)) // that ctx has ended is seen below
		}
		if u.ctx.Err() != nil {
			u.o.Observe(Update{Kind: Compacted, Err: u.ctx.Err()})
			return u.ctx.Err()
		}
	}
	c.Failed, c.Summary = true, ""
	if perr := u.put(u.ctx, nil, skein.NewEvent(skein.KindCompacted, u.now(), c)); perr != nil {
		return perr
	}
	u.o.Observe(Update{Kind: Compacted, Err: err})
	return err
}

// summary asks for the summary of what p covers. Each further try shows less,
// for the conversation may be too long for this too.
func (u *turn) summary(p *plan, try int) (string, error) {
	rules := u.agent.Model.About().Rules
	rules.Newest = u.newest() >> (try - 1)
	v, err := skein.Context(p.events(), rules)
	if err != nil {
		return "", err
	}
	r := llm.Request{System: compactSystem, Messages: v.Messages, Opaque: v.Opaque, Blob: u.blob}
	m, err := u.aside(modeCompact, r, try)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(m.Words())
	if text == "" {
		return "", &asideError{&llm.Error{Kind: llm.ErrCut, Message: "the summary is empty"}}
	}
	return text, nil
}

// events are a session whose context is what p covers and the question for its
// summary.
func (p *plan) events() (events []skein.Event) {
	add := func(e skein.Event) {
		e.Seq = skein.Seq(len(events) + 1)
		events = append(events, e)
	}
	if p.before != nil {
		c := p.before.what
		c.To = 0
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

// aside makes a request that is not about the conversation's next answer, and
// stores its steps but not what it says. An error that is the model's is a
// *asideError.
func (u *turn) aside(mode string, r llm.Request, try int) (*skein.Message, error) {
	s, err := u.start(mode, r, try)
	if err != nil {
		return nil, err
	}
	m, err := stream(u.ctx, u.agent.Model, r, func(llm.Delta) {})
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
