package api

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// A Batch is a [skein.Batch] as JSON.
type Batch struct {
	Session skein.SessionID `json:"session,omitempty"`
	After   skein.Seq       `json:"after,omitempty"` // 0: wherever the session ends; -1: the session must not exist yet
	Fence   skein.Fence     `json:"fence,omitempty"`
	Events  []Event         `json:"events,omitempty"`
	Blobs   []Blob          `json:"blobs,omitempty"`
	Import  *Import         `json:"import,omitempty"`
	Again   bool            `json:"again,omitempty"`
}

// A Blob is a [skein.Blob] as JSON, its data in base64.
type Blob struct {
	Hash skein.Hash `json:"hash"`
	Data []byte     `json:"data"`
}

// An Import is a [skein.Import] as JSON.
type Import struct {
	File    File     `json:"file"`
	Records []Record `json:"records,omitempty"`
	Forget  bool     `json:"forget,omitempty"`
}

// A File is a [skein.SourceFile] as JSON.
type File struct {
	Format  string          `json:"format"`
	Path    string          `json:"path"`
	Session skein.SessionID `json:"session,omitempty"`
	ID      string          `json:"id,omitempty"`
	CopyOf  skein.SessionID `json:"copy_of,omitempty"`
	Size    int64           `json:"size"`
	Mtime   int64           `json:"mtime"` // nanoseconds since 1970
	Inode   uint64          `json:"inode,omitempty"`
	Offset  int64           `json:"offset"`
	Records int             `json:"records"`
	Damaged int             `json:"damaged,omitempty"`
	Head    skein.Hash      `json:"head,omitempty"`
	State   []byte          `json:"state,omitempty"`
}

// A Record is a [skein.Record] as JSON, its bytes in base64.
type Record struct {
	N      int            `json:"n"`
	Offset int64          `json:"offset"`
	Raw    []byte         `json:"raw"`
	Key    skein.ClientID `json:"key,omitempty"`
	Events int            `json:"events,omitempty"`
	Copy   bool           `json:"copy,omitempty"`
	Damage string         `json:"damage,omitempty"`
}

// A Receipt is a [skein.Receipt] as JSON.
type Receipt struct {
	Session skein.SessionID `json:"session,omitempty"`
	Last    skein.Seq       `json:"last"`
	Seqs    []skein.Seq     `json:"seqs,omitempty"`
	New     int             `json:"new"`

	Messages int `json:"messages,omitempty"` // that the new events begin
}

// Batch returns b as the type that a store takes.
func (b Batch) Batch() skein.Batch {
	out := skein.Batch{Session: b.Session, After: b.After, Fence: b.Fence, Again: b.Again}
	for _, e := range b.Events {
		out.Events = append(out.Events, e.Event)
	}
	for _, blob := range b.Blobs {
		out.Blobs = append(out.Blobs, skein.Blob(blob))
	}
	if b.Import != nil {
		out.Import = &skein.Import{File: skein.SourceFile(b.Import.File), Forget: b.Import.Forget}
		for _, r := range b.Import.Records {
			out.Import.Records = append(out.Import.Records, skein.Record(r))
		}
	}
	return out
}

// AppendBatch appends b as the JSON of a [Batch] to out, with the payloads byte
// for byte.
func AppendBatch(out []byte, b skein.Batch) []byte {
	rest := Batch{Session: b.Session, After: b.After, Fence: b.Fence, Again: b.Again}
	for _, blob := range b.Blobs {
		rest.Blobs = append(rest.Blobs, Blob(blob))
	}
	if b.Import != nil {
		rest.Import = &Import{File: File(b.Import.File), Forget: b.Import.Forget}
		for _, r := range b.Import.Records {
			rest.Import.Records = append(rest.Import.Records, Record(r))
		}
	}
	head := skein.MustJSON(rest)
	out = append(out, head[:len(head)-1]...)
	if len(head) > len("{}") {
		out = append(out, ',')
	}
	return append(AppendEvents(append(out, `"events":`...), b.Events), '}')
}

// Appended is the body of POST /v1/append: batches that are stored all together
// or not at all.
type Appended struct {
	Batches []Batch `json:"batches"`
}

// Receipts is the answer to an [Appended].
type Receipts struct {
	Receipts []Receipt `json:"receipts"`
}

// Page is one page of a list: Next goes into ?cursor=, and is "" at the end.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next_cursor,omitempty"`
}

// RawPage is a [Page] whose items are decoded later, or were encoded before.
type RawPage struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next_cursor,omitempty"`
}
