package llmtest

import (
	"cmp"
	"net/http"
	"testing"

	"github.com/skein-dev/skein"
)

// Anthropic returns a server that speaks Anthropic's Messages API.
func Anthropic(t testing.TB, replies ...Reply) *Server {
	return serve(t, wire{
		path: "/v1/messages", id: "Request-Id",
		key:    func(h http.Header) string { return h.Get("X-Api-Key") },
		read:   readAnthropic,
		events: anthropicEvents,
		refuse: func(f *refusal) (int, []byte) { return f.status, encode(anthropicError(f)) },
		broken: func(f *refusal) event { return event{"error", encode(anthropicError(f))} },
	}, "", replies)
}

// anthropicError is the body of an error.
func anthropicError(f *refusal) object {
	kind, message := f.kind, f.message
	if f.status == http.StatusUnauthorized && f.reply == nil {
		message = "invalid x-api-key"
	}
	if kind == "" {
		kind = map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
			413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error", 200: "overloaded_error",
		}[f.status]
	}
	if kind == "" && f.status < 500 {
		kind = "invalid_request_error"
	} else if kind == "" {
		kind = "api_error"
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": f.id}
}

// anthropicEvents returns the events of an answer.
func anthropicEvents(r *Request, rp *Reply, id string) (all []event) {
	send := func(o object) { all = append(all, event{o["type"].(string), encode(o)}) }
	u, model := rp.usage(), rp.Model
	if model == "" {
		model = r.Model
	}
	usage := object{
		"input_tokens": u.Input, "cache_creation_input_tokens": u.CacheWrite, "cache_read_input_tokens": u.CacheRead,
		"output_tokens": min(1, u.Output), "service_tier": cmp.Or(rp.Tier, "standard"),
		"cache_creation": object{"ephemeral_5m_input_tokens": u.CacheWrite - u.CacheHour, "ephemeral_1h_input_tokens": u.CacheHour},
	}
	message := object{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
	}
	if !rp.Bare {
		message["usage"] = usage
	}
	send(object{"type": "message_start", "message": message})
	for i := range rp.Parts {
		anthropicBlock(send, i, &rp.Parts[i])
		if i == 0 {
			send(object{"type": "ping"})
		}
	}
	end := object{"type": "message_delta", "delta": object{"stop_reason": anthropicStop(rp), "stop_sequence": nil}}
	if !rp.Bare {
		end["usage"] = object{"output_tokens": u.Output, "output_tokens_details": object{"thinking_tokens": u.Reasoning}}
	}
	send(end)
	send(object{"type": "message_stop"})
	return all
}

func anthropicStop(rp *Reply) string {
	switch {
	case rp.Stop != "":
		return rp.Stop
	case rp.calls():
		return "tool_use"
	}
	return "end_turn"
}

// anthropicBlock sends p as a content block, in pieces.
func anthropicBlock(send func(object), i int, p *skein.Part) {
	grow := func(delta object) {
		send(object{"type": "content_block_delta", "index": i, "delta": delta})
	}
	begin := func(block object) {
		send(object{"type": "content_block_start", "index": i, "content_block": block})
	}
	switch {
	case p.Kind == skein.PartCall:
		begin(object{"type": "tool_use", "id": p.Call.ID, "name": p.Call.Name, "input": object{}})
		grow(object{"type": "input_json_delta", "partial_json": ""})
		for _, s := range pieces(string(p.Call.Input)) {
			grow(object{"type": "input_json_delta", "partial_json": s})
		}
	case p.Kind == skein.PartReasoning && p.Text == "":
		begin(object{"type": "redacted_thinking", "data": sign("")})
	case p.Kind == skein.PartReasoning:
		begin(object{"type": "thinking", "thinking": "", "signature": ""})
		for _, s := range pieces(string(p.Text)) {
			grow(object{"type": "thinking_delta", "thinking": s})
		}
		grow(object{"type": "signature_delta", "signature": sign(string(p.Text))})
	default:
		begin(object{"type": "text", "text": ""})
		for _, s := range pieces(string(p.Text)) {
			grow(object{"type": "text_delta", "text": s})
		}
	}
	send(object{"type": "content_block_stop", "index": i})
}
