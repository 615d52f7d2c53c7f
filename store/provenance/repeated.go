package provenance

import (
	"cmp"
	"slices"

	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/internal/git"
)

// repeated takes answers back where a commit has a line more often than sessions put it
// into the file: the others are a person's. Those stay that have the same lines beside
// them as in the session's text.
func (r *Attributor) repeated(lines []git.Line, all []Answer) {
	type group struct {
		commit *git.Commit
		text   string
	}
	same := map[group][]int{}
	for i := range lines {
		if c := all[i].Certainty; c == Exact && !all[i].replaced || c == Earlier {
			g := group{lines[i].Commit, textOf(&lines[i])}
			same[g] = append(same[g], i)
		}
	}
	for g, of := range same {
		n := times(r.lines[g.text])
		if len(of) <= n {
			continue
		}
		pairs := r.pairs(g.text)
		fit := func(i int) (n int) {
			before, after := around(lines, i)
			if pairs[[2]string{before, g.text}] {
				n++
			}
			if pairs[[2]string{g.text, after}] {
				n++
			}
			return n
		}
		slices.SortStableFunc(of, func(i, j int) int { return cmp.Compare(fit(j), fit(i)) })
		for k, i := range of {
			if k >= n || fit(i) == 0 {
				all[i] = Answer{spare: true}
			}
		}
	}
}

// times returns how often writes, one for each time that they have a line, may have put
// it into a file.
func times(writes []*Write) int {
	for _, w := range writes {
		if slices.ContainsFunc(w.Edit.Hunks, func(h edits.Hunk) bool { return h.All }) {
			return 1 << 30 // wherever the old text was
		}
	}
	return len(writes)
}

// pairs returns a line with those before and after it in the texts of the writes that
// have it.
func (r *Attributor) pairs(text string) map[[2]string]bool {
	all := map[[2]string]bool{}
	for _, w := range r.lines[text] {
		texts := [][]string{w.Edit.Added}
		for _, h := range w.Edit.Hunks {
			texts = append(texts, edits.Lines(h.New))
		}
		for _, lines := range texts {
			before := ""
			for _, l := range lines {
				if l = source(w.Edit.Path, l); l == "" {
					continue
				}
				if l == text || before == text {
					all[[2]string{before, l}] = true
				}
				before = l
			}
		}
	}
	return all
}

// around returns the lines before and after line i that are not blank; "" if there is none.
func around(lines []git.Line, i int) (before, after string) {
	for j := i - 1; j >= 0 && before == ""; j-- {
		before = textOf(&lines[j])
	}
	for j := i + 1; j < len(lines) && after == ""; j++ {
		after = textOf(&lines[j])
	}
	return before, after
}
