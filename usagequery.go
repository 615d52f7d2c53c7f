package skein

import "time"

// A Dimension is what usage is summed by.
type Dimension string

// The dimensions.
const (
	ByDay     Dimension = "day"
	ByModelID Dimension = "model"
	ByAgent   Dimension = "agent"
	ByProject Dimension = "project"
	BySession Dimension = "session"
)

// A UsageQuery asks for sums of usage.
type UsageQuery struct {
	By           Dimension
	User         User      // "" for every user
	Session      SessionID // only this one's own
	Project      string
	Agent        string
	Since, Until Time           // to the quarter hour; 0 for no bound
	Zone         *time.Location // whose days; nil is UTC
}

// Check tells whether usage can be summed by q.By; "" is [ByDay].
//
// The error wraps [ErrInvalid].
func (q UsageQuery) Check() error {
	switch q.By {
	case "", ByDay, ByModelID, ByAgent, ByProject, BySession:
		return nil
	}
	return invalidf("usage by %.100q: want %s, %s, %s, %s or %s", q.By, ByDay, ByModelID, ByAgent, ByProject, BySession)
}

// A UsageRow is one sum. There is one for each value of the dimension, each
// model and each tier, because prices differ by model and tier.
type UsageRow struct {
	Of       string // 2026-11-21, a model, an agent, a project, a SessionID
	Provider string
	Model    string
	Tier     Tier
	Usage    Usage
}
