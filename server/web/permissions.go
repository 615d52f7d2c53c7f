package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
)

// permissionPages answer what agents ask in sessions that are open in an editor.
type permissionPages struct{ *site }

func (s permissionPages) routes() []door.Route {
	r := change("/sessions/{id}/permission", s.answer)
	r.Scope = door.Answer
	return []door.Route{r}
}

// editorQuestion is a permission that an agent asks for.
type editorQuestion struct {
	ID      string
	Text    string // what the agent wants to do
	Options []editorOption
}

// editorOption is one of the answers that an agent offers.
type editorOption struct{ ID, Name, Kind string }

// Main reports whether the option is the one that changes least and lets the agent go on.
func (o editorOption) Main() bool { return o.Kind == "allow_once" }

// patience is how long a page waits for the program that has a session open in an editor:
// it may be stopped.
const patience = 2 * time.Second

// openIn returns what a session's agent asks for, if the session is open in an editor
// and the visitor may answer.
func (s permissionPages) openIn(ctx context.Context, one skein.Session) (all []editorQuestion) {
	scope := door.From(ctx).Scope
	if scope < door.Answer {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asked, err := s.Live.Of(one.User).Asked(within, one.ID)
	if err != nil && !errors.Is(err, skein.ErrNotFound) {
		door.Note(ctx, err)
	}
	for _, a := range asked {
		var p struct {
			ToolCall struct{ Title string }
			Options  []struct{ OptionID, Name, Kind string }
		}
		_ = json.Unmarshal(a.Params, &p) // then it has no title and offers nothing
		open := editorQuestion{ID: a.Name, Text: s.Redact(p.ToolCall.Title)}
		for _, o := range p.Options {
			if scope < door.Write && !live.DecidesOnce(o.Kind) {
				continue
			}
			open.Options = append(open.Options, editorOption{o.OptionID, s.Redact(o.Name), o.Kind})
		}
		all = append(all, open)
	}
	return all
}

// answer gives an agent the answer to what it asks.
func (s permissionPages) answer(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	v, done := door.From(r.Context()), ""
	result := skein.MustJSON(map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": r.PostFormValue("option")}})
	err := s.Live.Of(one.User).Answer(r.Context(), one.ID, v.Name(), live.Wish{Answer: r.PostFormValue("permission"), Result: result, Once: v.Scope < door.Write})
	switch {
	case errors.Is(err, live.ErrAnswered):
		done = fmt.Sprintf("Your answer came too late: %v.", err)
	case errors.Is(err, skein.ErrNotFound):
		done = "The agent does not ask this any more."
	case err != nil:
		s.fail(w, r, err)
		return
	}
	back(w, r, local(r.PostFormValue("back"), transcript.SessionPath(one.ID)), done)
}
