package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// build returns the program skein, built with the given tags; "" is pure Go.
func (e *fixture) build(ctx context.Context, tags string) (string, error) {
	if bin := e.bins[tags]; bin != "" {
		return bin, nil
	}
	bin := filepath.Join(e.dir, "skein-"+strings.NewReplacer(" ", "-", ",", "-").Replace(tags))
	cgo := "CGO_ENABLED=0"
	if tags != "" {
		cgo = "CGO_ENABLED=1"
	}
	where, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/skein-dev/skein").Output()
	if err != nil {
		return "", fmt.Errorf("go list, run in the folder bench: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-C", strings.TrimSpace(string(where)), "-o", bin, "-tags", tags, "./cmd/skein")
	cmd.Env = append(os.Environ(), cgo)
	if err := silent(cmd); err != nil {
		return "", err
	}
	if e.bins == nil {
		e.bins = map[string]string{}
	}
	e.bins[tags] = bin
	return bin, nil
}

// home returns an environment in which skein keeps everything in dir.
func home(dir string) []string {
	return append(os.Environ(), "SKEIN_HOME="+dir, "HOME="+dir, "NO_COLOR=1")
}

// silent runs cmd; its error includes what cmd wrote to stderr.
func silent(cmd *exec.Cmd) error {
	_, err := watched(cmd)
	return err
}

// watched is silent and returns the most memory that cmd had, in bytes; 0 if
// the system does not report it.
func watched(cmd *exec.Cmd) (peak int64, err error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	if err = cmd.Start(); err == nil {
		done, seen := make(chan struct{}), make(chan int64)
		go func() { seen <- watchMemory(cmd.Process.Pid, done) }()
		err = cmd.Wait()
		close(done)
		peak = max(<-seen, peakMemory(cmd.ProcessState))
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said.String()))
	}
	return peak, nil
}
