package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/skein-dev/skein/cli"
	"github.com/skein-dev/skein/cli/config"
)

func main() {
	ignoreLimits()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(cli.Main(ctx, env(), os.Args[1:]))
}

// env returns the program's environment.
func env() *config.Env {
	return &config.Env{
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: terminal(),
		Getenv:   os.Getenv,
		Getwd:    os.Getwd,
		Now:      time.Now,
		OS:       runtime.GOOS,
		Version:  version(),
		Open:     open,
		Keys:     keys,
		KeyRing:  keyRing{},
		Detach:   detach,
	}
}

// detach starts this program without a terminal and without this process's output, so
// that nothing that waits for the end of that output waits for it.
func detach(d config.Detached) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, d.Args...)
	c.Dir, c.SysProcAttr = d.Dir, alone()
	if d.Output != "" {
		f, err := os.OpenFile(d.Output, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // the process has its own
		c.Stdout, c.Stderr = f, f
	}
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}

// keys makes the terminal of stdin deliver each key as it is pressed.
func keys() (restore func() error, err error) {
	was, err := term.MakeRaw(os.Stdin.Fd())
	return func() error { return term.Restore(os.Stdin.Fd(), was) }, err
}

// terminal examines the process's streams.
func terminal() config.TerminalInfo {
	t := config.TerminalInfo{
		In:  term.IsTerminal(os.Stdin.Fd()),
		Out: term.IsTerminal(os.Stdout.Fd()) && canColour(os.Stdout),
		Err: term.IsTerminal(os.Stderr.Fd()) && canColour(os.Stderr),
	}
	switch {
	case t.Out:
		t.Width, t.Height, _ = term.GetSize(os.Stdout.Fd())
	case t.Err: // stderr is wrapped to a width too
		t.Width, t.Height, _ = term.GetSize(os.Stderr.Fd())
	}
	return t
}
