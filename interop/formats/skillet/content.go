package skillet

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// said collects the parts of one message and the blobs that they name.
type said struct {
	parts []skein.Part
	blobs []skein.Blob
}

// list adds a content list, or a string in place of one.
func (s *said) list(v jsontext.Value) {
	if loose.IsNull(v) {
		return
	}
	if v[0] == '"' {
		s.parts = append(s.parts, skein.TextPart(loose.Str(v)))
		return
	}
	pieces, err := unmarshal[[]jsontext.Value](v)
	if err != nil {
		s.other(v)
		return
	}
	for _, p := range pieces {
		s.piece(p)
	}
}

func (s *said) piece(v jsontext.Value) {
	p, err := unmarshal[piece](v)
	switch {
	case err != nil:
		s.other(v)
	case p.Text != nil:
		part := skein.TextPart(string(*p.Text))
		part.Meta = p.meta()
		s.parts = append(s.parts, part)
	case p.Refusal != nil:
		part := skein.TextPart(string(*p.Refusal))
		part.Meta = skein.MustJSON(map[string]bool{"refusal": true})
		s.parts = append(s.parts, part)
	default:
		if f, ok := s.file(&p); ok {
			s.parts = append(s.parts, skein.Part{Kind: skein.PartFile, File: &f})
		} else {
			s.other(v)
		}
	}
}

// meta returns what the provider added to a piece, if anything.
func (p *piece) meta() []byte {
	switch string(p.Provider) {
	case "", "null", "{}", `{"annotations":[]}`, `{"annotations":[],"logprobs":[]}`:
		return nil
	}
	return skein.MustJSON(map[string]any{"providerData": raw(p.Provider)})
}

// file returns a piece as an attachment, and false if it is not one.
func (s *said) file(p *piece) (skein.File, bool) {
	f := skein.File{Name: skein.Text(p.FileName).UTF8()}
	at := loose.Str(firstOf(p.Image, p.ImageURL, p.File, p.FileData, p.FileURL, p.Audio, p.Data))
	if at == "" {
		at = urlIn(firstOf(p.Image, p.ImageURL, p.File))
	}
	switch {
	case at == "":
		return f, false
	case strings.HasPrefix(at, "data:"):
		media, data, ok := dataURL(at)
		if !ok {
			return f, false
		}
		s.blob(&f, media, data)
	case strings.Contains(at, "://") && len(at) < 8192:
		f.URL = skein.Text(at).UTF8()
	default:
		data, err := base64.StdEncoding.DecodeString(at)
		if err != nil {
			return f, false
		}
		media := http.DetectContentType(data)
		if p.Type == "audio" && p.Format != "" {
			media = "audio/" + skein.Text(p.Format).UTF8()
		}
		s.blob(&f, media, data)
	}
	return f, true
}

func (s *said) blob(f *skein.File, media string, data []byte) {
	b := skein.NewBlob(data)
	f.Media, f.Blob, f.Size = skein.Text(media).UTF8(), b.Hash, int64(len(data))
	s.blobs = append(s.blobs, b)
}

// urlIn returns the URL of {"url": …}.
func urlIn(v jsontext.Value) string {
	if loose.IsNull(v) || v[0] != '{' {
		return ""
	}
	in, err := unmarshal[struct {
		URL string `json:"url"`
	}](v)
	if err != nil {
		return ""
	}
	return in.URL
}

// dataURL returns the media type and bytes of a data: URL in base64.
func dataURL(url string) (media string, data []byte, ok bool) {
	media, body, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok || len(media) > 100 {
		return "", nil, false
	}
	data, err := base64.StdEncoding.DecodeString(body)
	return media, data, err == nil && len(data) > 0
}

func (s *said) other(v jsontext.Value) {
	s.parts = append(s.parts, skein.Part{Kind: skein.PartOther, Raw: raw(v)})
}

// output puts a tool's result into res: a text, a piece or a list of them; anything
// that is neither text nor file is kept unchanged.
func (s *said) output(res *skein.Result, v jsontext.Value) {
	var in said
	switch {
	case loose.IsNull(v):
		return
	case v[0] == '{':
		in.piece(v)
	default:
		in.list(v)
	}
	var texts []string
	for _, p := range in.parts {
		switch {
		case p.Kind == skein.PartText && p.Text != "":
			texts = append(texts, string(p.Text))
		case p.File != nil:
			res.Files = append(res.Files, *p.File)
		case p.Kind == skein.PartOther:
			res.Raw = raw(v)
		}
	}
	res.Text = skein.Text(strings.Join(texts, "\n"))
	s.blobs = append(s.blobs, in.blobs...)
}

// all returns the parts, an empty list if there are none.
func (s *said) all() []skein.Part {
	if s.parts == nil {
		return []skein.Part{}
	}
	return s.parts
}

// texts returns the texts of the parts, joined by blank lines.
func (s *said) texts() skein.Text {
	var b []string
	for _, p := range s.parts {
		if p.Text != "" {
			b = append(b, string(p.Text))
		}
	}
	return skein.Text(strings.Join(b, "\n\n"))
}
