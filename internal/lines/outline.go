package lines

import "bytes"

// Outline returns the rope with a NUL byte in place of each long text, and the texts as
// they are within the outermost strings: JSON can be read this way without quoting and
// unquoting them. It returns false if the rope has a NUL byte elsewhere, which JSON has
// not.
func (r Rope) Outline() (outline []byte, texts []Rope, ok bool) {
	for _, p := range r.pieces {
		switch n := len(p.quotes); {
		case n > 1:
			outline, texts = append(outline, 0), append(texts, Rope{[]ropePiece{{p.raw, p.quotes[:n-1]}}})
		case n == 1:
			outline, texts = append(outline, 0), append(texts, RopeOf(p.raw))
		case bytes.IndexByte(p.raw, 0) >= 0:
			return nil, nil, false
		case len(r.pieces) == 1:
			return p.raw, nil, true
		default:
			outline = append(outline, p.raw...)
		}
	}
	return outline, texts, true
}

// UnquoteOutline is [Unquote] for bytes of an outline. texts begins with the texts in them;
// rest is those after these.
func UnquoteOutline(b []byte, texts []Rope) (text Rope, rest []Rope, ok bool) {
	for i, part := range bytes.Split(b, []byte{0}) {
		if i > 0 {
			text.Join(texts[0])
			texts = texts[1:]
		}
		plain, ok := Unquote(part)
		if !ok {
			return Rope{}, nil, false
		}
		text.Append([]byte(plain))
	}
	return text, texts, true
}
