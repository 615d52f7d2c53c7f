package render

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// Pieces makes HTML of the pieces of a session, for pages that put them
// together by themselves. All of it is safe to show, whatever the text: there is
// no script, no style and nothing that is fetched in it. Code is coloured by
// spans of the classes that [HTML]'s style sheet has: c, s, m, k, f, i, d.
//
// It is safe for use by many goroutines.
type Pieces struct{ rich *rich }

// NewPieces returns a Pieces; it takes some milliseconds to be made ready.
func NewPieces() *Pieces { return &Pieces{newRich()} }

// Prose returns Markdown that a model wrote.
func (p *Pieces) Prose(text string) string { return p.rich.html(p.rich.prose, text) }

// Typed returns Markdown that a person typed: line feeds stay.
func (p *Pieces) Typed(text string) string { return p.rich.html(p.rich.typed, text) }

// Code returns code, without a pre around it. language is a name as it stands
// behind a fence; diff for a patch; text is only escaped where it is none that
// is known.
func (p *Pieces) Code(language, code string) string { return colour(language, Clean(code)) }

// An InputField is a member of a tool's input, cleaned but not escaped.
type InputField struct {
	Name  string // "" if the input is no object
	Value string // strings as their text, else JSON, what is nested with line feeds
	JSON  bool   // Value is an object or an array
	Long  bool   // Value wants a block of its own
}

// Fields returns the input of a tool as people read it, in its order.
func Fields(input json.RawMessage) (all []InputField) {
	for _, f := range fields(input) {
		all = append(all, InputField{f.name, f.value, f.json, f.long()})
	}
	return all
}

// Gist returns what the input of a tool is about: its first short text, such as
// a command or a path, on one line of at most 80 characters.
func Gist(input json.RawMessage) string { return gist(fields(input)) }

// Speaker returns who says m, for people.
func Speaker(m *skein.Message) string { return speaker(m) }

// PictureKind returns the media type of a picture that a browser shows, by its
// first bytes; "" for anything else, SVG above all.
func PictureKind(data []byte) string { return pictureKind(data) }

// FileLine returns what is known of f besides its bytes, on one line.
func FileLine(f *skein.File) string { return fileLine(f) }

// ErrorLine returns what e says, on one line.
func ErrorLine(e *skein.ErrorInfo) string { return Line(errorLine(e)) }
