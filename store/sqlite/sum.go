package sqlite

import (
	"bytes"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

// unsummed stands for a NULL in events.sum.
const unsummed = -1

// sumOf returns events.sum of an event whose payload is stored beside text.
func sumOf(e *skein.Event, text string) int64 { return int64(e.Sum(text)) }

// compare returns an error if an event is not what was stored. An event without a
// checksum was deleted in the shell, which cannot compute one: it has no hash either.
func compare(e *skein.Event, text string, sum int64, hash []byte) error {
	switch {
	case sum != unsummed && sum != sumOf(e, text), sum == unsummed && len(hash) > 0 && !bytes.Equal(hash, ledger.Hash(*e)):
		return skein.ErrSum
	}
	return nil
}
