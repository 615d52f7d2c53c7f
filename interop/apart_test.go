package interop_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A counter counts the questions about files and about where events are.
type counter struct {
	skein.Store
	skein.Sources
	asked int
}

func (c *counter) Unwrap() skein.Store { return c.Store }

func (c *counter) File(ctx context.Context, format, path string) (skein.SourceFile, error) {
	c.asked++
	return c.Sources.File(ctx, format, path)
}

func (c *counter) Find(ctx context.Context, keys []skein.ClientID) (map[skein.ClientID]skein.Place, error) {
	c.asked++
	return c.Sources.Find(ctx, keys)
}

// Thousands of files can have titles for sessions whose files are long gone. Looking for
// these once for each file took most of an import that found no change.
func TestWhatWaitsForOtherFilesIsLookedUpTogether(t *testing.T) {
	p := newPlace(t)
	const files = 40
	for i := range files {
		p.write(fmt.Sprintf("a%d.toy", i), fmt.Sprintf(`{"for":"gone%d","say":"title"}`+"\n", i), fmt.Sprintf("m%d", i))
	}
	p.write("b.toy", `{"for":"late","say":"title"}`+"\n", "b1")
	p.bring(interop.Options{})
	whole := p.store
	c := &counter{Store: whole, Sources: skein.SourcesOf(whole)}
	p.store = c
	p.bring(interop.Options{})
	if c.asked != 1 {
		t.Errorf("an import of %d unchanged files that wait for others asked the store %d times, want once", files+1, c.asked)
	}
	p.write("late.toy", "late")
	p.bring(interop.Options{})
	p.wants("late", "created late T:title")
}
