package adkgo

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/skein-dev/skein"
)

// A node is an event and the events before it. Nodes never change, so each
// state that the session ever had is one node.
type node struct {
	event  *session.Event
	before *node
}

// fold computes which events a session shows.
type fold struct {
	end    *node
	states []place
}

type place struct {
	seq skein.Seq
	end *node
}

// take adds the next event.
func (f *fold) take(e skein.Event, c *config) error {
	switch e.Kind {
	case skein.KindRewound:
		r, err := skein.Decode[skein.Rewound](e)
		if err != nil {
			return err
		}
		i := sort.Search(len(f.states), func(i int) bool { return f.states[i].seq > r.To })
		f.end = nil
		if i > 0 {
			f.end = f.states[i-1].end
		}
	case skein.KindSaid:
		m, err := skein.Decode[skein.Message](e)
		if err != nil {
			return err
		}
		got, err := readEvent(m.Meta)
		if err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
		if got == nil {
			got = foreign(e, &m, c)
		}
		f.end = &node{got, f.end}
	case skein.KindNoted:
		n, err := skein.Decode[skein.Noted](e)
		if err != nil || n.Name != noteEvent {
			return err
		}
		got, err := readEvent(n.Data)
		if err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
		if got == nil {
			return nil // another program uses the name too
		}
		f.end = &node{got, f.end}
	default:
		return nil
	}
	f.states = append(f.states, place{e.Seq, f.end})
	return nil
}

// events returns what is shown, in order.
func (f *fold) events() (all []*session.Event) {
	for n := f.end; n != nil; n = n.before {
		all = append(all, n.event)
	}
	slices.Reverse(all)
	return all
}

// readEvent returns the event stored in data; nil if it is not one of ADK's.
func readEvent(data json.RawMessage) (*session.Event, error) {
	var k kept
	if others := len(data) == 0 || json.Unmarshal(data, &k) != nil || len(k.Event) == 0; others {
		return nil, nil
	}
	e := &session.Event{}
	if err := json.Unmarshal(k.Event, e); err != nil {
		return nil, fmt.Errorf("%w: %w", skein.ErrInvalid, err)
	}
	return e, nil
}

// foreign returns what another program said as an ADK event.
func foreign(e skein.Event, m *skein.Message, c *config) *session.Event {
	out := &session.Event{ID: fmt.Sprintf("skein-%d", e.Seq), Timestamp: e.Time.Std(), Author: "user"}
	role := genai.RoleUser
	if m.Role == skein.RoleAssistant {
		role, out.Author = genai.RoleModel, c.App
		if m.Agent != "" {
			out.Author = m.Agent
		}
	}
	out.Content = &genai.Content{Role: role}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			var args map[string]any
			json.Unmarshal(p.Call.Input, &args) //nolint:errcheck // input that is no object is none
			out.Content.Parts = append(out.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: p.Call.ID, Name: p.Call.Name, Args: args}})
		case p.Result != nil:
			response := map[string]any{"output": string(p.Result.Text)}
			out.Content.Parts = append(out.Content.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: p.Result.CallID, Name: p.Result.Name, Response: response}})
		case (p.Kind == skein.PartText || p.Kind == skein.PartSummary) && p.Text != "":
			out.Content.Parts = append(out.Content.Parts, genai.NewPartFromText(string(p.Text)))
		}
	}
	return out
}
