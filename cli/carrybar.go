package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/skein-dev/skein/carry"
)

// A carryBar shows on a terminal how far sessions have come on their way.
type carryBar struct {
	bar   *progressbar.ProgressBar
	doing string
	j     *job
}

func (b *carryBar) show(p carry.Progress) {
	if !b.j.Terminal.Err || p.Of == 0 {
		return
	}
	if b.doing != p.Doing {
		b.end()
	}
	if b.bar == nil {
		b.doing = p.Doing
		b.bar = progressbar.NewOptions(p.Of, progressbar.OptionSetWriter(b.j.Stderr), progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetDescription(p.Doing), progressbar.OptionShowCount())
	}
	_ = b.bar.Set(min(p.Done, p.Of)) //nolint:errcheck // a bar that cannot be drawn is no reason to stop
}

func (b *carryBar) end() {
	if b.bar != nil {
		_ = b.bar.Clear() //nolint:errcheck // as above
		b.bar = nil
	}
}
