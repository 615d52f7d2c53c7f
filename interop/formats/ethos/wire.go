package ethos

import (
	"encoding/base64"
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
	"github.com/skein-dev/skein/internal/loose"
)

// maxNest is how deep JSON in a column may be nested: it ends up inside an event, and
// must be readable there.
const maxNest = 1000

// asJSON returns text as JSON: unchanged or, if it is not JSON or nested too deep, as
// a string. "" is nil.
func asJSON(text string) json.RawMessage {
	switch {
	case text == "":
		return nil
	case jsonl.Depth(text) <= maxNest && json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return skein.MustJSON(skein.Text(text))
}

// list returns the values of a JSON array, and false if text is not one.
func list(text string) (vs []jsontext.Value, ok bool) {
	if text == "" {
		return nil, true
	}
	if jsonl.Depth(text) > maxNest || !json.Valid([]byte(text)) || jsonv2.Unmarshal([]byte(text), &vs, loose.Options()) != nil {
		return nil, false
	}
	return vs, true
}

func other(raw json.RawMessage) skein.Part { return skein.Part{Kind: skein.PartOther, Raw: raw} }

// calls returns the tool calls in a column; anything else is kept unchanged.
func calls(text string) (parts []skein.Part) {
	vs, ok := list(text)
	if !ok {
		return []skein.Part{other(asJSON(text))}
	}
	for _, v := range vs {
		var c struct {
			ID    jsontext.Value `json:"id"`
			Name  jsontext.Value `json:"name"`
			Input jsontext.Value `json:"input"`
		}
		if v.Kind() != '{' || jsonv2.Unmarshal(v, &c, loose.Options()) != nil || loose.Str(c.ID) == "" {
			parts = append(parts, other(json.RawMessage(v)))
			continue
		}
		parts = append(parts, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: loose.Str(c.ID), Name: loose.Str(c.Name), Input: json.RawMessage(c.Input)}})
	}
	return parts
}

// contentBlocks returns the images and documents in a column; anything else is kept
// unchanged.
func contentBlocks(text string) (parts []skein.Part, blobs []skein.Blob) {
	vs, ok := list(text)
	if !ok {
		return []skein.Part{other(asJSON(text))}, nil
	}
	for _, v := range vs {
		f, blob := file(v)
		switch {
		case f == nil:
			parts = append(parts, other(json.RawMessage(v)))
			continue
		case blob != nil:
			blobs = append(blobs, *blob)
		}
		parts = append(parts, skein.Part{Kind: skein.PartFile, File: f})
	}
	return parts, blobs
}

// file returns a block as an attachment; nil if it is not one.
func file(v jsontext.Value) (*skein.File, *skein.Blob) {
	var b struct {
		Title  jsontext.Value `json:"title"`
		Name   jsontext.Value `json:"name"`
		Source struct {
			Media jsontext.Value `json:"media_type"`
			Data  jsontext.Value `json:"data"`
			URL   jsontext.Value `json:"url"`
		} `json:"source"`
	}
	if v.Kind() != '{' || jsonv2.Unmarshal(v, &b, loose.Options()) != nil {
		return nil, nil
	}
	f := &skein.File{Name: clip(loose.Str(b.Title)), Media: clip(loose.Str(b.Source.Media))}
	if f.Name == "" {
		f.Name = clip(loose.Str(b.Name))
	}
	if url := loose.Str(b.Source.URL); url != "" && len(url) < 8192 {
		f.URL = url
		return f, nil
	}
	data, err := base64.StdEncoding.DecodeString(loose.Str(b.Source.Data))
	if err != nil || len(data) == 0 {
		return nil, nil
	}
	blob := skein.NewBlob(data)
	f.Blob, f.Size = blob.Hash, int64(len(data))
	return f, &blob
}

// clip returns s if it can be the name or type of a file.
func clip(s string) string {
	if len(s) > 1024 {
		return ""
	}
	return skein.Text(s).UTF8()
}
