package llmtest

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// Chat returns a server that speaks OpenAI's Chat Completions API, with the
// reasoning_content that many other servers send.
func Chat(t testing.TB, replies ...Reply) *Server {
	return serve(t, wire{
		path: "/v1/chat/completions", id: "X-Request-Id", key: bearer,
		read:   func(r *Request) error { return readChat(r, nil) },
		events: func(r *Request, rp *Reply, id string) []event { return chatEvents(r, rp, id, chatParts) },
		refuse: func(f *refusal) (int, []byte) { return f.status, encode(openaiError(f)) },
		broken: func(f *refusal) event { return event{"", encode(openaiError(f))} },
	}, "/v1", replies)
}

func bearer(h http.Header) string {
	key, _ := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return key
}

// openaiError is the body of an error of OpenAI's APIs.
func openaiError(f *refusal) object {
	kind, message := "invalid_request_error", f.message
	var code any
	switch {
	case f.status == http.StatusUnauthorized:
		code = "invalid_api_key"
		if f.reply == nil {
			message = "Incorrect API key provided: sk-wro***********. You can find your API key at https://platform.openai.com/account/api-keys."
		}
	case f.status == http.StatusNotFound:
		code = "model_not_found"
	case f.status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case f.status >= 500, f.status == http.StatusOK:
		kind = "server_error"
	}
	if f.kind != "" {
		code = f.kind
	}
	return object{"error": object{"message": message, "type": kind, "param": nil, "code": code}}
}

// chatEvents returns the chunks of an answer; parts makes its deltas.
func chatEvents(r *Request, rp *Reply, id string, parts func(rp *Reply) []object) (all []event) {
	model := rp.Model
	if model == "" {
		model = r.Model
	}
	send := func(choices []object, usage any) {
		chunk := object{"id": "chatcmpl-" + id, "object": "chat.completion.chunk", "created": 1_790_000_000, "model": model, "choices": choices, "service_tier": cmp.Or(rp.Tier, "default")}
		if usage != nil {
			chunk["usage"] = usage
		}
		all = append(all, event{"", encode(chunk)})
	}
	choice := func(delta object, why any) []object {
		return []object{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": why}}
	}
	send(choice(object{"role": "assistant", "content": ""}, nil), nil)
	for _, d := range parts(rp) {
		send(choice(d, nil), nil)
	}
	send(choice(object{}, chatStop(rp)), nil)
	if !rp.Bare {
		send([]object{}, chatUsage(rp.usage()))
	}
	return append(all, event{"", []byte("[DONE]")})
}

func chatStop(rp *Reply) string {
	switch {
	case rp.Stop != "":
		return rp.Stop
	case rp.calls():
		return "tool_calls"
	}
	return "stop"
}

func chatUsage(u skein.Usage) object {
	in := u.Prompt()
	return object{
		"prompt_tokens": in, "completion_tokens": u.Output, "total_tokens": in + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite, "audio_tokens": 0},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning, "audio_tokens": 0},
	}
}

// chatParts returns the deltas of rp's parts.
func chatParts(rp *Reply) (all []object) {
	n := 0
	for _, p := range rp.Parts {
		switch p.Kind {
		case skein.PartCall:
			call := object{"index": n, "id": p.Call.ID, "type": "function", "function": object{"name": p.Call.Name, "arguments": ""}}
			all = append(all, object{"tool_calls": []object{call}})
			for _, s := range pieces(string(p.Call.Input)) {
				all = append(all, object{"tool_calls": []object{{"index": n, "function": object{"arguments": s}}}})
			}
			n++
		case skein.PartReasoning:
			for _, s := range pieces(string(p.Text)) {
				all = append(all, object{"reasoning_content": s})
			}
		default:
			for _, s := range pieces(string(p.Text)) {
				all = append(all, object{"content": s})
			}
		}
	}
	return all
}

// called returns the name of a call for an error text.
func called(c *skein.Call) string { return fmt.Sprintf("`default_api:%s`", c.Name) }
