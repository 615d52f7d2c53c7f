package gen

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
)

// common are the most frequent words of the vocabulary, in order.
const common = `the to a and of is in it that for this file with on test be as not are we if from
error function by can line run have but or an should when at will use code now so add what type all change there
which then no value you same one only return key new check name call set first out also let me read need fix was time
path still order message server data string list some more because after does index get state config result its
build output while client has field would case number into command make look keep write before user tests package
session they default where two start through update cache until version each table other find instead handle
request been how up print open them request response query column page database event store method import struct
failing passes without already every option flag log folder lines parse token thread worker queue retry timeout commit
branch merge release deploy service port header body status schema migration lock transaction search word text part
module dependency variable argument pointer slice loop channel interface encode decode buffer stream offset record`

// The size of the vocabulary and how steeply frequency falls with rank.
const (
	vocabulary = 20_000
	steepness  = 1.02
)

// Words draws words by Zipf's law. It is not safe for concurrent use.
type Words struct {
	r *rand.Rand
	*ranking
}

// A ranking is the vocabulary, the most frequent word first.
type ranking struct {
	words []string
	sums  []float64 // cumulative frequencies by rank
}

// ranked makes the vocabulary once; it is the same for every seed.
var ranked = sync.OnceValue(func() *ranking {
	v := &ranking{words: strings.Fields(common)}
	r, seen := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
	for _, x := range v.words {
		seen[x] = true
	}
	for len(v.words) < vocabulary {
		if x := made(r); !seen[x] {
			seen[x] = true
			v.words = append(v.words, x)
		}
	}
	sum := 0.0
	for i := range v.words {
		sum += 1 / math.Pow(float64(i+3), steepness)
		v.sums = append(v.sums, sum)
	}
	return v
})

// NewWords returns a source of words. The vocabulary is the same for every
// seed; only the order of the words differs.
func NewWords(seed uint64) *Words {
	return &Words{rand.New(rand.NewPCG(seed, 0x5eed)), ranked()}
}

// made returns an invented word.
func made(r *rand.Rand) string {
	const on, nucleus, end = "b c d f g h k l m n p r s t v w st tr pl gr ch sh br cl", "a e i o u ai ea ou io", "n r s t l m nd rt st ck ng"
	pick := func(s string) string { f := strings.Fields(s); return f[r.IntN(len(f))] }
	var b strings.Builder
	for range 2 + r.IntN(2) {
		b.WriteString(pick(on) + pick(nucleus))
	}
	return b.String() + pick(end)
}

// Word returns the next word.
func (w *Words) Word() string {
	at := w.r.Float64() * w.sums[len(w.sums)-1]
	return w.words[sort.SearchFloat64s(w.sums, at)]
}

// Rank returns the word with a rank: 0 is the most frequent, 19,999 the rarest.
func (w *Words) Rank(n int) string { return w.words[n] }

// Hex returns n bytes in hexadecimal: the tail of an ID.
func (w *Words) Hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(w.r.Uint32())
	}
	return hex.EncodeToString(b)
}
