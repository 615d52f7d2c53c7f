package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/server/sse"
	"github.com/skein-dev/skein/store/activity"
)

// A NowQuery selects sessions by what they are doing.
type NowQuery struct {
	Since    string            `query:"since" default:"12h" doc:"only sessions active since then"`
	User     skein.User        `query:"user" doc:"owner of the sessions; for tokens that see all users' sessions"`
	Agent    string            `query:"agent"`
	Project  string            `query:"project" doc:"exact path of the project"`
	State    []skein.WorkState `query:"state" enum:"working,waiting,idle,failed,ended" doc:"only sessions in one of these states"`
	Children bool              `query:"children" doc:"include sessions that agents started for a part of their work"`
}

// nowEvery is how often a stream looks for changes.
const nowEvery = time.Second

// nows registers the routes of what each session is doing.
func (a findOps) nows(t *openapi.Table) {
	type list struct {
		Items   []activity.Line `json:"items"`
		Budgets []price.Spent   `json:"budgets,omitempty" doc:"how much of each budget is used; only on the owner's own machine, and not for a token of one user"`
	}
	type out struct{ Body list }
	const doc = "Sessions that wait for a person come first, then those that work, then the others, the newest first. "
	openapi.Register(t, openapi.Operation{
		ID: "now", Method: http.MethodGet, Path: "/now", Tag: "sessions", Scope: door.Read, Summary: "What each session is doing",
		Doc: doc + "Secrets in names and texts are masked.",
	}, func(ctx context.Context, i *NowQuery) (*out, error) {
		lines, err := a.now(ctx, i)
		if err != nil || a.Budgets == nil || door.From(ctx).User != "" {
			return &out{list{Items: lines}}, err
		}
		budgets, err := a.Budgets(ctx)
		return &out{list{lines, budgets}}, err
	})
	type in struct {
		openapi.Request
		NowQuery
	}
	openapi.Register(t, openapi.Operation{
		ID: "watch-now", Method: http.MethodGet, Path: "/now/stream", Tag: "sessions", Scope: door.Read, Stream: true, Summary: "Stream what each session is doing",
		Doc:   doc + "Sends each session as SSE, and again when what it is doing changes. A comment is sent every 15 s.",
		Gives: []openapi.Media{openapi.BodyOf[activity.Line](sse.MediaType)},
	}, func(ctx context.Context, i *in) (*rawAnswer, error) {
		if _, err := a.now(ctx, &i.NowQuery); err != nil { // while a status can say what is wrong
			return nil, err
		}
		return stream(func(ctx context.Context) sse.Frames { return a.nowFrames(ctx, &i.NowQuery) }), nil
	})
}

// now returns what the sessions of a query are doing.
func (a findOps) now(ctx context.Context, i *NowQuery) ([]activity.Line, error) {
	f := skein.Filter{User: i.User, Agent: i.Agent, Project: i.Project, NoChildren: !i.Children}
	var err error
	if f.Since, _, err = a.span(i.Since, ""); err != nil {
		return nil, err
	}
	all, err := activity.All(ctx, door.From(ctx).Store, f, skein.At(a.Now()), a.Probes)
	lines := []activity.Line{}
	for _, n := range all {
		if len(i.State) > 0 && !slices.Contains(i.State, n.State) {
			continue
		}
		n.Session = a.veiledSession(n.Session)
		if a.Redact != nil {
			n.Text = a.Redact.Text(n.Text)
		}
		lines = append(lines, n.Line())
	}
	return lines, err
}

// nowFrames yields what each session is doing, and again when that changes, until ctx
// ends.
func (a findOps) nowFrames(ctx context.Context, i *NowQuery) sse.Frames {
	return func(yield func([]byte, error) bool) {
		for seen := (activity.ReaderLines{}); ; {
			lines, err := a.now(ctx, i)
			if err != nil {
				if ctx.Err() == nil {
					yield(nil, err)
				}
				return
			}
			for _, l := range seen.News(lines) {
				if !yield(append([]byte("data: "), skein.MustJSON(l)...), nil) {
					return
				}
			}
			if sleep.For(ctx, nowEvery) != nil {
				return
			}
		}
	}
}
