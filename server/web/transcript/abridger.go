package transcript

import (
	"html/template"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// Bytes of a text or of a piece of code that a page shows; the rest is on the
// page of the message.
const (
	maxText  = 100 << 10
	maxPiece = 12 << 10
	maxWhole = 8 << 20 // on that page

	maxFolded  = 32 << 10 // of all pieces together, on a light page; each that comes later has leastPiece
	leastPiece = 1 << 10
)

// An abridger makes the texts of one page, and leaves out what is too long for it.
type abridger struct {
	renderer func() *render.PartRenderer
	uncut    bool // the page shows one entry, of which little is left out
	light    bool // the page shows little of what is folded
	folded   int  // bytes of texts in folded blocks so far
}

// prose returns Markdown as HTML, and how many bytes are left out.
func (a *abridger) prose(m *skein.Message, words string) (template.HTML, int) {
	shown, rest := a.cut(words, maxText)
	return a.proseOf(m, shown), rest
}

// asideProse is prose for a block that is folded.
func (a *abridger) asideProse(m *skein.Message, words string) (template.HTML, int) {
	shown, rest := a.piece(words)
	return a.proseOf(m, shown), rest
}

// proseOf returns Markdown as HTML.
func (a *abridger) proseOf(m *skein.Message, shown string) template.HTML {
	if m.Role == skein.RoleAssistant {
		return template.HTML(a.renderer().Prose(shown)) //nolint:gosec // package render makes it safe
	}
	return template.HTML(a.renderer().Typed(shown)) //nolint:gosec // as above
}

// code returns highlighted code, and how many bytes are left out.
func (a *abridger) code(language, code string) (template.HTML, int) {
	shown, rest := a.cut(code, maxPiece)
	return a.codeOf(language, shown), rest
}

// asideCode is code for a block that is folded.
func (a *abridger) asideCode(language, code string) (template.HTML, int) {
	shown, rest := a.piece(code)
	return a.codeOf(language, shown), rest
}

// codeOf returns highlighted code.
func (a *abridger) codeOf(language, shown string) template.HTML {
	if language == "" && looksLikePatch(shown) {
		language = "diff"
	}
	return template.HTML(a.renderer().Code(language, shown)) //nolint:gosec // package render makes it safe
}

// piece is cut for a text of a block that is folded.
func (a *abridger) piece(s string) (shown string, rest int) {
	n := maxPiece
	if a.light {
		n = max(leastPiece, min(maxPiece, maxFolded-a.folded))
	}
	shown, rest = a.cut(s, n)
	a.folded += len(shown)
	return shown, rest
}

// cut returns what is shown of s, and how many bytes are left out.
func (a *abridger) cut(s string, n int) (shown string, rest int) {
	if a.uncut {
		n = maxWhole
	}
	shown = render.Clip(s, n)
	return shown, len(s) - len(shown)
}

// looksLikePatch reports whether text looks like the output of diff.
func looksLikePatch(text string) bool {
	text = strings.TrimLeft(text, "\n")
	return strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "*** Begin Patch") || strings.HasPrefix(text, "@@ ") ||
		strings.HasPrefix(text, "--- ") && strings.Contains(text, "\n+++ ")
}
