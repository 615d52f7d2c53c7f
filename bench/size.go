package main

import "time"

// A size says how much work the experiments do.
type size struct {
	appends   int           // messages appended in a burst by one writer
	producers int           // concurrent writers
	each      int           // messages per writer, in a burst
	steady    int           // messages per writer while the index keeps up
	sustained time.Duration // how long a writer appends while the index keeps up
	long      int           // messages of the long session
	sessions  int           // sessions of the wide store
	perOne    int           // messages per session
	corpus    int64         // bytes of transcripts
	files     int           // number of files
}

func sizes() map[string]size {
	return map[string]size{
		"short": {
			appends: 10_000, producers: 64, each: 160, steady: 1_800, sustained: 10 * time.Second,
			long: 50_000, sessions: 5_000, perOne: 10, corpus: 64 << 20, files: 400,
		},
		"full": {
			appends: 10_000, producers: 64, each: 160, steady: 6_000, sustained: 2 * time.Minute,
			long: 1_000_000, sessions: 100_000, perOne: 10, corpus: 1 << 30, files: 6_000,
		},
	}
}
