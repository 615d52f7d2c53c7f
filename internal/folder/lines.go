package folder

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Line is one line of a tree; see the package comment.
type Line struct {
	File   string  `json:"file,omitempty"`
	Folder string  `json:"folder,omitempty"`
	Line   *int    `json:"line,omitempty"` // place of a line in its file, from 0
	Mode   string  `json:"mode,omitempty"` // octal
	Mtime  int64   `json:"mtime,omitempty"`
	Lines  *int    `json:"lines,omitempty"` // how many lines the file has
	Text   *string `json:"text,omitempty"`
	Bytes  []byte  `json:"bytes,omitempty"`
	Damage string  `json:"damage,omitempty"` // why it could not be read
}

// Data returns the bytes that the line holds.
func (l Line) Data() []byte {
	if l.Text != nil {
		return []byte(*l.Text)
	}
	return l.Bytes
}

// Whole returns the line of a file that stands in one.
func Whole(f File, data []byte) Line {
	l := meta(f)
	l.File = f.Name
	return l.with(data)
}

// Piece returns line n, from 0, of a file of lines, with its line feed.
func Piece(name string, n int, data []byte) Line {
	return Line{File: name, Line: &n}.with(data)
}

// End returns the line of a file of n lines.
func End(f File, n int) Line {
	l := meta(f)
	l.File, l.Lines = f.Name, &n
	return l
}

// Dir returns the line of a folder.
func Dir(f File) Line {
	l := meta(f)
	l.Folder = f.Name
	return l
}

func meta(f File) Line {
	return Line{Mode: fmt.Sprintf("%04o", uint32(f.Mode.Perm())), Mtime: f.Mtime}
}

func (l Line) with(data []byte) Line {
	if utf8.Valid(data) {
		s := string(data)
		l.Text = &s
	} else {
		l.Bytes = data
	}
	return l
}

// Append appends the line, with its line feed.
func (l Line) Append(b []byte) []byte {
	b = append(b, '{')
	switch {
	case l.Folder != "":
		b = appendString(append(b, `"folder":`...), l.Folder)
	default:
		b = appendString(append(b, `"file":`...), l.File)
	}
	if l.Line != nil {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(*l.Line), 10)
	}
	if l.Mode != "" {
		b = appendString(append(b, `,"mode":`...), l.Mode)
		b = strconv.AppendInt(append(b, `,"mtime":`...), l.Mtime, 10)
	}
	switch {
	case l.Damage != "":
		b = appendString(append(b, `,"damage":`...), l.Damage)
	case l.Lines != nil:
		b = strconv.AppendInt(append(b, `,"lines":`...), int64(*l.Lines), 10)
	case l.Text != nil:
		b = appendString(append(b, `,"text":`...), *l.Text)
	case l.Bytes != nil:
		b = append(b, `,"bytes":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, l.Bytes), '"')
	}
	return append(b, "}\n"...)
}

func appendString(b []byte, s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return append(b, `""`...) // a string always encodes
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// Parse reads a line.
//
// The error says what is wrong with it.
func Parse(line []byte) (l Line, err error) {
	if err := json.Unmarshal(line, &l); err != nil {
		return l, err
	}
	if l.File == "" && l.Folder == "" {
		return l, fmt.Errorf("neither file nor folder: %.60q", line)
	}
	return l, nil
}

// Lines returns the lines of these files of the tree, in this order: of a file
// for which byLine says true, one for each of its own. Files are read as the
// lines are, one at a time. A file that is gone has no line; one that cannot be
// read has "damage".
func (t *Tree) Lines(files []File, byLine func(name string) bool) io.Reader {
	return &treeReader{t: t, files: files, byLine: byLine}
}

// Dirs returns the lines of the folders.
func (t *Tree) Dirs() io.Reader {
	var b []byte
	for _, f := range t.Folders {
		b = Dir(f).Append(b)
	}
	return bytes.NewReader(b)
}

type treeReader struct {
	t      *Tree
	files  []File
	byLine func(string) bool
	out    []byte // not yet given
	buf    []byte // what out was made in
	in     *os.File
	cut    *bufio.Reader
	n      int
}

// Read implements [io.Reader]; there are no errors but the end.
func (r *treeReader) Read(b []byte) (int, error) {
	for len(r.out) == 0 {
		if r.in == nil && len(r.files) == 0 {
			return 0, io.EOF
		}
		r.out = r.next(r.buf[:0])
		r.buf = r.out
	}
	n := copy(b, r.out)
	r.out = r.out[n:]
	return n, nil
}

// next appends the next line.
func (r *treeReader) next(b []byte) []byte {
	f := r.files[0]
	if r.in == nil {
		in, err := r.t.file(f.Name)
		if err != nil {
			r.files = r.files[1:]
			return refuse(b, f, err)
		}
		if r.byLine == nil || !r.byLine(f.Name) {
			defer in.Close()
			r.files = r.files[1:]
			return whole(b, f, in)
		}
		r.in, r.cut, r.n = in, bufio.NewReaderSize(io.LimitReader(in, MaxFile), 1<<16), 0
	}
	line, err := r.line()
	if len(line) > 0 {
		b = Piece(f.Name, r.n, line).Append(b)
		r.n++
	}
	if err == nil {
		return b
	}
	r.in.Close()
	r.in, r.files = nil, r.files[1:]
	if !errors.Is(err, io.EOF) {
		return refuse(b, f, err)
	}
	return End(f, r.n).Append(b)
}

// line returns the next line of the current file, or a piece of one that is
// too long.
func (r *treeReader) line() (line []byte, err error) {
	for len(line) < MaxWhole {
		part, err := r.cut.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
	return line, nil
}

func whole(b []byte, f File, in io.Reader) []byte {
	data, err := io.ReadAll(io.LimitReader(in, MaxWhole+1))
	if err == nil && len(data) > MaxWhole {
		err = fmt.Errorf("more than %d bytes", MaxWhole)
	}
	if err != nil {
		return refuse(b, f, err)
	}
	return Whole(f, data).Append(b)
}

// refuse appends the line of a file that cannot be read; none if it is gone.
func refuse(b []byte, f File, err error) []byte {
	if errors.Is(err, fs.ErrNotExist) {
		return b
	}
	l := meta(f)
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	l.File, l.Damage = f.Name, strings.ToValidUTF8(err.Error(), "?")
	return l.Append(b)
}
