package loose

import (
	"bytes"
	"testing"
)

func TestADocumentIsCutIntoAMillionPiecesAtMost(t *testing.T) {
	data := []byte(`{"a":[` + string(bytes.Repeat([]byte("1,"), 3*maxPieces)) + `1]}`)
	pieces, whole := Cut(data, "a")
	if len(pieces) > maxPieces+3 || !whole || !bytes.Equal(bytes.Join(pieces, nil), data) {
		t.Errorf("Cut gives %d pieces, whole %t, want %d at most, which are the document", len(pieces), whole, maxPieces+3)
	}
}
