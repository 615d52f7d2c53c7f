package jsonl

// Depth returns how deep the objects and arrays of JSON text are nested; for text
// that is not JSON, the number has no meaning.
func Depth[T ~string | ~[]byte](text T) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}
