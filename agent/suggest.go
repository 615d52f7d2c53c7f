package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

const (
	titleSystem = "You give conversations their titles."
	titleAsk    = "Give this conversation a title of at most eight words, in its language, that distinguishes it from others. Answer with the title and nothing else."
	maxTitle    = 80   // bytes
	maxExcerpt  = 2000 // bytes of each message that the model is shown for a title
	excerpts    = 6    // messages
	titleTokens = 4000 // of the answer: some models think before they write
)

// Suggest asks the model for a title and gives it to the session, unless the
// session has a title; errors as Turn.
func (t *Thread) Suggest(ctx context.Context) (err error) {
	defer skein.Wrapf(&err, "agent: title for %s", t.id)
	if t.agent.Model == nil {
		return fmt.Errorf("%w agent %q: it has no model", skein.ErrInvalid, t.agent.Name)
	}
	if err := t.settle(ctx); err != nil || !t.begun {
		return err
	}
	s, err := t.Session(ctx)
	if err != nil || s.Title != "" {
		return err
	}
	shown, _, err := t.shown(ctx)
	if err != nil {
		return err
	}
	messages := excerpt(shown)
	if len(messages) < 2 {
		return nil // there is nothing to name
	}
	if err := t.work(ctx, nil); err != nil {
		return err
	}
	ctx, done := t.begin(ctx)
	defer done()
	u := turn{Thread: t, ctx: ctx}
	title, err := u.title(llm.Request{System: titleSystem, Messages: messages, MaxTokens: titleTokens})
	if err != nil || title == "" {
		return err
	}
	return t.put(ctx, nil, skein.NewEvent(skein.KindTitled, t.now(), skein.Titled{Title: skein.ShortTitle(title), By: skein.ByModel}))
}

// title makes the request r, and retries if a retry may succeed.
func (u *turn) title(r llm.Request) (string, error) {
	for try := 1; ; try++ {
		m, err := u.aside(modeTitle, r, try)
		if err == nil {
			return plainTitle(m.Words()), nil
		}
		f := (*asideError)(nil)
		if !errors.As(err, &f) {
			return "", err
		}
		if err := u.waitAfter(f.err, try); err != nil {
			return "", err
		}
	}
}

// excerpt returns the beginning of the conversation and the request for a
// title: user and assistant alternate, so that every model accepts it.
func excerpt(shown []skein.Entry) (messages []skein.Message) {
	for _, e := range shown {
		text, _ := skein.Unwrap(e.Message.Words())
		text = strings.TrimSpace(text)
		if r := e.Message.Role; text == "" || r != skein.RoleUser && r != skein.RoleAssistant || len(messages) == 0 && r != skein.RoleUser {
			continue
		}
		if n := len(messages); n > 0 && messages[n-1].Role == e.Message.Role {
			continue
		}
		if len(messages) == excerpts {
			break
		}
		text = skein.Text(text).UTF8()
		text = strings.ToValidUTF8(text[:min(len(text), maxExcerpt)], "")
		messages = append(messages, skein.Message{Role: e.Message.Role, Parts: []skein.Part{skein.TextPart(text)}})
	}
	ask := skein.TextPart(titleAsk)
	ask.Synthetic = true
	if n := len(messages); n > 0 && messages[n-1].Role == skein.RoleUser {
		messages[n-1].Parts = append(messages[n-1].Parts, ask)
		return messages
	}
	return append(messages, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{ask}})
}

// plainTitle returns the first line of a model's answer, without the decoration
// that models like to put around a title.
func plainTitle(s string) string {
	s, _ = skein.Unwrap(s)
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = strings.TrimPrefix(strings.TrimSpace(strings.TrimLeft(s, "# ")), "Title:")
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'*`“”„.", r) })
	if len(s) > maxTitle {
		s = strings.ToValidUTF8(s[:maxTitle], "")
		if i := strings.LastIndexByte(s, ' '); i > maxTitle/2 {
			s = s[:i]
		}
	}
	return s
}
