package opencode

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// An ID is a word, 12 hexadecimal digits and 14 of base 62. The first are the last 48
// bits of a time in milliseconds times 4096 and a count; those of sessions are
// inverted, so that the newest comes first. The rest is random; here it is derived
// from what the ID is for, so that it is reproducible.
const (
	idCount = 4096
	idBits  = 1<<48 - 1
)

func messageID(n uint64, of string) string { return fmt.Sprintf("msg_%012x%s", n&idBits, tail(of)) }
func partID(n uint64, of string) string    { return fmt.Sprintf("prt_%012x%s", n&idBits, tail(of)) }

func sessionID(ms int64, of string) string {
	return fmt.Sprintf("ses_%012x%s", ^(uint64(ms)*idCount+1)&idBits, tail(of))
}

// tail returns 14 digits of base 62 derived from a text.
func tail(of string) string {
	const size = 14
	sum := sha256.Sum256([]byte(of))
	text := new(big.Int).SetBytes(sum[:]).Text(62)
	return strings.Repeat("0", max(0, size-len(text))) + text[max(0, len(text)-size):]
}

// isSession reports whether text has the form of the program's session IDs.
func isSession(text string) bool {
	return regexp.MustCompile(`^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$`).MatchString(text)
}

// numberIn returns the number that an ID begins with, 0 if there is none.
func numberIn(id string) uint64 {
	_, digits, ok := strings.Cut(id, "_")
	if !ok || len(digits) < 12 {
		return 0
	}
	n, err := strconv.ParseUint(digits[:12], 16, 64)
	if err != nil {
		return 0
	}
	return n
}
