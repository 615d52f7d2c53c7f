package openaiagents

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// said is the parts of a message with the bytes of its files.
type said struct {
	parts []skein.Part
	blobs []skein.Blob
}

func (s *said) all() []skein.Part {
	if s.parts == nil {
		return []skein.Part{}
	}
	return s.parts
}

// content adds a text or a list of parts.
func (s *said) content(v jsontext.Value) {
	if v.Kind() == '"' {
		s.parts = append(s.parts, skein.TextPart(loose.Str(v)))
		return
	}
	for _, v := range loose.Elements(v) {
		s.parts = append(s.parts, s.part(v))
	}
}

func other(v jsontext.Value) skein.Part {
	return skein.Part{Kind: skein.PartOther, Raw: loose.Raw(v)}
}

// part converts an element of a content; an unknown one is kept unchanged.
func (s *said) part(v jsontext.Value) skein.Part {
	if v.Kind() == '"' {
		return skein.TextPart(loose.Str(v))
	}
	o, _ := loose.Parse(v) // a value that is not an object has no type
	switch o.Str("type") {
	case "input_text", "output_text", "text", "summary_text", "reasoning_text":
		if text, ok := o.Text("text"); ok {
			return skein.TextPart(text)
		}
	case "refusal":
		if text, ok := o.Text("refusal"); ok {
			return skein.TextPart(text)
		}
	}
	if f := s.file(o); f != nil {
		return skein.Part{Kind: skein.PartFile, File: f}
	}
	return other(v)
}

// file returns an element as a file, nil if it is not one, or if only the provider
// has it, under an ID.
func (s *said) file(o loose.Object) *skein.File {
	var f *skein.File
	var blob *skein.Blob
	switch o.Str("type") {
	case "input_image", "output_image", "computer_screenshot", "image_url":
		url := o.Str("image_url", "url")
		if url == "" {
			url = o.Obj("image_url").Str("url")
		}
		f, blob = loose.Attach("", "", url)
	case "input_file", "file":
		f, blob = loose.Attach(o.Str("filename"), "", o.Str("file_data", "file_url"))
	case "input_audio":
		in := o.Obj("input_audio")
		f, blob = loose.Attach("", "audio/"+in.Str("format"), in.Str("data"))
	}
	if blob != nil {
		s.blobs = append(s.blobs, *blob)
	}
	return f
}

// texts returns the texts in a content.
func texts(v jsontext.Value) skein.Text {
	var s said
	s.content(v)
	var all []string
	for _, p := range s.parts {
		if p.Kind == skein.PartText {
			all = append(all, string(p.Text))
		}
	}
	return skein.Text(strings.Join(all, "\n"))
}

// reasoning reads reasoning: a text for users, and an item that only the provider can
// read.
func reasoning(v jsontext.Value, o loose.Object) skein.Part {
	p := skein.Part{Kind: skein.PartReasoning, Text: texts(o.Get("content"))}
	if p.Text == "" {
		p.Text = texts(o.Get("summary"))
	}
	if o.Str("encrypted_content") != "" || p.Text == "" {
		p.Raw = loose.Raw(v)
	}
	return p
}
