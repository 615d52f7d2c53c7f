package llmlogs

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// asked adds what the user typed, with its fragments and attachments, and the tools'
// results.
func (r *reader) asked(m *interop.Made, at skein.Time, w waiting, prompt string) {
	said := skein.Message{Role: skein.RoleUser}
	var blobs []skein.Blob
	for _, key := range w.prompt {
		row := r.shared[key]
		p := skein.TextPart(row.Text("content"))
		p.Synthetic = true
		if from := utf8(row.Text("source")); from != "" {
			p.Meta = skein.MustJSON(map[string]string{"source": from})
		}
		said.Parts = append(said.Parts, p)
	}
	if prompt != "" {
		said.Parts = append(said.Parts, skein.TextPart(prompt))
	}
	for _, key := range w.attachments {
		f, b := r.file(key)
		said.Parts = append(said.Parts, skein.Part{Kind: skein.PartFile, File: &f})
		blobs = append(blobs, b...)
	}
	if len(w.results) > 0 {
		r.results(m, at, w)
	}
	if len(said.Parts) > 0 {
		r.put(m, skein.Say(at, said), blobs...)
	}
}

// file returns an attachment, with its bytes if they are in the database.
func (r *reader) file(key string) (f skein.File, blobs []skein.Blob) {
	row := r.shared[key]
	f.Media = loose.Clip(row.Text("type"))
	if at := utf8(row.Text("path")); at != "" {
		f.Name = loose.Clip(path.Base(strings.ReplaceAll(at, `\`, "/")))
		f.URL = loose.Clip(at)
	}
	if url := loose.Clip(row.Text("url")); url != "" {
		f.URL = url
	}
	if data, ok := row.Get("content").([]byte); ok && len(data) > 0 {
		b := skein.NewBlob(data)
		f.Blob, f.Size = b.Hash, int64(len(data))
		blobs = append(blobs, b)
	}
	return f, blobs
}

// callID returns the ID that pairs a call with its result.
func callID(row foreign.Row) string {
	if id := utf8(row.Text("tool_call_id")); id != "" {
		return id
	}
	return "llm-" + utf8(row.Text("name")) // of a model that gives no IDs
}

func (r *reader) results(m *interop.Made, at skein.Time, w waiting) {
	said := skein.Message{Role: skein.RoleTool}
	var blobs []skein.Blob
	for _, row := range w.results {
		res := &skein.Result{CallID: callID(row), Name: utf8(row.Text("name")), Text: skein.Text(row.Text("output"))}
		if e := row.Text("exception"); e != "" {
			res.Failed = true
			if res.Text == "" {
				res.Text = skein.Text(e)
			}
		}
		for _, key := range w.files[text(row, "id")] {
			f, b := r.file(key)
			res.Files = append(res.Files, f)
			blobs = append(blobs, b...)
		}
		said.Parts = append(said.Parts, skein.Part{Kind: skein.PartResult, Result: res})
	}
	r.put(m, skein.Say(at, said), blobs...)
}

// answered adds what the model said.
func (r *reader) answered(m *interop.Made, at skein.Time, id string, w waiting, row foreign.Row) {
	said := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{}, Request: "llm:" + id, Model: utf8(row.Text("resolved_model")), Usage: usageOf(row)}
	if said.Model == "" {
		said.Model = utf8(row.Text("model"))
	}
	if thought := row.Text("reasoning"); thought != "" {
		said.Parts = append(said.Parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(thought)})
	}
	if words := row.Text("response"); words != "" {
		said.Parts = append(said.Parts, skein.TextPart(words))
	}
	for _, c := range w.calls {
		call := &skein.Call{ID: callID(c), Name: utf8(c.Text("name")), Input: loose.AsJSON(c.Text("arguments"))}
		said.Parts = append(said.Parts, skein.Part{Kind: skein.PartCall, Call: call})
	}
	about := map[string]json.RawMessage{}
	if o := options(row, "options_json"); o != nil {
		about["options"] = o
	}
	if s := row.Text("schema_id"); s != "" {
		if schema := options(r.shared["schemas"+s], "content"); schema != nil {
			about["schema"] = schema
		}
	}
	took := row.Int("duration_ms")
	if took > 0 && took < 1<<40 {
		about["duration_ms"] = strconv.AppendInt(nil, took, 10)
		if at != 0 {
			at = skein.At((at + skein.Time(took)).Std())
		}
	}
	if len(about) > 0 {
		said.Meta = skein.MustJSON(about)
	}
	r.put(m, skein.Say(at, said))
}

// usageOf returns a response's usage; nil if it has none.
func usageOf(row foreign.Row) *skein.Usage {
	count := func(column string) int64 {
		if n := row.Int(column); n > 0 && n < 1<<53 {
			return n
		}
		return 0
	}
	u := skein.Usage{Input: count("input_tokens"), Output: count("output_tokens")}
	if d, err := loose.Parse([]byte(row.Text("token_details"))); err == nil {
		in, out := d.Obj("prompt_tokens_details"), d.Obj("completion_tokens_details")
		if in == nil { // OpenAI's other API
			in, out = d.Obj("input_tokens_details"), d.Obj("output_tokens_details")
		}
		if cached := in.Count("cached_tokens"); cached > 0 && cached <= u.Input {
			u.CacheRead, u.Input = cached, u.Input-cached
		}
		if cached := d.Count("cachedContentTokenCount"); cached > 0 && cached <= u.Input { // Gemini
			u.CacheRead, u.Input = cached, u.Input-cached
		}
		u.Reasoning = max(out.Count("reasoning_tokens"), d.Count("thoughtsTokenCount"))
		if n := d.Count("cache_read_input_tokens"); n > 0 { // Anthropic
			u.CacheRead = n
		}
		u.CacheWrite, u.CacheHour = d.Count("cache_creation_input_tokens"), d.Obj("cache_creation").Count("ephemeral_1h_input_tokens")
	}
	if u == (skein.Usage{}) {
		return nil
	}
	return &u
}
