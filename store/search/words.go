package search

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// For every search, a word is a run of letters and digits (Unicode categories L, N
// and Co) with the combining marks in it, as for SQLite's unicode61 tokenizer.
// Everything else separates words: foo_bar is two words, a/b.go three. Words are
// compared folded: in lowercase, Latin letters without their accents.

// nextWord returns the start and end of the first word of text at or after from;
// both are len(text) if there is none.
func nextWord(text string, from int) (start, end int) {
	for start = from; start < len(text); {
		n := wordRune(text[start:], false)
		if n > 0 {
			for end = start + n; end < len(text); end += n {
				if n = wordRune(text[end:], true); n == 0 {
					break
				}
			}
			return start, end
		}
		start += runeLen(text[start:])
	}
	return len(text), len(text)
}

// Words yields the words of text in order: the position of each, and its folded form,
// in lowercase, Latin letters without accents. An index of these words, and of those
// of [Extra], finds the phrases of [Phrases].
func Words(text string) iter.Seq2[ByteRange, string] {
	return func(yield func(ByteRange, string) bool) {
		for start, end := nextWord(text, 0); start < len(text); start, end = nextWord(text, end) {
			if !yield(ByteRange{start, end}, fold(text[start:end])) {
				return
			}
		}
	}
}

// wordRune returns the length of the first character of s if it belongs to a word,
// else 0. A mark belongs to a word only if it is inside one.
func wordRune(s string, inside bool) int {
	if c := s[0]; c < utf8.RuneSelf {
		if classes[c] == other {
			return 0
		}
		return 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if cjk(r) || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r) || inside && unicode.IsMark(r) {
		return n
	}
	return 0
}

func runeLen(s string) int {
	if s[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// split returns the words of text, not folded.
func split(text string) (words []string) {
	for start, end := nextWord(text, 0); start < len(text); start, end = nextWord(text, end) {
		words = append(words, text[start:end])
	}
	return words
}

// The class of an ASCII character in a word.
const (
	other byte = iota
	lower
	upper
	digit
	beyond // not ASCII
)

// classes holds the class of every byte.
var classes = func() (c [256]byte) {
	for i := range c {
		switch b := byte(i); {
		case b >= 'a' && b <= 'z':
			c[i] = lower
		case b >= 'A' && b <= 'Z':
			c[i] = upper
		case b >= '0' && b <= '9':
			c[i] = digit
		case b >= utf8.RuneSelf:
			c[i] = beyond
		}
	}
	return c
}()

// fold returns the form in which word is compared.
func fold(word string) string {
	plain := true
	for i := range len(word) {
		if c := classes[word[i]]; c != lower && c != digit {
			plain = false
			break
		}
	}
	if plain {
		return word
	}
	return strings.Map(foldRune, word)
}

func foldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if classes[r] == upper {
			r += 'a' - 'A'
		}
	case r >= 0xc0 && r < 0xc0+rune(len(bare)):
		r = bare[r-0xc0]
	case unicode.IsMark(r):
		return -1
	default:
		r = unicode.ToLower(r)
	}
	return r
}

// bare has the characters U+00C0 to U+017F in lowercase, without accents.
var bare = [...]rune{
	'a', 'a', 'a', 'a', 'a', 'a', 'æ', 'c', 'e', 'e', 'e', 'e', 'i', 'i', 'i', 'i',
	'ð', 'n', 'o', 'o', 'o', 'o', 'o', '×', 'ø', 'u', 'u', 'u', 'u', 'y', 'þ', 'ß',
	'a', 'a', 'a', 'a', 'a', 'a', 'æ', 'c', 'e', 'e', 'e', 'e', 'i', 'i', 'i', 'i',
	'ð', 'n', 'o', 'o', 'o', 'o', 'o', '÷', 'ø', 'u', 'u', 'u', 'u', 'y', 'þ', 'y',
	'a', 'a', 'a', 'a', 'a', 'a', 'c', 'c', 'c', 'c', 'c', 'c', 'c', 'c', 'd', 'd',
	'đ', 'đ', 'e', 'e', 'e', 'e', 'e', 'e', 'e', 'e', 'e', 'e', 'g', 'g', 'g', 'g',
	'g', 'g', 'g', 'g', 'h', 'h', 'ħ', 'ħ', 'i', 'i', 'i', 'i', 'i', 'i', 'i', 'i',
	'i', 'ı', 'ĳ', 'ĳ', 'j', 'j', 'k', 'k', 'ĸ', 'l', 'l', 'l', 'l', 'l', 'l', 'ŀ',
	'ŀ', 'ł', 'ł', 'n', 'n', 'n', 'n', 'n', 'n', 'ŉ', 'ŋ', 'ŋ', 'o', 'o', 'o', 'o',
	'o', 'o', 'œ', 'œ', 'r', 'r', 'r', 'r', 'r', 'r', 's', 's', 's', 's', 's', 's',
	's', 's', 't', 't', 't', 't', 'ŧ', 'ŧ', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u',
	'u', 'u', 'u', 'u', 'w', 'w', 'y', 'y', 'y', 'z', 'z', 'z', 'z', 'z', 'z', 's',
}
