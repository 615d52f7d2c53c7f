package llmtest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// Gemini returns a server that speaks the Gemini API itself, as Gemini CLI and
// Google's own clients do: generateContent, which answers with one object, and
// streamGenerateContent, which answers with a stream of them. The model is named in
// the path, and calls come whole; the first one is signed.
func Gemini(t testing.TB, replies ...Reply) *Server {
	return serve(t, wire{
		path: "enerateContent", id: "X-Request-Id", // both names end in it
		key:    func(h http.Header) string { return h.Get("X-Goog-Api-Key") },
		read:   readGemini,
		events: geminiEvents,
		whole:  geminiWhole,
		refuse: func(f *refusal) (int, []byte) {
			status, body := googleRefusal(f)
			return status, encode(body)
		},
		broken: func(f *refusal) event { return event{"", encode(googleError(f))} },
	}, "/v1beta", replies)
}

// geminiEvents returns the chunks of an answer. Each has the usage so far; the last one
// says why the answer ends.
func geminiEvents(r *Request, rp *Reply, id string) (all []event) {
	parts := geminiParts(rp)
	for i, p := range parts {
		o := geminiAnswer(r, rp, id, []object{p})
		if i == len(parts)-1 {
			geminiEnd(o, rp)
		}
		all = append(all, event{"", encode(o)})
	}
	return all
}

// geminiWhole returns an answer as one object, if it was not asked for as a stream.
func geminiWhole(r *Request, rp *Reply, id string) []byte {
	if strings.HasSuffix(r.Path, ":streamGenerateContent") {
		return nil
	}
	o := geminiAnswer(r, rp, id, geminiParts(rp))
	geminiEnd(o, rp)
	return encode(o)
}

// geminiAnswer returns an answer that has some parts.
func geminiAnswer(r *Request, rp *Reply, id string, parts []object) object {
	o := object{
		"candidates":   []object{{"index": 0, "content": object{"role": "model", "parts": parts}}},
		"modelVersion": cmp.Or(rp.Model, r.Model), "responseId": id,
	}
	if !rp.Bare {
		u := rp.usage()
		o["usageMetadata"] = object{
			"promptTokenCount": u.Prompt(), "cachedContentTokenCount": u.CacheRead, "candidatesTokenCount": u.Output - u.Reasoning,
			"thoughtsTokenCount": u.Reasoning, "totalTokenCount": u.Prompt() + u.Output,
		}
	}
	return o
}

func geminiEnd(o object, rp *Reply) {
	o["candidates"].([]object)[0]["finishReason"] = cmp.Or(rp.Stop, "STOP")
}

// geminiParts returns rp's parts, texts in pieces; an answer has at least one.
func geminiParts(rp *Reply) (all []object) {
	signed := false
	for _, p := range rp.Parts {
		switch p.Kind {
		case skein.PartCall:
			part := object{"functionCall": object{"id": p.Call.ID, "name": p.Call.Name, "args": p.Call.Input}}
			if !signed {
				part["thoughtSignature"] = sign(p.Call.ID)
			}
			signed = true
			all = append(all, part)
		case skein.PartReasoning:
			for _, s := range pieces(string(p.Text)) {
				all = append(all, object{"text": s, "thought": true})
			}
		default:
			for _, s := range pieces(string(p.Text)) {
				all = append(all, object{"text": s})
			}
		}
	}
	if len(all) == 0 {
		all = []object{{"text": ""}}
	}
	return all
}

// geminiRequest is the body of a request, as far as a client with tools uses it.
type geminiRequest struct {
	Contents []geminiContent `json:"contents"`
	System   *geminiContent  `json:"systemInstruction"`
	Tools    []struct {
		Functions []struct {
			Name       string          `json:"name"`
			Doc        string          `json:"description"`
			Schema     json.RawMessage `json:"parametersJsonSchema"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Settings json.RawMessage `json:"generationConfig"`
	Safety   json.RawMessage `json:"safetySettings"`
	Choice   json.RawMessage `json:"toolConfig"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature string  `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Result *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Body json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	Data *struct {
		Media string `json:"mimeType"`
		Data  string `json:"data"`
	} `json:"inlineData"`
}

// readGemini checks a request as the Gemini API does.
func readGemini(r *Request) error {
	_, r.Model, _ = strings.Cut(r.Path, "/models/")
	r.Model, _, _ = strings.Cut(r.Model, ":")
	var q geminiRequest
	if unknown, err := decode(r.Body, &q); err != nil {
		if unknown != "" {
			return refuse("Invalid JSON payload received. Unknown name %q: Cannot find field.", unknown)
		}
		return err
	}
	switch {
	case strings.HasPrefix(r.Model, "no-such"):
		return &refusal{status: http.StatusNotFound, message: "models/" + r.Model + " is not found for API version v1beta, or is not supported for generateContent."}
	case len(q.Contents) == 0:
		return refuse("* GenerateContentRequest.contents: contents is not specified")
	}
	if q.System != nil {
		for _, p := range q.System.Parts {
			if p.Text != nil {
				r.System += *p.Text
			}
		}
	}
	for _, t := range q.Tools {
		for _, f := range t.Functions {
			if !anthropicName.MatchString(f.Name) {
				return refuse("Invalid function name. Must start with a letter or an underscore.")
			}
			schema := f.Schema
			if schema == nil {
				schema = f.Parameters
			}
			r.Tools = append(r.Tools, llm.ToolSpec{Name: f.Name, Doc: f.Doc, Schema: schema})
		}
	}
	for i := range q.Contents {
		if err := q.content(r, i); err != nil {
			return err
		}
	}
	return nil
}

// content adds contents[i] to the request.
func (q *geminiRequest) content(r *Request, i int) error {
	c := &q.Contents[i]
	role, ok := map[string]skein.Role{"": skein.RoleUser, "user": skein.RoleUser, "model": skein.RoleAssistant}[c.Role]
	switch {
	case !ok:
		return refuse("Please use a valid role: user, model.")
	case len(c.Parts) == 0:
		return refuse("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
	}
	m := skein.Message{Role: role}
	for j := range c.Parts {
		p, err := c.Parts[j].part(i, j)
		if err != nil {
			return err
		}
		m.Parts = append(m.Parts, p)
	}
	calls := 0
	if i > 0 {
		calls = q.Contents[i-1].calls()
	}
	switch results := c.results(); {
	case results != calls:
		return refuse("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	case c.calls() > 0 && (i == 0 || role != skein.RoleAssistant || q.Contents[i-1].Role == "model"):
		return refuse("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
	}
	r.Messages = append(r.Messages, m)
	return nil
}

func (c *geminiContent) calls() (n int) {
	for _, p := range c.Parts {
		if p.Call != nil {
			n++
		}
	}
	return n
}

func (c *geminiContent) results() (n int) {
	for _, p := range c.Parts {
		if p.Result != nil {
			n++
		}
	}
	return n
}

func (p *geminiPart) part(i, j int) (skein.Part, error) {
	switch {
	case p.Call != nil && p.Signature != "" && p.Signature != sign(p.Call.ID) && p.Signature != "skip_thought_signature_validator":
		return skein.Part{}, refuse("Corrupted thought signature.")
	case p.Call != nil:
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: p.Call.ID, Name: p.Call.Name, Input: p.Call.Args}}, nil
	case p.Result != nil && !isObject(p.Result.Body):
		return skein.Part{}, refuse("Invalid value at 'contents[%d].parts[%d].function_response.response'", i, j)
	case p.Result != nil:
		return skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: p.Result.ID, Text: skein.Text(p.Result.Body)}}, nil
	case p.Data != nil:
		f, err := fileFrom(p.Data.Media, p.Data.Data)
		if err != nil {
			return skein.Part{}, refuse("Invalid value at 'contents[%d].parts[%d].inline_data.data' (TYPE_BYTES), Base64 decoding failed", i, j)
		}
		return skein.Part{Kind: skein.PartFile, File: f}, nil
	case p.Text != nil && p.Thought:
		return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(*p.Text)}, nil
	case p.Text != nil:
		return textOf(*p.Text), nil
	}
	return skein.Part{}, refuse("* GenerateContentRequest.contents[%d].parts[%d].data: required oneof field 'data' must have one initialized field", i, j)
}
