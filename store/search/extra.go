package search

import "unicode/utf8"

// Limits of what Extra splits.
const (
	maxIdentifier = 64  // bytes of a word; a longer one is data
	minData       = 40  // bytes of a run that may be base64
	maxData       = 160 // bytes of it that are examined, on each side of a word
)

// Extra returns what search must find in text besides its words: the pieces of
// identifiers that are written as one word (parseConfigFile gives parse Config File,
// HTTPServer2 gives HTTP Server2) and, because Chinese, Japanese and Korean are
// written without spaces, each pair of adjacent characters, with the last character
// of a run alone (東京都 gives 東京 京都 都). Pieces that are separated by characters
// other than letters and digits, such as those of foo_bar and a/b.go, are words
// already.
//
// The pieces are in the order of the text, each identifier once, separated by single
// spaces. Identifiers of more than 64 bytes and what looks like base64 are left out.
// The result is "" for most prose, and never longer than three times the text.
//
// An index keeps it in a column of its own; [Phrases] returns what to look for there.
func Extra(text string) string {
	x := extra{text: text}
	for i := 0; i < len(text); {
		c := classes[text[i]]
		if c == other {
			i++
			continue
		}
		start, humps, high := i, false, c == beyond
		for last := c; ; last = c {
			if i++; i == len(text) {
				break
			}
			if c = classes[text[i]]; c == other {
				break
			}
			humps = humps || c == upper && last != upper || c == lower && last == upper && i-start > 1
			high = high || c == beyond
		}
		switch {
		case high:
			x.mixed(start, i)
		case humps:
			x.identifier(text[start:i], start)
		}
	}
	return string(x.out)
}

// extra collects pieces.
type extra struct {
	text string
	out  []byte
	seen map[string]bool // identifiers that were split before
}

func (x *extra) put(piece string) {
	if len(x.out) > 0 {
		x.out = append(x.out, ' ')
	}
	x.out = append(x.out, piece...)
}

// identifier splits word, which begins at start, if it is an identifier of several
// pieces.
func (x *extra) identifier(word string, start int) {
	if len(word) > maxIdentifier || x.seen[word] {
		return
	}
	first := hump(word)
	if first == len(word) {
		return
	}
	pieces := 1
	for rest := word[first:]; rest != ""; rest = rest[hump(rest):] {
		pieces++
	}
	if len(word) < 2*pieces || x.data(start, start+len(word)) {
		return
	}
	if x.seen == nil {
		x.seen = map[string]bool{}
	}
	x.seen[word] = true
	for rest := word; rest != ""; {
		n := hump(rest)
		x.put(rest[:n])
		rest = rest[n:]
	}
}

// hump returns the length of the first piece of word: up to a capital after
// something else, or up to the last of several capitals if two lowercase letters
// follow, so that URLs and IDs stay whole.
func hump(word string) int {
	for i := 1; i < len(word); i++ {
		if classes[word[i]] != upper {
			continue
		}
		if classes[word[i-1]] != upper {
			return i
		}
		if i+2 < len(word) && classes[word[i+1]] == lower && classes[word[i+2]] == lower {
			return i
		}
	}
	return len(word)
}

// data reports whether the word from start to end is in base64 or the like: a long
// run of its characters that changes between uppercase, lowercase and digits more
// often than every three and a half bytes.
func (x *extra) data(start, end int) bool {
	from, to := start, end
	for from > max(0, start-maxData) && base64(x.text[from-1]) {
		from--
	}
	for to < min(len(x.text), end+maxData) && base64(x.text[to]) {
		to++
	}
	changes := 0
	for i := from + 1; i < to; i++ {
		a, b := classes[x.text[i-1]], classes[x.text[i]]
		if a != b && a != other && b != other && !(a == upper && b == lower) {
			changes++
		}
	}
	return to-from >= minData && 7*changes > 2*(to-from)
}

func base64(c byte) bool {
	k := classes[c]
	return k == lower || k == upper || k == digit || c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}

// mixed splits text[from:to], which has characters that are not ASCII.
func (x *extra) mixed(from, to int) {
	run := x.text[from:to]
	for start, end := nextWord(run, 0); start < len(run); start, end = nextWord(run, end) {
		word := run[start:end]
		n := scriptRun(word)
		if r, _ := utf8.DecodeRuneInString(word); n == len(word) && !cjk(r) {
			x.identifier(word, from+start)
			continue
		}
		for word != "" {
			n = scriptRun(word)
			if r, _ := utf8.DecodeRuneInString(word); cjk(r) {
				x.pairs(word[:n])
			} else {
				x.put(word[:n])
			}
			word = word[n:]
		}
	}
}

// pairs adds each pair of adjacent characters of run, and the last character.
func (x *extra) pairs(run string) {
	for run != "" {
		n := runeLen(run)
		if n < len(run) {
			x.put(run[:n+runeLen(run[n:])])
		} else {
			x.put(run)
		}
		run = run[n:]
	}
}

// scriptRun returns how many bytes at the start of word are all CJK, or all not.
func scriptRun(word string) int {
	first, _ := utf8.DecodeRuneInString(word)
	for i, r := range word {
		if cjk(r) != cjk(first) {
			return i
		}
	}
	return len(word)
}

// cjk reports whether r is a letter of a script that is written without
// spaces, or, like Korean, with endings attached to the words.
func cjk(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r >= 0x4e00 && r <= 0x9fff, // Han
		r >= 0x3041 && r <= 0x3096, r >= 0x309d && r <= 0x309f, // Hiragana
		r >= 0x30a1 && r <= 0x30fa, r >= 0x30fc && r <= 0x30ff, r >= 0x31f0 && r <= 0x31ff, // Katakana
		r >= 0xac00 && r <= 0xd7a3, r <= 0x11ff, // Hangul
		r >= 0x3400 && r <= 0x4dbf, r >= 0xf900 && r <= 0xfaff, r >= 0x20000 && r <= 0x323af, // more Han
		r >= 0x3005 && r <= 0x3007, r >= 0x3105 && r <= 0x312f, r >= 0xff66 && r <= 0xff9f: // signs, Bopomofo, narrow Katakana
		return true
	}
	return false
}
