package atif

import (
	"net/http"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// contents is the content of a message or a result.
type contents struct {
	parts []skein.Part
	blobs []skein.Blob
}

// content reads a string or a list of parts.
func (t *trajectory) content(v jsontext.Value) (c contents) {
	if text, ok := skein.Unquote(v); ok {
		if text != "" {
			c.parts = append(c.parts, skein.TextPart(text))
		}
		return c
	}
	if v.Kind() == '[' {
		for _, p := range loose.Elements(v) {
			t.part(&c, p)
		}
	} else if !loose.IsNull(v) {
		t.part(&c, v)
	}
	return c
}

func (t *trajectory) part(c *contents, v jsontext.Value) {
	o, err := loose.Parse(v)
	text, isText := o.Text("text")
	switch source := o.Obj("source"); {
	case err == nil && o.Str("type") == "text" && isText:
		c.parts = append(c.parts, skein.TextPart(text))
	case err == nil && source.Str("path") != "":
		f, blob := t.image(source.Str("media_type"), source.Str("path"))
		c.parts = append(c.parts, skein.Part{Kind: skein.PartFile, File: f})
		if blob != nil {
			c.blobs = append(c.blobs, *blob)
		}
	default:
		if raw := loose.Raw(v); raw != nil {
			c.parts = append(c.parts, skein.Part{Kind: skein.PartOther, Raw: raw})
		}
	}
}

// image returns the image at a path: the bytes of a data URL, or of a file below the
// trajectory's folder that is an image by its name and its bytes. Nothing else is
// read, because the path comes from the document's author.
func (t *trajectory) image(media, at string) (*skein.File, *skein.Blob) {
	if strings.Contains(at, "://") || strings.HasPrefix(at, "data:") {
		if f, blob := loose.Attach("", media, at); f != nil {
			return f, blob
		}
	}
	f := &skein.File{Name: loose.Clip(at), Media: loose.Clip(media)}
	switch strings.ToLower(path.Ext(at)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
	default:
		return f, nil
	}
	if !filepath.IsLocal(filepath.FromSlash(at)) || t.file.Beside == nil {
		return f, nil
	}
	data, ok := t.file.Beside(at)
	if !ok || !strings.HasPrefix(http.DetectContentType(data), "image/") {
		return f, nil
	}
	blob := skein.NewBlob(data)
	f.Blob, f.Size = blob.Hash, int64(len(data))
	return f, &blob
}

// usage reads the metrics of a step.
func usage(o loose.Object) skein.Usage {
	extra := o.Obj("extra")
	all, read := o.Count("prompt_tokens"), o.Count("cached_tokens")
	wrote := extra.Count("cache_creation_input_tokens", "cache_write_tokens")
	u := skein.Usage{
		Input: max(0, all-read-wrote), CacheRead: read, CacheWrite: wrote,
		Output: o.Count("completion_tokens"), Reported: loose.Billionths(o.Get("cost_usd")),
	}
	u.Reasoning = min(u.Output, extra.Count("reasoning_tokens", "reasoning_output_tokens"))
	return u
}

// final reads a trajectory's total usage: what its steps do not account for becomes a
// request of its own.
func (t *trajectory) final(o loose.Object) []piece {
	m := o.Obj("final_metrics")
	if m == nil {
		return nil
	}
	extra := m.Obj("extra")
	all, read := m.Count("total_prompt_tokens"), m.Count("total_cached_tokens")
	wrote := extra.Count("total_cache_creation_input_tokens")
	u := t.used
	u.Requests = 0
	left := skein.Usage{
		Input: max(0, all-read-wrote-u.Input), CacheRead: max(0, read-u.CacheRead), CacheWrite: max(0, wrote-u.CacheWrite),
		Output: max(0, m.Count("total_completion_tokens")-u.Output), Reported: max(0, loose.Billionths(m.Get("total_cost_usd"))-u.Reported),
	}
	if all <= u.Prompt() {
		left.Input, left.CacheRead, left.CacheWrite = 0, 0, 0 // they are divided differently
	}
	if left.Reported < 1000 { // from rounding
		left.Reported = 0
	}
	if left == (skein.Usage{}) {
		return nil
	}
	s := skein.Step{Phase: "finish", Mode: "total", Model: t.head.Obj("agent").Str("model_name"), Request: t.key + ":total", Usage: &left, Several: true}
	return []piece{{event: skein.NewEvent(skein.KindStep, 0, s)}}
}
