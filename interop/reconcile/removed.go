package reconcile

import (
	"crypto/sha256"
	"slices"

	"github.com/skein-dev/skein"
)

// RemovedKeys is the records that are no longer in a source, or make fewer events:
// for each, 8 bytes of the SHA-256 of its key, and one byte with how many events it
// made, 255 for more. A source may lose tens of thousands of records at once, and the
// list is stored with every chunk until the source has been read to its end.
type RemovedKeys []byte

const removedSize = 9

// A HashedKey is a hash of the key of a record.
type HashedKey [removedSize - 1]byte

// HashKey returns the hash of a record's key.
func HashKey(key skein.ClientID) HashedKey {
	sum := sha256.Sum256([]byte(key))
	return HashedKey(sum[:])
}

func (r *RemovedKeys) add(key HashedKey, n int) {
	*r = append(append(*r, key[:]...), byte(min(n, 255)))
}

// Counts returns how many events each record made.
func (r RemovedKeys) Counts() map[HashedKey]int {
	counts := make(map[HashedKey]int, len(r)/removedSize)
	for one := range slices.Chunk(r, removedSize) {
		counts[HashedKey(one)] = int(one[removedSize-1])
	}
	return counts
}

// Made returns a function that reports whether one of the records made the event with
// a client ID.
func (r RemovedKeys) Made() func(skein.ClientID) bool {
	counts := r.Counts()
	return func(id skein.ClientID) bool { return made(counts, id) }
}

// Whole returns the list without a last record that is cut off.
func (r RemovedKeys) Whole() RemovedKeys { return r[:len(r)/removedSize*removedSize] }

// Shorter returns the list without enough records to make it at least over bytes
// shorter.
func (r RemovedKeys) Shorter(over int) RemovedKeys {
	return r[:max(0, len(r)/removedSize-over/removedSize-1)*removedSize]
}

// made reports whether one of the records in counts made the event with this
// client ID; see ClientID. A record of several events may once have made only one.
func made(counts map[HashedKey]int, id skein.ClientID) bool {
	if counts[HashKey(id)] > 0 {
		return true
	}
	key, i, ok := PartOf(id)
	n := counts[HashKey(key)]
	return ok && n > 1 && (i < n || n == 255)
}
