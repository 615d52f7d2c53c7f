package llmtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// Google returns a server that speaks the Chat Completions API as Google does
// for Gemini: errors in a list, signatures and thoughts in extra_content, all
// calls with the index 0, thoughts not counted as output.
func Google(t testing.TB, replies ...Reply) *Server {
	return serve(t, wire{
		path: "/v1beta/openai/chat/completions", id: "X-Request-Id", key: bearer,
		read: func(r *Request) error { return readChat(r, readGoogle) },
		events: func(r *Request, rp *Reply, id string) []event {
			return googleUsage(chatEvents(r, rp, id, googleParts), rp)
		},
		refuse: func(f *refusal) (int, []byte) {
			status, body := googleRefusal(f)
			return status, encode([]object{body})
		},
		broken: func(f *refusal) event { return event{"", encode(googleError(f))} },
	}, "/v1beta/openai", replies)
}

// googleRefusal is an error response of Google: its status and what it says.
func googleRefusal(f *refusal) (status int, body object) {
	if f.status == http.StatusUnauthorized && f.reply == nil {
		return http.StatusBadRequest, googleError(f) // an invalid key is reported as an invalid argument
	}
	return f.status, googleError(f)
}

// googleError is an error in Google's words.
func googleError(f *refusal) object {
	status, message := f.kind, f.message
	if f.status == http.StatusUnauthorized && f.reply == nil {
		status, message = "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."
	}
	if status == "" {
		status = map[int]string{
			401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED",
			500: "INTERNAL", 503: "UNAVAILABLE", 529: "UNAVAILABLE", 200: "UNAVAILABLE",
		}[f.status]
	}
	if status == "" {
		status = "INVALID_ARGUMENT"
	}
	return object{"error": object{"code": f.status, "message": message, "status": status}}
}

// googleUsage leaves thoughts out of the tokens written.
func googleUsage(all []event, rp *Reply) []event {
	if rp.Bare {
		return all
	}
	u := rp.usage()
	i := len(all) - 2
	chunk := object{}
	if err := json.Unmarshal(all[i].data, &chunk); err != nil {
		panic(err) // it was encoded here
	}
	in := u.Prompt()
	usage := object{"prompt_tokens": in, "completion_tokens": u.Output - u.Reasoning, "total_tokens": in + u.Output}
	if u.CacheRead > 0 {
		usage["prompt_tokens_details"] = object{"cached_tokens": u.CacheRead}
	}
	chunk["usage"] = usage
	all[i].data = encode(chunk)
	return all
}

// googleParts returns the deltas of rp's parts. Calls come whole; the first one
// is signed.
func googleParts(rp *Reply) (all []object) {
	signed, thought := false, false
	for _, p := range rp.Parts {
		switch p.Kind {
		case skein.PartCall:
			call := object{"index": 0, "id": p.Call.ID, "type": "function", "function": object{"name": p.Call.Name, "arguments": string(p.Call.Input)}}
			if !signed {
				call["extra_content"] = object{"google": object{"thought_signature": sign(p.Call.ID)}}
			}
			signed = true
			all = append(all, object{"tool_calls": []object{call}})
		case skein.PartReasoning:
			for i, s := range pieces(string(p.Text)) {
				if i == 0 {
					s = "<thought>" + s
				}
				all = append(all, object{"content": s, "extra_content": object{"google": object{"thought": true}}})
			}
			thought = true
		default:
			for i, s := range pieces(string(p.Text)) {
				if i == 0 && thought {
					s = "</thought>" + s
				}
				all = append(all, object{"content": s})
			}
		}
	}
	return all
}

// readGoogle checks what Google adds: the order of roles, and signatures.
func readGoogle(r *Request, q *chatRequest) error {
	var extra struct {
		Google struct {
			Thinking struct {
				Level  string `json:"thinking_level"`
				Budget int    `json:"thinking_budget"`
				Show   bool   `json:"include_thoughts"`
			} `json:"thinking_config"`
		} `json:"google"`
	}
	if len(q.Extra) > 0 {
		if unknown, err := decode(q.Extra, &extra); err != nil {
			return refuse("Invalid JSON payload received. Unknown name %q: Cannot find field.", unknown)
		}
		if t := extra.Google.Thinking; q.Effort != "" || t.Level != "" && t.Budget != 0 {
			return refuse("Cannot specify both reasoning_effort and thinking_config.")
		} else if t.Level != "" || t.Budget != 0 {
			r.Effort = "thinking " + t.Level
		}
	}
	turn := 0 // index of the last user message
	for i, m := range r.Messages {
		switch {
		case i == 0 && m.Role == skein.RoleAssistant && len(callsOf(&m)) > 0:
			return refuse("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		case m.Role == skein.RoleUser:
			turn = i
		}
	}
	for i, m := range r.Messages {
		if err := signatures(&m, i, i > turn && strings.HasPrefix(r.Model, "gemini-3")); err != nil {
			return err
		}
	}
	return nil
}

// signatures checks those of message i. If must is set, the first call must
// have one.
func signatures(m *skein.Message, i int, must bool) error {
	first := slices.IndexFunc(m.Parts, func(p skein.Part) bool { return p.Call != nil })
	for j, p := range m.Parts {
		if p.Kind != skein.PartReasoning {
			continue
		}
		var x struct {
			Google struct {
				Signature string `json:"thought_signature"`
			} `json:"google"`
		}
		_, err := decode(p.Raw, &x)
		mine := j+1 == first && x.Google.Signature == sign(m.Parts[first].Call.ID)
		if err != nil || !mine && x.Google.Signature != "skip_thought_signature_validator" {
			return refuse("Corrupted thought signature.")
		}
	}
	if must && first >= 0 && (first == 0 || m.Parts[first-1].Kind != skein.PartReasoning) {
		return refuse("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call %s , position %d.", called(m.Parts[first].Call), i)
	}
	return nil
}
