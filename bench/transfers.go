package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/skein-dev/skein/bench/gen"
)

// transfers measures the memory of the commands that send a long message to another
// store or to another program's file, and of the server that they talk to.
func (b *bound) transfers(ctx context.Context) error {
	const message = "a message of 33 MB: "
	here, there := b.in("here"), b.in("there")
	if err := here.command(message+"append to send", "append", "cli:carried", b.text, "--create"); err != nil {
		return err
	}
	for _, c := range []struct {
		what string
		by   *bound
		args func(url string) []string
	}{
		{"push", here, func(url string) []string { return []string{"push", "--to", url} }},
		{"pull", there, func(url string) []string { return []string{"pull", "--from", url} }},
		{"show from a server", there, func(url string) []string { return []string{"show", "cli:carried", "--store", url} }},
	} {
		err := b.served(message+c.what+", the server", boundOfOne, func(s *served) error {
			return c.by.command(message+c.what, c.args(s.url)...)
		})
		if err != nil {
			return err
		}
	}
	return b.synced(ctx, message)
}

// synced measures sync of a session to whose file a long message is added.
func (b *bound) synced(ctx context.Context, message string) error {
	t := gen.NewTranscript(4712)
	t.Ask("hello")
	own := b.in("synced")
	file := filepath.Join(own.dir, ".claude", "projects", "-home-ada-short", t.ID+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file, t.Bytes(), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"import", file}, {"append", t.ID, b.text}} {
		cmd := exec.CommandContext(ctx, own.bin, args...)
		cmd.Env = home(own.dir)
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return own.command(message+"sync", "sync", t.ID)
}
