package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

// The assumptions of the arithmetic of docs/scaling.md.
const (
	sessionsPerUser  = 100
	eventsPerSession = 100
	years            = 3  // during which all of it was appended
	peak             = 10 // the busiest second, as a multiple of the mean
)

func main() {
	users := flag.Int("users", 1_000_000, "`users`, at most 10,000,000")
	sigma := flag.Float64("sigma", 1.5, "how unequal users are: standard `deviation` of the logarithm of their sessions; 0: all alike")
	corpus := flag.String("corpus", os.Getenv("SKEIN_CORPUS"), "`folder` with sessions to take the sizes from")
	row := flag.Float64("row", 0, "bytes that a `store` takes for an event beside its payload, indexes included; 0: as measured for docs/scaling.md")
	flag.Parse()
	if err := run(os.Stdout, min(*users, 10_000_000), *sigma, *corpus, *row); err != nil {
		fmt.Fprintln(os.Stderr, "spread:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, n int, sigma float64, corpus string, row float64) error {
	s, err := shapeOf(corpus)
	if err != nil {
		return err
	}
	if row == 0 {
		row = beside
	}
	p := population{rand.New(rand.NewPCG(1, 2)), s, sigma, row}
	shards := []int{32, 64, 128}
	spreads := make([]*spread, len(shards))
	for i, n := range shards {
		spreads[i] = newSpread(n)
	}
	var all moments
	for i := range n {
		u := p.user(i)
		all.add(float64(u.events))
		for _, s := range spreads {
			s.put(u)
		}
	}
	fmt.Fprintf(w, "%d users, %.0f sessions, %.0f events, %.1f TB; a session has %.0f records on average in %s\n",
		n, spreads[0].sessions(), all.sum, spreads[0].bytes()/1e12, s.mean, s.from)
	fmt.Fprintf(w, "the busiest user has %.4f%% of the events; users vary by %.2f times their mean\n", 100*all.max/all.sum, all.variation())
	for _, s := range spreads {
		s.print(w, all)
	}
	return nil
}
