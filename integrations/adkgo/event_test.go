package adkgo_test

import (
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/skein-dev/skein"
)

func TestWhatWasSaidIsReadAndFoundByOthers(t *testing.T) {
	each(t, func(t *testing.T, store skein.Store, s session.Service) {
		held := create(t, s, nil)
		mustAppend(t, s, held, say("e1", "how is the zeppelin?"),
			&session.Event{ID: "e2", Author: "pilot", Timestamp: at, LLMResponse: model.LLMResponse{
				ModelVersion: "gemini-9", FinishReason: genai.FinishReasonStop,
				Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
					{Text: "let me see", Thought: true, ThoughtSignature: []byte{0, 1}},
					{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "look", Args: map[string]any{"at": "<sky>"}}},
				}},
				UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, CachedContentTokenCount: 4, CandidatesTokenCount: 3, ThoughtsTokenCount: 2},
			}},
			&session.Event{ID: "e3", Author: "pilot", Timestamp: at, LLMResponse: model.LLMResponse{Content: &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{
				{FunctionResponse: &genai.FunctionResponse{ID: "c1", Name: "look", Response: map[string]any{"error": "fog"}}},
			}}}},
			&session.Event{ID: "e4", Author: "user", Timestamp: at, LLMResponse: model.LLMResponse{Content: genai.NewContentFromBytes([]byte("png"), "image/png", genai.RoleUser)}},
		)
		found := one(t, store)
		said, err := store.Newest(t.Context(), found.ID, 10, 0)
		if err != nil {
			t.Fatal(err)
		}
		var roles []skein.Role
		for _, e := range said {
			roles = append(roles, e.Message.Role)
		}
		want(t, "roles", roles, []skein.Role{skein.RoleUser, skein.RoleAssistant, skein.RoleTool, skein.RoleUser})
		want(t, "reasoning", said[1].Message.Parts[0].Kind, skein.PartReasoning)
		want(t, "input", string(said[1].Message.Parts[1].Call.Input), `{"at":"\u003csky\u003e"}`)
		want(t, "result", *said[2].Message.Parts[0].Result, skein.Result{CallID: "c1", Name: "look", Text: "fog", Failed: true})
		want(t, "usage", found.Usage, skein.Usage{Input: 6, CacheRead: 4, Output: 5, Reasoning: 2, Requests: 1})
		want(t, "agent and model", []string{found.Agent, found.Model}, []string{app, "gemini-9"})
		image, err := store.Blob(t.Context(), found.ID, said[3].Message.Parts[0].File.Blob)
		want(t, "image", string(image), "png")
		if err != nil {
			t.Error(err)
		}
		r, err := store.Search(t.Context(), skein.Query{Substring: "zeppelin", Limit: 5})
		if err != nil || len(r.Hits) != 1 || r.Hits[0].Session != found.ID {
			t.Errorf("search: %v, %v; want one hit in %s", r.Hits, err, found.ID)
		}
		want(t, "signature", get(t, s).Events().At(1).Content.Parts[0].ThoughtSignature, []byte{0, 1})
	})
}

func TestWhatOthersSayAndTakeBackCounts(t *testing.T) {
	each(t, func(t *testing.T, store skein.Store, s session.Service) {
		held := create(t, s, map[string]any{"k": "0"})
		e := say("e1", "one")
		e.Actions.StateDelta = map[string]any{"k": "1"}
		mustAppend(t, s, held, e)
		found := one(t, store)
		add := func(evs ...skein.Event) {
			if _, err := skein.Add(t.Context(), store, found.ID, evs...); err != nil {
				t.Fatal(err)
			}
		}
		add(skein.Say(1, skein.UserSays("from the terminal")))
		got := get(t, s)
		want(t, "events", ids(got), []string{"e1", "skein-3"})
		want(t, "text", got.Events().At(1).Content.Parts[0].Text, "from the terminal")
		refused(t, "append of a writer who has not read it", s.AppendEvent(t.Context(), held, say("e2", "x")), skein.ErrConflict)
		add(skein.NewEvent(skein.KindRewound, 1, skein.Rewound{To: 1}))
		got = get(t, s)
		want(t, "events after a rewind", ids(got), []string(nil))
		if v, _ := got.State().Get("k"); v != "0" {
			t.Errorf("state after a rewind: %v, want 0", v)
		}
		mustAppend(t, s, got, say("e3", "anew"))
		add(skein.NewEvent(skein.KindRewound, 1, skein.Rewound{To: 3}))
		want(t, "events after a rewind to a later place", ids(get(t, s)), []string{"e1", "skein-3"})
	})
}
