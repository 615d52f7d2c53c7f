package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/activity"
)

type nowIn struct {
	State   string `json:"state,omitempty" jsonschema:"only sessions in this state: working, waiting, idle, failed or ended"`
	Agent   string `json:"agent,omitempty" jsonschema:"only sessions of this agent"`
	Project string `json:"project,omitempty" jsonschema:"only sessions of this project: its path, exactly"`
	Since   string `json:"since,omitempty" jsonschema:"only sessions active since this time: 2026-11-21 or 2026-11-21T14:30:00Z; the last 12 hours if not given"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most this many, up to 100; 20 if not given"`
}

// recent is how far back session_now looks if nothing else is said.
const recent = 12 * time.Hour

func (s *toolset) now(ctx context.Context, in nowIn) (*sdk.CallToolResult, error) {
	f := skein.Filter{Agent: in.Agent, Project: in.Project, NoChildren: true, Since: skein.At(s.Now().Add(-recent))}
	switch skein.WorkState(in.State) {
	case "", skein.StateWorking, skein.StateWaiting, skein.StateIdle, skein.StateFailed, skein.StateEnded:
	default:
		return nil, fmt.Errorf("state %q: %w: want working, waiting, idle, failed or ended", in.State, skein.ErrInvalid)
	}
	if in.Since != "" {
		var err error
		if f.Since, err = when(in.Since); err != nil {
			return nil, err
		}
	}
	all, err := activity.All(ctx, s.store, f, skein.At(s.Now()), s.Probes)
	if err != nil {
		return nil, err
	}
	budgets, err := s.budgets(ctx)
	if err != nil {
		return nil, err
	}
	p, n := &answerLines{toolset: s}, bound(in.Limit, fewSessions, manySessions)
	for i := range all {
		l := all[i].Line()
		if in.State != "" && string(l.State) != in.State {
			continue
		}
		l.Name, l.Text, l.Branch = s.short(l.Name), s.short(l.Text), s.short(l.Branch)
		if n--; n < 0 || !p.add(l) {
			return p.answer("There are more.", budgets), nil
		}
	}
	return p.answer(end, budgets), nil
}

// budgets says which budgets of the person's are nearly used; "" if none.
func (s *toolset) budgets(ctx context.Context) (string, error) {
	if s.Budgets == nil {
		return "", nil
	}
	near, err := s.Budgets(ctx)
	if err != nil || len(near) == 0 {
		return "", err
	}
	return "The person's budgets: " + strings.Join(near, "; ") + ".", nil
}
