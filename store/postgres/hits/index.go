package hits

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/columns"
)

// Waiting is the condition that a row of the journal j is not fully indexed.
const Waiting = `(j.xid, j.ordinal) >= ((SELECT xid FROM indexed), (SELECT ordinal FROM indexed))
	AND ((j.xid, j.ordinal) > ((SELECT xid FROM indexed), (SELECT ordinal FROM indexed)) OR j.upto > (SELECT seq FROM indexed))`

// TextOf returns the facts that search finds in an event; for an amended event, which
// amends one of the kind aimed, those of the new content. Their text is as a text
// column can hold it. ok is false if there is nothing to find.
func TextOf(e skein.Event, aimed skein.Kind) (f skein.Facts, ok bool) {
	f, err := skein.FactsOf(e)
	if err != nil {
		return f, false
	}
	now, err := ledger.Now(&f, ledger.Target{Kind: aimed})
	if err != nil {
		return f, false
	}
	f = *now
	f.Text = columns.Plain(f.Text)
	return f, f.Text != "" || f.Failed
}

// EditsOf returns what the row of an event in the index has of its edits, in order; nil if
// there are none.
func EditsOf(f *skein.Facts) (all []int32) {
	if f.Message == nil || f.Role != skein.RoleAssistant {
		return nil
	}
	for _, k := range edits.KeysOf(f.Message) {
		all = append(all, int32(k))
	}
	return all
}
