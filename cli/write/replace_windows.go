package write

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"github.com/skein-dev/skein/cli/config"
)

// replace runs another program on this one's terminal and exits with its exit code:
// on Windows a process cannot be replaced. It returns only if the program cannot be
// run.
func replace(env *config.Env, path string, args, vars []string) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt) // leave Ctrl-C to the other program
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
