package record

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/skein-dev/skein"
)

// An object is JSON whose members are kept as they are.
type object map[string]json.RawMessage

func objectOf(b []byte) (o object) {
	if json.Unmarshal(b, &o) != nil {
		return object{}
	}
	return o
}

// text returns a member that is a string, and "" if it is none.
func (o object) text(name string) (s string) {
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

// list returns a member that is an array.
func (o object) list(name string) (all []json.RawMessage) {
	if json.Unmarshal(o[name], &all) != nil {
		return nil
	}
	return all
}

func (o object) has(name string) bool { return len(o[name]) > 0 && string(o[name]) != "null" }

func (o object) without(names ...string) object {
	o = maps.Clone(o)
	for _, n := range names {
		delete(o, n)
	}
	return o
}

// meta is the metadata of a part, a message or a call.
type meta struct {
	ACP object `json:"acp,omitempty"`
}

func (m meta) json() json.RawMessage {
	if len(m.ACP) == 0 {
		return nil
	}
	return skein.MustJSON(m)
}

func metaOf(b json.RawMessage) (m meta) {
	if json.Unmarshal(b, &m) != nil {
		return meta{}
	}
	return m
}

// partOf returns a content block as a part, and the bytes in it as a blob. A block
// that is not understood is kept whole.
func partOf(raw json.RawMessage) (skein.Part, []skein.Blob) {
	b := objectOf(raw)
	other := skein.Part{Kind: skein.PartOther, Raw: raw}
	file := func(data []byte, f skein.File, rest object) (skein.Part, []skein.Blob) {
		blob := skein.NewBlob(data)
		f.Blob, f.Size = blob.Hash, int64(len(data))
		return skein.Part{Kind: skein.PartFile, File: &f, Meta: meta{rest}.json()}, []skein.Blob{blob}
	}
	switch b.text("type") {
	case "text":
		var t skein.Text
		if json.Unmarshal(b["text"], &t) != nil {
			return other, nil
		}
		p := skein.Part{Kind: skein.PartText, Text: t}
		if len(b) > 2 {
			p.Meta = meta{b.without("text")}.json()
		}
		return p, nil
	case "image", "audio":
		data, err := base64.StdEncoding.DecodeString(b.text("data"))
		if err != nil || len(data) == 0 {
			return other, nil
		}
		return file(data, skein.File{Name: baseName(b.text("uri")), Media: b.text("mimeType")}, b.without("data"))
	case "resource_link":
		f := skein.File{Name: b.text("name"), Media: b.text("mimeType"), URL: b.text("uri")}
		return skein.Part{Kind: skein.PartFile, File: &f, Meta: meta{b}.json()}, nil
	case "resource":
		r := objectOf(b["resource"])
		f := skein.File{Name: baseName(r.text("uri")), Media: r.text("mimeType")}
		kind := "blob"
		data, err := base64.StdEncoding.DecodeString(r.text(kind))
		if r.has("text") {
			var t skein.Text
			err = json.Unmarshal(r["text"], &t)
			kind, data = "text", []byte(t)
		}
		if err != nil {
			return other, nil
		}
		rest := b.without()
		rest["resource"] = skein.MustJSON(r.without(kind))
		rest["skein"] = skein.MustJSON(kind) // which member the bytes were in
		return file(data, f, rest)
	}
	return other, nil
}

func baseName(uri string) string {
	if uri == "" {
		return ""
	}
	return path.Base(uri)
}

// partsOf returns content blocks as parts.
func partsOf(blocks []json.RawMessage) (parts []skein.Part, blobs []skein.Blob) {
	for _, raw := range blocks {
		p, b := partOf(raw)
		parts, blobs = append(parts, p), append(blobs, b...)
	}
	return parts, blobs
}

// blockOf returns a part as a content block; nil if there is none for it, or if what was
// said was not one that the protocol knows. blob returns the bytes of a blob, or nil.
func blockOf(p *skein.Part, blob func(skein.Hash) []byte) json.RawMessage {
	b := saidBlock(p, blob)
	if !isBlock(b) {
		return nil
	}
	return b
}

// isBlock reports whether raw is a content block of a known type with what the protocol
// wants of it, or of a type that a later version of the protocol may know.
func isBlock(raw json.RawMessage) bool {
	type more map[string]json.RawMessage
	var b struct {
		Type                                                string
		Text, Data, Name, MimeType, URI, Title, Description *string
		Size                                                *int64
		Meta                                                more `json:"_meta"`
		Annotations                                         *struct {
			Audience     []string
			LastModified *string
			Priority     *float64
			Meta         more `json:"_meta"`
		}
		Resource *struct {
			URI, Text, Blob, MimeType *string
			Meta                      more `json:"_meta"`
		}
	}
	if json.Unmarshal(raw, &b) != nil {
		return false
	}
	if b.Annotations != nil && slices.ContainsFunc(b.Annotations.Audience, func(s string) bool { return s != "user" && s != "assistant" }) {
		return false
	}
	switch r := b.Resource; b.Type {
	case "text":
		return b.Text != nil
	case "image", "audio":
		return b.Data != nil && b.MimeType != nil
	case "resource_link":
		return b.Name != nil && b.URI != nil
	case "resource":
		return r != nil && r.URI != nil && (r.Text != nil || r.Blob != nil)
	}
	return b.Type != ""
}

func saidBlock(p *skein.Part, blob func(skein.Hash) []byte) json.RawMessage {
	b := metaOf(p.Meta).ACP
	switch {
	case p.Kind == skein.PartOther && objectOf(p.Raw).has("type"):
		return p.Raw
	case p.Kind == skein.PartFile && p.File != nil:
		return fileBlock(p.File, b, blob)
	case p.Text == "":
		return nil
	case b == nil:
		b = object{"type": json.RawMessage(`"text"`)}
	}
	b["text"] = skein.MustJSON(p.Text)
	return skein.MustJSON(b)
}

func fileBlock(f *skein.File, b object, blob func(skein.Hash) []byte) json.RawMessage {
	var data []byte
	if f.Blob != "" {
		data = blob(f.Blob)
	}
	switch b.text("type") {
	case "image", "audio":
		b["data"] = skein.MustJSON(base64.StdEncoding.EncodeToString(data))
	case "resource":
		r := objectOf(b["resource"])
		if b.text("skein") == "text" {
			r["text"] = skein.MustJSON(skein.Text(data))
		} else {
			r["blob"] = skein.MustJSON(base64.StdEncoding.EncodeToString(data))
		}
		b = b.without("skein")
		b["resource"] = skein.MustJSON(r)
	case "resource_link":
	default: // of another program's session
		if isImage(f.Media) && data != nil {
			return skein.MustJSON(map[string]any{"type": "image", "mimeType": f.Media, "data": base64.StdEncoding.EncodeToString(data)})
		}
		uri := f.URL
		if uri == "" {
			uri = "file:///" + f.Name
		}
		name := f.Name
		if name == "" {
			name = fmt.Sprintf("file of %d bytes", f.Size)
		}
		return skein.MustJSON(map[string]any{"type": "resource_link", "uri": uri, "name": name})
	}
	return skein.MustJSON(b)
}

func isImage(media string) bool { return len(media) > 6 && media[:6] == "image/" }
