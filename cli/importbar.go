package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/skein-dev/skein/interop"
)

// An importBar shows on a terminal how far an import has come.
type importBar struct {
	bar *progressbar.ProgressBar
	j   *job
}

func (b *importBar) show(p interop.Progress) {
	if !b.j.Terminal.Err || p.Size == 0 {
		return
	}
	if b.bar == nil {
		wide := cmpOr(b.j.Terminal.Width, 80) >= 60
		b.bar = progressbar.NewOptions64(p.Size, progressbar.OptionSetWriter(b.j.Stderr), progressbar.OptionShowBytes(wide),
			progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetDescription("importing"))
	}
	if p.Size != b.bar.GetMax64() {
		b.bar.ChangeMax64(p.Size)
	}
	_ = b.bar.Set64(min(p.Bytes, p.Size)) //nolint:errcheck // a bar that cannot be drawn is no reason to stop
}

func (b *importBar) end() {
	if b.bar != nil {
		_ = b.bar.Clear() //nolint:errcheck // as above
		b.bar = nil
	}
}
