//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/acp/acptest"
)

// BenchmarkACP measures how long an update takes from the agent to the editor: directly,
// and with skein between them, which records it in SQLite.
func BenchmarkACP(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for _, how := range [][]string{{self}, {self, "acp", "--", "env", asProgram + "=agent", self}} {
		name, as := "direct", "agent"
		if len(how) > 1 {
			name, as = "skein", "1"
		}
		b.Run(name, func(b *testing.B) {
			cmd := exec.Command(how[0], how[1:]...) //nolint:gosec // this program
			cmd.Env = []string{asProgram + "=" + as, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SKEIN_HOME=" + filepath.Join(dir, "home"), agentDir + "=" + dir}
			in, err := cmd.StdinPipe()
			if err != nil {
				b.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			e := acptest.NewEditor(b, out, in)
			e.Initialize()
			id := e.New(dir)
			var took []time.Duration
			for b.Loop() {
				n := len(e.Lines(0))
				e.Prompt(id, "stamp 2000")
				times := e.Times(n)
				for i, u := range e.Lines(n) {
					sent, err := strconv.ParseInt(acptest.Texts(acptest.Updates([][]byte{u}, id), "agent_message_chunk"), 10, 64)
					if err == nil {
						took = append(took, times[i].Sub(time.Unix(0, sent)))
					}
				}
			}
			in.Close()
			_ = cmd.Wait() // it has ended
			slices.Sort(took)
			for _, p := range []int{50, 99} {
				b.ReportMetric(float64(took[len(took)*p/100].Microseconds()), fmt.Sprintf("µs-p%d", p))
			}
		})
	}
}
