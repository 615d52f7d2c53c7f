package tomledit

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ErrTaken means that a file has another table where one is to be added.
var ErrTaken = errors.New("has another value")

// A Table is a table that is added to the end of a file.
type Table struct {
	Name []string `json:"name"` // the keys of its header, at least one
	Body string   `json:"body"` // the lines below the header, each with its line feed

	Was bool `json:"was,omitempty"` // the table was there already; Add sets it
}

func (t *Table) text() string { return "[" + t.header() + "]\n" + t.Body }

func (t *Table) header() string {
	keys := make([]string, len(t.Name))
	for i, k := range t.Name {
		keys[i] = k
		if strings.Trim(k, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || k == "" {
			keys[i] = fmt.Sprintf("%q", k)
		}
	}
	return strings.Join(keys, ".")
}

// Add returns doc with the table t at its end.
//
// The error wraps [ErrTaken] if doc has another table of this name; otherwise it
// says where doc, or t, is not TOML.
func Add(doc []byte, t *Table) ([]byte, error) {
	want, err := value([]byte(t.text()), t.Name)
	if err != nil {
		return nil, err
	}
	have, err := value(doc, t.Name)
	if err != nil {
		return nil, err
	}
	if t.Was = have != nil; t.Was {
		if !reflect.DeepEqual(have, want) {
			return nil, fmt.Errorf("[%s] %w", t.header(), ErrTaken)
		}
		return doc, nil
	}
	out := slices.Clone(doc)
	if len(out) > 0 {
		if out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		out = append(out, '\n')
	}
	out = append(out, t.text()...)
	if now, err := value(out, t.Name); err != nil || !reflect.DeepEqual(now, want) {
		return nil, errors.Join(fmt.Errorf("[%s] cannot be added: the name of its table, or of one around it, is used otherwise", t.header()), ErrTaken)
	}
	return out, nil
}

// Remove returns doc without the table that Add added, and reports whether doc had
// it. If somebody changed what the table says, it stays.
//
// The error says where doc is not TOML.
func Remove(doc []byte, t Table) ([]byte, bool, error) {
	want, err := value([]byte(t.text()), t.Name)
	if err != nil {
		return nil, false, err
	}
	have, err := value(doc, t.Name)
	if err != nil || t.Was || have == nil || !reflect.DeepEqual(have, want) {
		return doc, false, err
	}
	from, to, err := span(doc, t.Name)
	if err != nil || from < 0 {
		return doc, false, err
	}
	out := slices.Concat(doc[:from], doc[to:])
	rest, err := value(out, t.Name)
	if err != nil || rest != nil { // it is written in a form that Add does not write
		return doc, false, nil //nolint:nilerr // doc is TOML
	}
	return out, true, nil
}

// value returns the table of a name; nil if there is none.
func value(doc []byte, name []string) (any, error) {
	var top map[string]any
	if err := toml.Unmarshal(doc, &top); err != nil {
		return nil, errors.New("invalid TOML: " + strings.TrimPrefix(err.Error(), "toml: "))
	}
	var at any = top
	for _, k := range name {
		m, ok := at.(map[string]any)
		if !ok {
			return nil, nil
		}
		if at, ok = m[k]; !ok {
			return nil, nil
		}
	}
	return at, nil
}

// span returns where the table of a name begins, with the blank line that Add puts
// before it, and where the next one begins; -1 if it has no header of its own.
func span(doc []byte, name []string) (from, to int, err error) {
	var p unstable.Parser
	p.Reset(doc)
	from, to = -1, len(doc)
	last := -1 // the end of the last line that is the table's
	for p.NextExpression() {
		e := p.Expression()
		at := start(doc, &p, e)
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			if from >= 0 {
				last = lineEnd(doc, at)
			}
			continue
		}
		if from >= 0 {
			to = at
			break
		}
		if e.Kind == unstable.Table && slices.Equal(keys(e), name) {
			from, last = at, lineEnd(doc, at)
		}
	}
	if err := p.Error(); err != nil {
		return -1, 0, err
	}
	if from < 0 {
		return -1, 0, nil
	}
	if to < len(doc) || bytes.IndexByte(doc[last:], '#') >= 0 { // what follows the last line may be a comment of the next table
		to = last
	}
	if bytes.HasSuffix(doc[:from], []byte("\n\n")) {
		from--
	}
	return from, to, nil
}

// start returns where the line of an expression begins.
func start(doc []byte, p *unstable.Parser, e *unstable.Node) int {
	i := e.Key()
	i.Next()
	at := int(p.Range(i.Node().Data).Offset)
	return bytes.LastIndexByte(doc[:at], '\n') + 1
}

func lineEnd(doc []byte, at int) int {
	if n := bytes.IndexByte(doc[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(doc)
}

func keys(e *unstable.Node) (all []string) {
	for i := e.Key(); i.Next(); {
		all = append(all, string(i.Node().Data))
	}
	return all
}
