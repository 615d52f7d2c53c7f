package exchange

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/store/transfer"
)

// barEvery is the shortest time between two drawings of a progress bar.
const barEvery = 100 * time.Millisecond

// A Bar shows progress on one line of stderr, which is cleared at the end.
// If stderr is not a terminal, it shows nothing.
type Bar struct {
	Job   *job.Job
	doing string
	drawn time.Time
}

// Imported shows how far an import is.
func (b *Bar) Imported(p interop.Progress) { b.show("importing", p.Bytes, p.Size, terminal.BytesText) }

// Transferred shows how far a transfer between stores is.
func (b *Bar) Transferred(p transfer.Progress) {
	b.show(p.Doing, int64(p.Done), int64(p.Of), func(n int64) string { return strconv.FormatInt(n, 10) })
}

// show draws the bar for done out of the total, of; text formats both numbers.
func (b *Bar) show(doing string, done, of int64, text func(int64) string) {
	if !b.Job.Terminal.Err || of <= 0 {
		return
	}
	done = min(max(done, 0), of)
	if now := time.Now(); b.doing != doing || done == of || now.Sub(b.drawn) >= barEvery {
		b.doing, b.drawn = doing, now
		fmt.Fprint(b.Job.Stderr, clearLine+barLine(doing, done, of, text, terminal.CmpOr(b.Job.Terminal.Width, 80)))
	}
}

// End removes the bar.
func (b *Bar) End() {
	if b.doing != "" {
		fmt.Fprint(b.Job.Stderr, clearLine)
		b.doing = ""
	}
}

// clearLine goes to the beginning of the line and clears it.
const clearLine = "\r\x1b[K"

// barLine returns a bar that fits into columns. If there is not enough room, the
// numbers are left out first, then the bar.
func barLine(doing string, done, of int64, text func(int64) string, columns int) string {
	const cells = 30
	full := int(float64(done) / float64(of) * cells)
	line := fmt.Sprintf("%s %3d%%", doing, int(float64(done)/float64(of)*100))
	for _, more := range []string{" [" + strings.Repeat("=", full) + strings.Repeat(" ", cells-full) + "]", " " + text(done) + " of " + text(of)} {
		if len(line)+len(more) >= columns {
			break
		}
		line += more
	}
	return line
}
