package loose

import (
	"bytes"
	"slices"
)

// Cut splits a JSON document into pieces that, joined, are its bytes: what is before
// the first element of the array that is its member name, each element preceded by
// its separator, and what follows the last. So a document that grows at the end of
// its array has the same pieces as before, and then others. [Element] removes the
// separator. With name "", the document itself is the array. A document without such
// an array is one piece.
//
// whole is false if the document is not JSON, or ends too early: what cannot be read
// is in the last piece.
func Cut(data []byte, name string) (pieces [][]byte, whole bool) {
	cuts, whole := cuts(data, name)
	var was int64
	for _, at := range cuts {
		pieces = append(pieces, data[was:at:at])
		was = at
	}
	pieces = append(pieces, data[was:])
	return slices.DeleteFunc(pieces, func(p []byte) bool { return len(p) == 0 }), whole
}

// Element returns the element of an array in a piece, without what surrounds it.
func Element(piece []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(piece), []byte(",")))
}

// maxPieces is how many elements are split: each takes memory, however short it is.
const maxPieces = 250_000

// cuts returns the start of the first element of the array, and the end of each.
func cuts(data []byte, name string) (all []int64, whole bool) {
	var bom int64
	if len(data) >= 3 && string(data[:3]) == "\xef\xbb\xbf" {
		bom = 3
	}
	d := newDecoder(data[bom:])
	if there, err := d.toArray(name); !there || err != nil {
		return nil, err == nil && d.ends()
	}
	if d.PeekKind() == ']' {
		return []int64{d.InputOffset() + bom}, d.ends()
	}
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil {
			return all, false
		}
		end := d.InputOffset() + bom
		if all == nil {
			all = append(all, end-int64(len(v)))
		}
		if all = append(all, end); len(all) > maxPieces {
			return all, true
		}
	}
	return all, d.ends()
}

// toArray moves into the array that is the first member of this name. If there is
// none, it moves to the end.
func (d decoder) toArray(name string) (there bool, err error) {
	if k := d.PeekKind(); name == "" && k != '[' || name != "" && k != '{' {
		return false, d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil || name == "" {
		return err == nil, err
	}
	for d.PeekKind() == '"' {
		n, err := d.ReadToken()
		if err != nil {
			return false, err
		}
		if n.String() == name && d.PeekKind() == '[' {
			_, err := d.ReadToken()
			return err == nil, err
		}
		if err := d.SkipValue(); err != nil {
			return false, err
		}
	}
	_, err = d.ReadToken()
	return false, err
}

// ends reports whether the document ends correctly.
func (d decoder) ends() bool {
	for d.StackDepth() > 0 {
		if k := d.PeekKind(); k == ']' || k == '}' {
			if _, err := d.ReadToken(); err != nil {
				return false
			}
			continue
		}
		if d.SkipValue() != nil {
			return false
		}
	}
	return d.PeekKind() == 0
}
