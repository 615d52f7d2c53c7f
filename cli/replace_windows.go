package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// replace runs another program on this one's terminal and ends with its exit
// code: a process cannot be replaced on Windows. It returns only if the program
// cannot be run.
func replace(env *Env, path string, args, vars []string) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt) // Ctrl-C is the other program's
	c := exec.Command(path)
	c.Args, c.Env = args, vars
	c.Stdin, c.Stdout, c.Stderr = env.Stdin, env.Stdout, env.Stderr
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return err
	}
	os.Exit(c.ProcessState.ExitCode())
	return nil
}
