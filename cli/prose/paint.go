package prose

import "fmt"

// A Paint adds colors to text for a terminal, or leaves it plain.
type Paint struct {
	On bool // use colors
}

// SGR returns text between the ANSI attribute code and a reset; without colors, it
// returns text unchanged.
func (p Paint) SGR(code int, text string) string {
	if !p.On || text == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", code, text)
}

// Bold returns s in bold.
func (p Paint) Bold(s string) string { return p.SGR(1, s) }

// Dim returns s in faint text.
func (p Paint) Dim(s string) string { return p.SGR(2, s) }

// Red returns s in red.
func (p Paint) Red(s string) string { return p.SGR(31, s) }

// Green returns s in green.
func (p Paint) Green(s string) string { return p.SGR(32, s) }

// Yellow returns s in yellow.
func (p Paint) Yellow(s string) string { return p.SGR(33, s) }

// Cyan returns s in cyan.
func (p Paint) Cyan(s string) string { return p.SGR(36, s) }
