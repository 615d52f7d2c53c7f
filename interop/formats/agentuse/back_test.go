package agentuse

import (
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

func TestAnyLineIsWrittenBack(t *testing.T) {
	interoptest.Back{Format: Format(), Session: ann, From: 17, Seeds: 8, Lay: func(t testing.TB) string {
		tr := newTree(t.(*testing.T))
		tr.begin(`{"id":"` + ann + `","time":{"created":1,"updated":2}}`)
		tr.part(1, `{"type":"text","text":"two","time":{"start":1002}}`)
		return tr.home
	}}.Run(t)
}
