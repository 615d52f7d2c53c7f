package edits

import (
	"iter"
	"path"
	"regexp"
	"strings"
	"sync"
)

// parseShell returns what a shell command does to files, as far as its text tells: the
// here-documents and texts that it writes to files, the patches that it applies, what sed
// and perl replace in place, the texts in the programs that it gives to an interpreter,
// and the files that it moves, copies or deletes.
func parseShell(command, dir string) (all []Edit) {
	lines := Lines(command)
	docs := map[string]string{} // here-documents, by the file that they are written to
	for i := 0; i < len(lines); i++ {
		from := dir
		if to, ok := strings.CutPrefix(strings.TrimSpace(lines[i]), "cd "); ok {
			dir = within(dir, changed(to))
		}
		if text, n := inlineProgram(lines[i:]); n > 0 {
			all = append(all, program(text, dir)...)
			i += n - 1
			continue
		}
		if e, n := hereString(lines[i:], dir); n > 0 {
			all = append(all, e...)
			i += n - 1
			continue
		}
		doc := here().FindStringSubmatch(lines[i])
		end := i + 1
		for doc != nil && end < len(lines) && strings.TrimSpace(lines[end]) != doc[1] {
			end++
		}
		applies := patcher().MatchString(lines[i])
		if doc == nil || end == len(lines) {
			if n := patchEnd(lines[i:]); applies && n > 0 {
				all = append(all, parsePatch(strings.Join(lines[i:i+n], "\n"), dir)...)
				i += n - 1
			} else if patch := named(lines[i], docs); applies && patch != "" && !tries().MatchString(lines[i]) {
				all = append(all, parsePatch(patch, dir)...)
			} else {
				all = append(append(all, moves(lines[i], from)...), texts(lines[i], from)...)
			}
			continue
		}
		body := lines[i+1 : end]
		switch to := written().FindStringSubmatch(lines[i]); {
		case interpreter().MatchString(lines[i]):
			all = append(all, program(strings.Join(body, "\n"), dir)...)
		case applies && !tries().MatchString(lines[i]):
			all = append(all, parsePatch(strings.Join(body, "\n"), dir)...)
		case !applies && to != nil && copies().MatchString(lines[i]) && !strings.ContainsAny(to[2]+to[4], expanded):
			whole := to[1] == ">" || to[1] == "" && to[3] == ""
			docs[unquote(to[2]+to[4])] = strings.Join(body, "\n")
			all = append(all, Edit{Path: unquote(to[2] + to[4]), Dir: dir, Added: body, Whole: whole, Hunks: []Hunk{{New: strings.Join(body, "\n") + "\n"}}})
		}
		i = end
	}
	return all
}

var (
	here    = compiled(`(?:^|[^<])<<-?\s*["'\\]?([A-Za-z_][A-Za-z0-9_]*)["']?`)
	written = compiled(`(>>?)\s*("[^"]+"|'[^']+'|[^\s<>|;&()]+)|\btee\s+(-a\s+)?("[^"]+"|'[^']+'|[^\s<>|;&()-][^\s<>|;&()]*)`)
	copies  = compiled(`(^|[\s;&|(])(cat|tee)\s`) // what passes the here-document on as it is
	patcher = compiled(`(^|[;&|(])\s*(git\s+apply|patch|apply_?patch)(\s|$)`)
	tries   = compiled(`\s(--check|--stat|--numstat|--summary|--dry-run|-R|--reverse)\b`)
	moved   = compiled(`^(?:git\s+)?mv\s+(?:-\w+\s+)*("[^"]+"|'[^']+'|[^\s"'*]+)\s+("[^"]+"|'[^']+'|[^\s"'*]+)$`)
	deleted = compiled(`^(?:git\s+)?rm\s+(?:-[fqv]+\s+)*((?:"[^"]+"|'[^']+'|[^-\s"'<>()][^\s"'<>()]*|\s)+)$`)
	word    = compiled(`"[^"]+"|'[^']+'|\S+`)
	made    = compiled(`(?m)^\[([^\]\n]*) ([0-9a-f]{7,64})\] (.*)$`)
)

// compiled returns expr, compiled when it is first used.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// named returns the here-document whose file a line names; "" if there is none.
func named(line string, docs map[string]string) string {
	for _, w := range word().FindAllString(line, -1) {
		if text := docs[unquote(w)]; text != "" {
			return text
		}
	}
	return ""
}

// patchEnd returns how many lines a patch that agents write goes on, whose command is in
// the first of these lines; 0 if there is none.
func patchEnd(lines []string) int {
	if len(lines) < 2 || !strings.Contains(lines[0]+lines[1], beginPatch) {
		return 0
	}
	for n, l := range lines {
		if strings.HasPrefix(l, endPatch) {
			return n + 1
		}
	}
	return len(lines)
}

// expanded are the characters by which a shell makes another path of a word.
const expanded = "$`~*?["

func unquote(s string) string { return strings.Trim(s, `"'`) }

// changed returns the folder in what follows cd.
func changed(to string) string {
	to, _, _ = strings.Cut(to, "&&")
	to, _, _ = strings.Cut(to, ";")
	return unquote(strings.TrimSpace(to))
}

func within(dir, to string) string {
	if path.IsAbs(to) || dir == "" {
		return to
	}
	return path.Join(dir, to)
}

// moves returns the files that the commands of one line move or delete.
func moves(line, dir string) (all []Edit) {
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ';' || r == '&' || r == '|' }) {
		part = strings.TrimSpace(part)
		if to, ok := strings.CutPrefix(part, "cd "); ok {
			dir = within(dir, changed(to))
		}
		if m := deleted().FindStringSubmatch(part); m != nil && !strings.ContainsAny(m[1], expanded) {
			for _, p := range word().FindAllString(m[1], -1) {
				all = append(all, Edit{Path: unquote(p), Dir: dir, Deleted: true})
			}
		}
		m := moved().FindStringSubmatch(part)
		if m == nil || strings.ContainsAny(m[1]+m[2], expanded) {
			continue
		}
		from, to := unquote(m[1]), unquote(m[2])
		all = append(all, Edit{Path: below(to, from), Dir: dir, From: from})
	}
	return all
}

// A MadeCommit is a commit that a command made, as Git reports it.
type MadeCommit struct {
	Branch  string // "main", "main (root-commit)", "detached HEAD"
	Hash    string // abbreviated: at least 7 hexadecimal digits
	Subject string
}

// Commits yields the commits that the output of a command reports, as git commit does:
//
//	[main 1a2b3c4] Parse the flags
//
// See https://git-scm.com/docs/git-commit (builtin/commit.c prints it, since 1.6).
func Commits(output string) iter.Seq[MadeCommit] {
	return func(yield func(MadeCommit) bool) {
		for _, m := range made().FindAllStringSubmatch(output, -1) {
			if !yield(MadeCommit{m[1], m[2], strings.TrimSuffix(m[3], "\r")}) {
				return
			}
		}
	}
}
