package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"time"
)

// options say how much is done; each has a limit.
type options struct {
	sessions, conns, readers, rate int
	seconds                        time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	var o options
	seconds := flag.Int("seconds", 5, "`seconds` that each kind of load lasts, at most 60")
	only := flag.String("only", "", "only kinds whose name this `expression` matches: start, appends, pages, readers, stop")
	kept := flag.String("store", "", "`folder` that the store is kept in, to be copied when the program runs again; none if empty")
	bin := flag.String("skein", "", "`program` to load; built from here if empty")
	flag.IntVar(&o.sessions, "sessions", 2000, "sessions of 10 messages in the store, at most 1,000,000")
	flag.IntVar(&o.conns, "conns", 64, "connections that append, at most 256")
	flag.IntVar(&o.readers, "readers", 1000, "readers of the stream, at most 1,000")
	flag.IntVar(&o.rate, "rate", 100, "messages a second while there are readers, at most 10,000")
	flag.Parse()
	o.seconds = time.Duration(min(*seconds, 60)) * time.Second
	o.sessions, o.conns, o.readers, o.rate = min(o.sessions, 1_000_000), min(o.conns, 256), min(o.readers, 1000), min(o.rate, 10_000)
	want, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "skein-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if *bin == "" {
		if *bin, err = build(ctx, dir); err != nil {
			return err
		}
	}
	word, err := filled(ctx, dir, *kept, o.sessions)
	if err != nil {
		return err
	}
	s, err := start(ctx, *bin, dir)
	if err != nil {
		return err
	}
	defer s.kill()
	s.word = word
	fmt.Printf("| what | measured | goal | holds |\n| --- | --- | --- | --- |\n")
	row("start", fmt.Sprintf("%.0f ms until it answers, %d sessions, %d MB", ms(s.took), o.sessions, s.size>>20), "200 ms", s.took < 200*time.Millisecond)
	for _, kind := range []struct {
		name string
		do   func(context.Context, *server, options) error
	}{{"pages", pages}, {"appends", appends}, {"readers", readers}, {"stop", stopping}} {
		if !want.MatchString(kind.name) {
			continue
		}
		if err := kind.do(ctx, s, o); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
	}
	return nil
}

// row prints the result of one kind of load.
func row(what, measured, goal string, holds bool) {
	word := "yes"
	if !holds {
		word = "NO"
	}
	fmt.Printf("| %s | %s | %s | %s |\n", what, measured, goal, word)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
