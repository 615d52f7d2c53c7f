package postgres

import (
	"testing"

	"github.com/skein-dev/skein"
)

// BenchmarkReads reads from 100,000 sessions of one user and as many of others; one of
// them has 1,000,000 messages.
func BenchmarkReads(b *testing.B) {
	all := opened(b)
	crowd(b, all, 100_000, 1_000_000)
	ann := all.As("ann").(*Store)
	count := func(b *testing.B, s skein.Store, f skein.Filter, want int) {
		n := 0
		for _, err := range s.Sessions(b.Context(), f) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != want {
			b.Fatalf("Sessions yields %d, want %d", n, want)
		}
	}
	for _, c := range []struct {
		name string
		run  func(b *testing.B)
	}{
		{"newest 50", func(b *testing.B) {
			if es, err := ann.Newest(b.Context(), "s0000001", 50, 0); err != nil || len(es) != 50 {
				b.Fatalf("Newest = %d, %v", len(es), err)
			}
		}},
		{"window 50", func(b *testing.B) {
			if evs, err := ann.Window(b.Context(), "s0000001", 50); err != nil || len(evs) < 50 {
				b.Fatalf("Window = %d, %v", len(evs), err)
			}
		}},
		{"session", func(b *testing.B) {
			if _, err := ann.Session(b.Context(), "s0000077"); err != nil {
				b.Fatal(err)
			}
		}},
		{"list 50", func(b *testing.B) { count(b, ann, skein.Filter{Limit: 50}, 50) }},
		{"everybody's list 50", func(b *testing.B) { count(b, all, skein.Filter{Limit: 50}, 50) }},
		{"list 50 of a project", func(b *testing.B) { count(b, ann, skein.Filter{Project: "/p7", Limit: 50}, 50) }},
		{"end of an ID", func(b *testing.B) { count(b, ann, skein.Filter{IDSuffix: "0000123", Limit: 2}, 1) }},
		{"title", func(b *testing.B) { count(b, ann, skein.Filter{Title: "word 77777", Limit: 2}, 1) }},
		{"usage by day", func(b *testing.B) {
			if _, err := ann.Usage(b.Context(), skein.UsageQuery{}); err != nil {
				b.Fatal(err)
			}
		}},
		{"usage by project", func(b *testing.B) {
			if _, err := ann.Usage(b.Context(), skein.UsageQuery{By: skein.ByProject}); err != nil {
				b.Fatal(err)
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.run(b)
			}
		})
	}
}
