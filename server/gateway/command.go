package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

// command runs a message that begins with a slash.
func (g *Gateway) command(ctx context.Context, it *queuedMessage, s skein.Session, text string) (string, error) {
	if it.before {
		return "", nil
	}
	name, args, _ := strings.Cut(text, " ")
	name, _, _ = strings.Cut(name, "@") // in a group: /new@my_bot
	switch strings.ToLower(name) {
	case "new", "reset":
		return g.fresh(ctx, it, s)
	case "usage":
		return g.usage(ctx, s)
	case "personality":
		return g.Talker.Personality(ctx, g.talk(it, s, ""), strings.TrimSpace(args))
	case "start", "help":
		return "Say something, and the agent answers.\n\n" +
			"- `/new` begins a new conversation; this one is kept\n" +
			"- `/usage` shows what this conversation used\n" +
			"- `/personality NAME` lets another agent answer", nil
	}
	return fmt.Sprintf("There is no command `/%s`; `/help` lists the commands.", strings.ReplaceAll(name, "`", "")), nil
}

// fresh moves the place of a message to a new session, with the same key and
// the milliseconds of now. The same agent answers there.
func (g *Gateway) fresh(ctx context.Context, it *queuedMessage, old skein.Session) (string, error) {
	g.sent.clear(it.Key)
	if old.ID == "" || old.Messages == 0 {
		return "This conversation is already new.", nil
	}
	id := skein.NewSessionID(g.Now())
	for ms := g.Now().UnixMilli(); ; ms++ {
		c := skein.Created{
			Key: fmt.Sprintf("%s:%d", it.Key, ms), User: g.User, Surface: it.Surface, Project: old.Project, Cwd: old.Cwd,
			Agent: old.Agent, Profile: old.Profile, Provider: old.Provider, Model: old.Model, Program: "skein",
		}
		_, err := g.Store.Append(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, skein.At(g.Now()), c),
		}})
		if errors.Is(err, skein.ErrExists) {
			continue
		}
		if err != nil {
			return "", err
		}
		break
	}
	if err := Link(ctx, g.Store, g.User, it.Key, id, skein.At(g.Now())); err != nil {
		return "", err
	}
	return "This is a new conversation; the old one is kept.", nil
}

func turns(n int) string {
	if n == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", n)
}

// usage returns what a session has used.
func (g *Gateway) usage(ctx context.Context, s skein.Session) (string, error) {
	if s.Messages == 0 {
		return "This conversation has no messages yet.", nil
	}
	cost, err := g.Talker.Cost(ctx, s)
	if err != nil {
		return "", err
	}
	u := s.Usage
	lines := []string{
		fmt.Sprintf("- requests: %d", u.Requests),
		fmt.Sprintf("- input: %d tokens", u.Input),
		fmt.Sprintf("- output: %d tokens", u.Output),
	}
	if u.CacheRead > 0 {
		lines = append(lines, fmt.Sprintf("- read from the cache: %d tokens", u.CacheRead))
	}
	if cost != "" {
		lines = append(lines, "- cost: "+cost)
	}
	lines = append(lines, fmt.Sprintf("- messages: %d in %s", s.Messages, turns(s.Turns)), "- session: `"+string(s.ID)+"`")
	return strings.Join(lines, "\n"), nil
}
