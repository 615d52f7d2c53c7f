package gen

import (
	"fmt"
	"strings"
)

// Prose returns sentences of at least n bytes, with occasional paragraphs,
// identifiers in backquotes, and other scripts.
func (w *Words) Prose(n int) string {
	var b strings.Builder
	for b.Len() < n {
		w.sentence(&b)
		if w.r.IntN(6) == 0 {
			b.WriteString("\n\n")
		} else {
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(b.String())
}

func (w *Words) sentence(b *strings.Builder) {
	if w.r.IntN(40) == 0 {
		b.WriteString(foreign(w.r.IntN(4)))
		return
	}
	first := w.Word()
	b.WriteString(strings.ToUpper(first[:1]) + first[1:])
	for range 5 + w.r.IntN(14) {
		b.WriteByte(' ')
		if w.r.IntN(12) == 0 {
			b.WriteString("`" + w.Identifier() + "`")
		} else {
			b.WriteString(w.Word())
		}
	}
	b.WriteByte('.')
}

func foreign(i int) string {
	return []string{
		"Die Prüfung schlägt fehl, weil der Schlüssel größer ist als nötig.",
		"この関数は空のリストを返すので、呼び出し側で確認してください。",
		"检查之后再提交，不要忘记更新文档。",
		"C’est déjà réglé 🙂, mais il reste à vérifier le cas où le dépôt est vide.",
	}[i]
}

// Identifier returns a name as in programs: camelCase or snake_case.
func (w *Words) Identifier() string {
	a, c := w.Word(), w.Word()
	if w.r.IntN(2) == 0 {
		return a + strings.ToUpper(c[:1]) + c[1:]
	}
	return a + "_" + c
}

// Path returns the path of a source file below dir.
func (w *Words) Path(dir string) string {
	return fmt.Sprintf("%s/%s/%s.%s", dir, w.Word(), w.Identifier(), []string{"go", "ts", "py", "rs", "md"}[w.r.IntN(5)])
}

// Code returns source code of at least n bytes.
func (w *Words) Code(n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "// %s %s the %s.\nfunc %s(%s string) (int, error) {\n", w.Identifier(), w.Word(), w.Word(), w.Identifier(), w.Word())
		for range 2 + w.r.IntN(6) {
			w.statement(&b)
		}
		b.WriteString("\treturn 0, nil\n}\n\n")
	}
	return b.String()
}

func (w *Words) statement(b *strings.Builder) {
	switch w.r.IntN(4) {
	case 0:
		fmt.Fprintf(b, "\tif err := %s.%s(ctx); err != nil {\n\t\treturn 0, fmt.Errorf(\"%s: %%w\", err)\n\t}\n", w.Word(), w.Identifier(), w.Word())
	case 1:
		fmt.Fprintf(b, "\t%s := %s[%d]\n", w.Identifier(), w.Identifier(), w.r.IntN(64))
	case 2:
		fmt.Fprintf(b, "\tfor i, %s := range %s {\n\t\t%s(i, %[1]s)\n\t}\n", w.Word(), w.Identifier(), w.Identifier())
	default:
		fmt.Fprintf(b, "\t// %s %s %s %s\n", w.Word(), w.Word(), w.Word(), w.Word())
	}
}

// Output returns the output of a command, of at least n bytes: test results,
// log lines, search hits, listings.
func (w *Words) Output(dir string, n int) string {
	var b strings.Builder
	kind := w.r.IntN(4)
	for b.Len() < n {
		switch kind {
		case 0:
			fmt.Fprintf(&b, "ok  \texample.org/%s/%s\t%d.%03ds\n", w.Word(), w.Word(), w.r.IntN(9), w.r.IntN(1000))
		case 1:
			fmt.Fprintf(&b, "2026-11-%02dT%02d:%02d:%02d.%03dZ INFO %s %s=%d id=%08x\n", 1+w.r.IntN(28), w.r.IntN(24), w.r.IntN(60), w.r.IntN(60), w.r.IntN(1000), w.Word(), w.Word(), w.r.IntN(10000), w.r.Uint32())
		case 2:
			fmt.Fprintf(&b, "%s:%d:\t%s %s := %s\n", w.Path(dir), 1+w.r.IntN(900), w.Word(), w.Word(), w.Identifier())
		default:
			fmt.Fprintf(&b, "-rw-r--r-- 1 ada ada %7d Nov %2d %02d:%02d %s.go\n", w.r.IntN(1<<20), 1+w.r.IntN(28), w.r.IntN(24), w.r.IntN(60), w.Identifier())
		}
	}
	return b.String()
}
