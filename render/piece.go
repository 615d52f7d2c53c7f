package render

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// PartRenderer renders parts of a session as HTML, for pages that arrange them
// themselves. All of it is safe to show, whatever the text: it contains no
// script, no style and nothing to load. Code is colored by spans of the classes
// in [HTML]'s style sheet: c, s, m, k, f, i, d.
//
// It is safe for concurrent use.
type PartRenderer struct{ rich *rich }

// NewPieces returns a Pieces; this takes some milliseconds.
func NewPieces() *PartRenderer { return &PartRenderer{newRich()} }

// Prose renders Markdown that a model wrote.
func (p *PartRenderer) Prose(text string) string { return p.rich.html(p.rich.prose, text) }

// Typed renders Markdown that a person typed: line feeds stay.
func (p *PartRenderer) Typed(text string) string { return p.rich.html(p.rich.typed, text) }

// Code renders code, without a pre element around it. language is a name as
// after a code fence, diff for a patch; if it is unknown, text is only escaped.
func (p *PartRenderer) Code(language, code string) string { return colour(language, Clean(code)) }

// An InputField is a member of a tool's input, cleaned but not escaped.
type InputField struct {
	Name  string // "" if the input is not an object
	Value string // the text of a string, else JSON; nested values have line feeds
	JSON  bool   // Value is an object or an array
	Long  bool   // Value needs a block of its own
}

// Fields returns the input of a tool for people, in its order.
func Fields(input json.RawMessage) (all []InputField) {
	for _, f := range fields(input) {
		all = append(all, InputField{f.name, f.value, f.json, f.long()})
	}
	return all
}

// Gist returns a short summary of a tool's input: its first short text, such as
// a command or a path, on one line of at most 80 characters.
func Gist(input json.RawMessage) string { return gist(fields(input)) }

// Speaker returns who says m, for people.
func Speaker(m *skein.Message) string { return speaker(m) }

// PictureKind returns the media type of a picture that browsers show, by its
// first bytes; "" for anything else, in particular SVG.
func PictureKind(data []byte) string { return pictureKind(data) }

// FileLine returns a description of f without its bytes, on one line.
func FileLine(f *skein.File) string { return fileLine(f) }

// ErrorLine returns the text of e, on one line.
func ErrorLine(e *skein.ErrorInfo) string { return Line(errorLine(e)) }
