package status

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/job"
)

// statusInput is what Claude Code tells its status line:
// https://code.claude.com/docs/en/statusline (checked 2026-11-23 with 2.1.330).
type statusInput struct {
	Session string `json:"session_id"`
	Cwd     string `json:"cwd"`
	Model   struct {
		ID   string `json:"id"`
		Name string `json:"display_name"`
	} `json:"model"`
	Workspace struct {
		Current string `json:"current_dir"`
	} `json:"workspace"`
	Cost struct {
		USD float64 `json:"total_cost_usd"`
	} `json:"cost"`
	Context struct {
		Size int64    `json:"context_window_size"`
		Used *float64 `json:"used_percentage"` // null before the first answer
	} `json:"context_window"`
	Limits struct {
		Five  *rateLimit `json:"five_hour"`
		Seven *rateLimit `json:"seven_day"`
	} `json:"rate_limits"` // of a subscription
}

type rateLimit struct {
	Used   float64 `json:"used_percentage"`
	Resets int64   `json:"resets_at"` // Unix seconds
}

// A planWindow is a window of a subscription.
type planWindow struct {
	Percent float64    `json:"percent"`
	Resets  skein.Time `json:"resets"`
}

// resets reports whether the window is one that has not ended.
func (l planWindow) resets(now time.Time) bool { return l.Resets.Std().After(now) }

func (r *rateLimit) limit() (l planWindow) {
	if r != nil {
		l = planWindow{r.Used, skein.At(time.Unix(r.Resets, 0))}
	}
	return l
}

// planLimits are the windows of a subscription, as Claude Code said last.
type planLimits struct {
	Five  planWindow `json:"five_hour,omitzero"`
	Seven planWindow `json:"seven_day,omitzero"`
}

func limitsFile(j *job.Job) string { return filepath.Join(j.Dirs.State, "limits.json") }

func readLimits(j *job.Job) (l planLimits) {
	text, err := os.ReadFile(limitsFile(j))
	if err == nil {
		_ = json.Unmarshal(text, &l) // a broken file is replaced
	}
	return l
}

// keep keeps what is new. The error is the file system's.
func (l planLimits) keep(j *job.Job) error {
	if l == (planLimits{}) || l == readLimits(j) {
		return nil
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(j.Dirs.State, 0o700); err != nil {
		return err
	}
	return config.ReplaceFile(limitsFile(j), text)
}
