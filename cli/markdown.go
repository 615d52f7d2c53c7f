package cli

import (
	"strings"

	"charm.land/glamour/v2"
	"charm.land/glamour/v2/ansi"
	"charm.land/glamour/v2/styles"

	"github.com/skein-dev/skein/render"
)

// maxMarkdown is the longest text that is rendered, in bytes: longer ones take
// too long and stay as they are.
const maxMarkdown = 128 << 10

// A markdown renders Markdown for a terminal. The zero value leaves it as it
// is.
type markdown struct{ term *glamour.TermRenderer }

// newMarkdown returns one for a terminal of this width.
func newMarkdown(j *job, width int) *markdown {
	term, err := glamour.NewTermRenderer(glamour.WithStyles(markdownStyle(j)), glamour.WithWordWrap(min(width, 100)))
	if err != nil {
		return &markdown{}
	}
	return &markdown{term}
}

// markdownStyle returns the colours: for a dark terminal, unless COLORFGBG says
// that it is light, or none. Asking the terminal itself would make us wait for
// an answer that not all of them give.
func markdownStyle(j *job) ansi.StyleConfig {
	style := styles.DarkStyleConfig
	if bg := j.Getenv("COLORFGBG"); strings.HasSuffix(bg, ";15") || strings.HasSuffix(bg, ";7") {
		style = styles.LightStyleConfig
	}
	if !j.paint.on {
		style = styles.ASCIIStyleConfig
	}
	none := uint(0)
	style.Document.Margin = &none
	style.Document.BlockPrefix, style.Document.BlockSuffix = "", ""
	return style
}

// render returns text, which nobody vouches for, as the terminal shows it.
func (m *markdown) render(text string) string {
	text = render.CleanMarkdown(text)
	if m.term == nil || len(text) > maxMarkdown {
		return strings.TrimRight(text, "\n")
	}
	out, err := m.term.Render(text)
	if err != nil {
		return strings.TrimRight(text, "\n")
	}
	return strings.Trim(out, "\n")
}
