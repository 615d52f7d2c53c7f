//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/server/acp/acptest"
)

// asProgram makes the test binary act as the program. Its value says at which
// append the program dies (before 3, after 3); with any other value it does not.
const asProgram = "SKEIN_TEST_PROGRAM"

// peakFile names the file to which the program writes how much memory it had, if
// asProgram is "measured".
const peakFile = "SKEIN_TEST_PEAK"

func TestMain(m *testing.M) {
	switch at := os.Getenv(asProgram); at {
	case "":
		os.Exit(m.Run())
	case "1":
		main()
	case "agent":
		a := acptest.ScriptedAgent{Dir: os.Getenv(agentDir), Name: "test-agent", Can: os.Getenv(agentCan)}
		_ = a.Serve(os.Stdin, os.Stdout) // its input has ended
	case "mcp":
		serveMCP()
	case "measured":
		code := cli.Main(context.Background(), env(), os.Args[1:])
		if err := os.WriteFile(os.Getenv(peakFile), fmt.Appendf(nil, "%d", peakMemory()), 0o600); err != nil {
			code = 99
		}
		os.Exit(code)
	default:
		os.Exit(cli.Main(context.Background(), mortal(at), os.Args[1:]))
	}
}

// mortal returns the environment of a program that dies at a place.
func mortal(at string) *config.Env {
	e := env()
	open := e.Open
	e.Open = func(ctx context.Context, place config.Place) (skein.Store, error) {
		s, err := open(ctx, place)
		if err != nil {
			return nil, err
		}
		return passing{s, at, new(atomic.Int64)}, nil
	}
	return e
}

// A passing store ends its process at one of its appends, as kill -9 does.
type passing struct {
	skein.Store
	at string
	n  *atomic.Int64 // appends begun
}

func (s passing) Unwrap() skein.Store { return s.Store }

func (s passing) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	n := s.n.Add(1)
	s.reach("before", n)
	r, err := s.Store.Append(ctx, batches...)
	s.reach("after", n)
	return r, err
}

// As implements [skein.Store].
func (s passing) As(u skein.User) skein.Store { return passing{s.Store.As(u), s.at, s.n} }

func (s passing) reach(when string, n int64) {
	if fmt.Sprintf("%s %d", when, n) != s.at {
		return
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(err)
	}
	select {} // wait for the signal
}
