//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/skein-dev/skein/llm/llmtest"
)

// hanging returns an answer that stalls after so many bytes.
func hanging(bytes int) llmtest.Reply {
	return llmtest.Breaks(llmtest.Says("One two three four five six seven."), llmtest.Hang, bytes)
}

func TestAProviderThatHangsIsGivenUpInTime(t *testing.T) {
	for _, bytes := range []int{0, 500} {
		t.Run(fmt.Sprint("after byte ", bytes), func(t *testing.T) {
			at(t, nil, func(d *desk) {
				d.server.Otherwise(hanging(bytes)) // a slow run ends before it asks
				hasty := filepath.Join(d.work, "hasty.md")
				if err := os.WriteFile(hasty, []byte("---\nname: hasty\ntimeout: 1\n---\nBe quick.\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				d.types("run", "--key", "k", "--model", d.model, "--agent", hasty, "hello").want(1, "", "took longer than its agent allows", "skein continue", "Resume with: ")
				d.server.Otherwise(llmtest.Says("It is so."))
				if err := os.WriteFile(hasty, []byte("---\nname: hasty\n---\nBe quick.\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				d.types("continue").want(0, "It is so.\n")
				d.whole()
			})
		})
	}
}

// Ctrl-C ends a run that waits for its provider, in every phase.
func TestCtrlCEndsARunThatWaits(t *testing.T) {
	busy := llmtest.Fails(429, "Slow down.")
	busy.After = time.Minute
	for what, reply := range map[string]llmtest.Reply{"nothing comes": hanging(0), "an answer stops": hanging(500), "it is busy": busy} {
		t.Run(what, func(t *testing.T) {
			at(t, []llmtest.Reply{reply}, func(d *desk) {
				p := d.start("1", "run", "--key", "k", "--model", d.model, "hello")
				d.asked(1)
				p.signal(syscall.SIGINT)
				p.wait().want(130, "", "skein: interrupted\n", "Resume with: ")
				d.types("continue").want(0, "It is so.\n")
				d.whole()
			})
		})
	}
}
