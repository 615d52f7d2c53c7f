package jsonl

import "testing"

func TestDepthCountsWhatIsNested(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `1`: 0, `{}`: 1, `[[],{"a":[1]}]`: 3, `["[[[", "\"[[", {}]`: 2,
	} {
		if got := Depth(text); got != want {
			t.Errorf("Depth(%s) = %d, want %d", text, got, want)
		}
		if got := Depth([]byte(text)); got != want {
			t.Errorf("Depth of the bytes %s = %d, want %d", text, got, want)
		}
	}
}
