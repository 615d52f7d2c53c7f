package provenance

import (
	"context"
	"strings"

	"github.com/skein-dev/skein"
)

// A Rationale is why a call was made, as far as its session says.
type Rationale struct {
	Prompt string // what a person said at the beginning of the turn
	Said   string // what the model said and thought before the call, since the result before it
}

// Why returns the reason for a write. The error is the store's.
func Why(ctx context.Context, store skein.Store, w *Write) (Rationale, error) {
	for n := 20; ; n *= 10 {
		entries, err := store.Newest(ctx, w.Session, n, w.Seq+1)
		if err != nil {
			return Rationale{}, err
		}
		r, found := reason(entries, w.Call)
		if found || len(entries) < n {
			return r, nil
		}
	}
}

// reason looks for the reason of a call in the messages up to it, and reports whether
// they begin early enough.
func reason(entries []skein.Entry, call string) (r Rationale, found bool) {
	var said []string
	before := false // the result before it was met
	for i := len(entries) - 1; i >= 0; i-- {
		m := &entries[i].Message
		if m.Typed() {
			r.Prompt, found = m.Prompt(), true
			break
		}
		if m.Role != skein.RoleAssistant || before {
			before = before || m.Role == skein.RoleTool && i < len(entries)-1
			continue
		}
		if words := saidBefore(m, call); words != "" {
			said = append([]string{words}, said...)
		}
	}
	r.Said = strings.Join(said, "\n\n")
	return r, found
}

// saidBefore returns the texts and the reasoning of a message, up to a call.
func saidBefore(m *skein.Message, call string) string {
	var all []string
	for _, p := range m.Parts {
		if p.Call != nil && p.Call.ID == call {
			break
		}
		if text := strings.TrimSpace(p.Text.UTF8()); text != "" && (p.Kind == skein.PartText || p.Kind == skein.PartReasoning) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n\n")
}
