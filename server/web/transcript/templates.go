package transcript

import (
	_ "embed"
	"html/template"
)

//go:embed items.html
var itemsFile string

// Parse adds to t the templates that draw a [Transcript], items and outline, and those
// that these use. They call the functions asset, base, bytes, iso, line, plural and
// session, which t must have.
//
// The error says why a template is wrong.
func Parse(t *template.Template) (*template.Template, error) {
	return t.New("items.html").Parse(itemsFile)
}
