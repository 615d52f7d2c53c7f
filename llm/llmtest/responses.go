package llmtest

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// OpenAI returns a server that speaks OpenAI's Responses API.
func OpenAI(t testing.TB, replies ...Reply) *Server {
	return serve(t, wire{
		path: "/v1/responses", id: "X-Request-Id", key: bearer,
		read:   readResponses,
		events: responsesEvents,
		refuse: func(f *refusal) (int, []byte) { return f.status, encode(openaiError(f)) },
		broken: func(f *refusal) event {
			code := f.kind
			if code == "" {
				code = "server_error"
			}
			return event{"error", encode(object{"type": "error", "code": code, "message": f.message, "param": nil, "sequence_number": 99})}
		},
	}, "/v1", replies)
}

// A responder makes the events of an answer.
type responder struct {
	all    []event
	output []object // completed items
}

// send adds an event with its number.
func (s *responder) send(kind string, o object) {
	o["type"], o["sequence_number"] = kind, len(s.all)
	s.all = append(s.all, event{kind, encode(o)})
}

func responsesEvents(r *Request, rp *Reply, id string) []event {
	var s responder
	model := rp.Model
	if model == "" {
		model = r.Model
	}
	response := func(status string) object {
		return object{
			"id": "resp_" + id, "object": "response", "created_at": 1_790_000_000, "status": status, "model": model,
			"error": nil, "incomplete_details": nil, "output": s.output, "store": false, "usage": nil,
			"service_tier": cmp.Or(rp.Tier, "default"),
		}
	}
	s.send("response.created", object{"response": response("in_progress")})
	s.send("response.in_progress", object{"response": response("in_progress")})
	for i := range rp.Parts {
		s.item(i, &rp.Parts[i], id)
	}
	last, kind := response("completed"), "response.completed"
	if rp.Stop != "" && rp.Stop != "completed" {
		last, kind = response("incomplete"), "response.incomplete"
		last["incomplete_details"] = object{"reason": rp.Stop}
	}
	if !rp.Bare {
		u := rp.usage()
		in := u.Prompt()
		last["usage"] = object{
			"input_tokens": in, "input_tokens_details": object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
			"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": u.Reasoning}, "total_tokens": in + u.Output,
		}
	}
	s.send(kind, object{"response": last})
	return s.all
}

// item sends p as an output item.
func (s *responder) item(i int, p *skein.Part, id string) {
	var it object
	switch p.Kind {
	case skein.PartCall:
		it = s.call(i, p.Call, id)
	case skein.PartReasoning:
		it = s.thought(i, string(p.Text), id)
	default:
		it = s.message(i, string(p.Text), id)
	}
	s.send("response.output_item.done", object{"output_index": i, "item": it})
	s.output = append(s.output, it)
}

// call sends a call. A tool of a namespace has a name with a period, which no
// function's own name has: namespace.name.
func (s *responder) call(i int, c *skein.Call, id string) object {
	item := func(arguments, status string) object {
		o := object{"type": "function_call", "id": fmt.Sprintf("fc_%s_%d", id, i), "call_id": c.ID, "name": c.Name, "arguments": arguments, "status": status}
		if space, name, ok := strings.Cut(c.Name, "."); ok {
			o["namespace"], o["name"] = space, name
		}
		return o
	}
	s.send("response.output_item.added", object{"output_index": i, "item": item("", "in_progress")})
	for _, piece := range pieces(string(c.Input)) {
		s.send("response.function_call_arguments.delta", object{"output_index": i, "item_id": item("", "")["id"], "delta": piece})
	}
	s.send("response.function_call_arguments.done", object{"output_index": i, "item_id": item("", "")["id"], "arguments": string(c.Input)})
	return item(string(c.Input), "completed")
}

func (s *responder) thought(i int, text, id string) object {
	item := object{"type": "reasoning", "id": fmt.Sprintf("rs_%s_%d", id, i), "summary": []any{}}
	s.send("response.output_item.added", object{"output_index": i, "item": item})
	at := func(o object) object {
		o["output_index"], o["item_id"], o["summary_index"] = i, item["id"], 0
		return o
	}
	if text != "" {
		s.send("response.reasoning_summary_part.added", at(object{"part": object{"type": "summary_text", "text": ""}}))
		for _, piece := range pieces(text) {
			s.send("response.reasoning_summary_text.delta", at(object{"delta": piece}))
		}
		whole := object{"type": "summary_text", "text": text}
		s.send("response.reasoning_summary_text.done", at(object{"text": text}))
		s.send("response.reasoning_summary_part.done", at(object{"part": whole}))
		item["summary"] = []any{whole}
	}
	item["encrypted_content"] = sign(text)
	return item
}

func (s *responder) message(i int, text, id string) object {
	item := object{"type": "message", "id": fmt.Sprintf("msg_%s_%d", id, i), "role": "assistant", "status": "in_progress", "content": []any{}}
	s.send("response.output_item.added", object{"output_index": i, "item": item})
	at := func(o object) object {
		o["output_index"], o["item_id"], o["content_index"] = i, item["id"], 0
		return o
	}
	part := func(text string) object { return object{"type": "output_text", "text": text, "annotations": []any{}} }
	s.send("response.content_part.added", at(object{"part": part("")}))
	for _, piece := range pieces(text) {
		s.send("response.output_text.delta", at(object{"delta": piece, "logprobs": []any{}}))
	}
	s.send("response.output_text.done", at(object{"text": text, "logprobs": []any{}}))
	s.send("response.content_part.done", at(object{"part": part(text)}))
	item["status"], item["content"] = "completed", []any{part(text)}
	return item
}
