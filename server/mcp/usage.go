package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
)

type usageIn struct {
	By      string `json:"by,omitempty" jsonschema:"day, model, agent, project, repository or session; model if not given"`
	Session string `json:"session,omitempty" jsonschema:"only this session's usage"`
	Project string `json:"project,omitempty" jsonschema:"only this project's usage: its path, or its repository, such as github.com/owner/name"`
	Agent   string `json:"agent,omitempty" jsonschema:"only this agent's usage"`
	Since   string `json:"since,omitempty" jsonschema:"2026-11-21 or 2026-11-21T14:30:00Z"`
	Until   string `json:"until,omitempty"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most this many rows, up to 500; 50 if not given"`
}

// A usageLine is a sum in an answer.
type usageLine struct {
	Of       string      `json:"of"`
	Provider string      `json:"provider,omitempty"`
	Model    string      `json:"model,omitempty"`
	Tier     skein.Tier  `json:"tier,omitempty"` // service tier, and the size that prompts exceeded
	Usage    skein.Usage `json:"usage"`
	Dollars  *float64    `json:"usd,omitempty"` // the cost; left out if unknown
}

func (s *toolset) usage(ctx context.Context, in usageIn) (*sdk.CallToolResult, error) {
	q := skein.UsageQuery{By: skein.Dimension(in.By), Project: in.Project, Repository: in.Project, Agent: in.Agent, Zone: s.Now().Location()}
	if in.By == "" {
		q.By = skein.ByModelID
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	var err error
	if q.Since, err = when(in.Since); err != nil {
		return nil, err
	}
	if q.Until, err = when(in.Until); err != nil {
		return nil, err
	}
	if in.Session != "" {
		x, err := s.session(ctx, in.Session)
		if err != nil {
			return nil, err
		}
		q.Sessions = []skein.SessionID{x.ID}
	}
	rows, err := s.store.Usage(ctx, q)
	if err != nil {
		return nil, err
	}
	p, n := &answerLines{toolset: s}, bound(in.Limit, 50, 500)
	for i, r := range rows {
		l, err := s.sum(r)
		if err != nil {
			return nil, err
		}
		if i == n || !p.add(l) {
			return p.answer(fmt.Sprintf("%d of %d rows are shown.", i, len(rows))), nil
		}
	}
	return p.answer(end), nil
}

func (s *toolset) sum(r skein.UsageRow) (usageLine, error) {
	l := usageLine{Of: r.Of, Provider: r.Provider, Model: r.Model, Tier: r.Tier, Usage: r.Usage}
	if s.Cost == nil {
		return l, nil
	}
	usd, ok, err := s.Cost(r)
	if ok {
		l.Dollars = &usd
	}
	return l, err
}
