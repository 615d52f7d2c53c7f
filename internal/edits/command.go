package edits

import (
	"path"
	"slices"
	"strings"
)

// A shellCommand is a simple command of a line of shell.
type shellCommand struct {
	words    []string
	to       string // the file that its output goes to; "" if none
	appended bool   // to the end of that file
	piped    bool   // its input is the output of the command before
	plain    bool   // the shell expands nothing in it
}

// commands returns the simple commands of a line; none if a quote does not end in it.
func commands(line string) (all []shellCommand) {
	now := shellCommand{plain: true}
	var word strings.Builder
	has, redirects := false, false
	end := func() {
		switch {
		case !has:
		case redirects:
			now.to, redirects = word.String(), false
		default:
			now.words = append(now.words, word.String())
		}
		word.Reset()
		has = false
	}
	next := func(piped bool) {
		end()
		if len(now.words) > 0 {
			all = append(all, now)
		}
		now, redirects = shellCommand{plain: true, piped: piped}, false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'' || c == '"':
			n := closing(line[i+1:], c)
			if n < 0 {
				return nil
			}
			text := line[i+1 : i+1+n]
			if c == '"' {
				now.plain = now.plain && !strings.ContainsAny(text, "$`!")
				text = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(text)
			}
			word.WriteString(text)
			has = true
			i += n + 1
		case c == '\\' && i+1 < len(line):
			word.WriteByte(line[i+1])
			has = true
			i++
		case c == ' ' || c == '\t':
			end()
		case c == '>':
			digit := has && word.Len() == 1 && word.String() >= "0" && word.String() <= "9"
			if digit && word.String() == "1" {
				word.Reset()
				has = false
			}
			now.plain = now.plain && (!digit || !has) // it is not the output
			end()
			redirects, now.appended = true, false
			if i+1 < len(line) && line[i+1] == '>' {
				now.appended = true
				i++
			}
			if i+1 < len(line) && line[i+1] == '&' {
				now.plain = false
				i++
			}
		case c == '|' && i+1 < len(line) && line[i+1] != '|':
			next(true)
		case c == ';' || c == '&' || c == '|':
			next(false)
		default:
			now.plain = now.plain && !strings.ContainsRune(expanded+"<(){}", rune(c))
			word.WriteByte(c)
			has = true
		}
	}
	next(false)
	return all
}

// closing returns where a quoted text ends; negative if it does not.
func closing(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && quote == '"' {
			i++
		} else if s[i] == quote {
			return i
		}
	}
	return -1
}

// texts returns what the commands of one line write to files: the texts that echo and
// printf put there, also through tee, and what sed does in place.
func texts(line, dir string) (all []Edit) {
	said, says := "", false // the output of the command before
	for _, c := range commands(line) {
		if !c.plain || len(c.words) == 0 {
			says = false
			continue
		}
		if c.words[0] == "cd" && len(c.words) == 2 {
			dir = within(dir, c.words[1])
		}
		text, ok := output(c.words)
		switch {
		case c.words[0] == "cp" || c.words[0] == "install":
			all = append(all, copied(c.words[1:], dir)...)
		case c.words[0] == "perl":
			all = append(all, perls(c.words[1:], dir)...)
		case c.words[0] == "sed":
			all = append(all, inPlace(c.words[1:], dir)...)
		case c.words[0] == "tee" && c.piped && says:
			text, ok = said, true
			files := slices.DeleteFunc(slices.Clone(c.words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
			for _, f := range files {
				all = append(all, put(f, dir, text, slices.Contains(c.words, "-a") || slices.Contains(c.words, "--append")))
			}
		}
		if ok && c.to != "" && c.to != "/dev/null" {
			all = append(all, put(c.to, dir, text, c.appended))
			ok = false
		}
		said, says = text, ok
	}
	return all
}

// put returns the edit that writes a text to a file.
func put(file, dir, text string, appended bool) Edit {
	return Edit{Path: file, Dir: dir, Added: Lines(text), Whole: !appended, Hunks: []Hunk{{New: text}}}
}

// output returns what echo or printf prints; false if it is another command, or the words
// do not tell.
func output(words []string) (string, bool) {
	args := words[1:]
	switch words[0] {
	case "echo":
		end := "\n"
		if len(args) > 0 && args[0] == "-n" {
			args, end = args[1:], ""
		}
		text := strings.Join(args, " ")
		return text + end, !strings.Contains(text, `\`) && !strings.HasPrefix(text, "-")
	case "printf":
		if len(args) == 0 {
			return "", false
		}
		format := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(args[0])
		switch {
		case !strings.Contains(format, "%"):
			return format, len(args) == 1
		case format == "%s\n" || format == "%s":
			end := strings.TrimPrefix(format, "%s")
			return strings.Join(args[1:], end) + end, len(args) > 1
		}
	}
	return "", false
}

// inPlace returns what sed does to files: it replaces a text, as far as the expressions say
// so without a pattern, or else something that is not known.
func inPlace(args []string, dir string) (all []Edit) {
	var scripts, files []string
	written := false
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case w == "-e" || w == "--expression":
			if i++; i < len(args) {
				scripts = append(scripts, args[i])
			}
		case w == "-i" && i+1 < len(args) && args[i+1] == "": // BSD's: no copy
			written = true
			i++
		case strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "--in-place"):
			written = true
		case w == "-f" || w == "-n" || w == "--quiet":
			return nil
		case strings.HasPrefix(w, "-"):
		case len(scripts) == 0:
			scripts = append(scripts, w)
		default:
			files = append(files, w)
		}
	}
	if !written {
		return nil
	}
	var hunks []Hunk
	for _, s := range scripts {
		was, is, ok := replaced(s)
		if !ok {
			hunks = nil
			break
		}
		hunks = append(hunks, Hunk{Old: was, New: is, All: true})
	}
	for _, f := range files {
		all = append(all, Edit{Path: f, Dir: dir, Hunks: hunks})
	}
	return all
}

// copied returns what cp and install do with one file.
func copied(args []string, dir string) []Edit {
	var files []string
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case w == "-m" || w == "-o" || w == "-g": // install's, with a value
			i++
		case w == "-t" || w == "-d" || strings.HasPrefix(w, "--target"):
			return nil
		case !strings.HasPrefix(w, "-"):
			files = append(files, w)
		}
	}
	if len(files) != 2 {
		return nil
	}
	return []Edit{{Path: below(files[1], files[0]), Dir: dir, From: files[0], Copied: true}}
}

// below returns the path to which a file goes: in a folder, under its own name.
func below(to, file string) string {
	if strings.HasSuffix(to, "/") || to == "." {
		return path.Join(to, path.Base(file))
	}
	return to
}

// perls returns what perl does to files in place, as inPlace does.
func perls(args []string, dir string) []Edit {
	var as []string // what sed would be told
	for _, w := range args {
		flags, is := strings.CutPrefix(w, "-")
		switch {
		case !is && len(as) > 0 && as[len(as)-1] == "-e" && strings.ContainsAny(w, "$@"):
			as = append(as, "") // not a text
		case !is:
			as = append(as, w)
		default:
			if strings.Contains(flags, "i") {
				as = append(as, "-i")
			}
			if strings.HasSuffix(flags, "e") {
				as = append(as, "-e")
			}
		}
	}
	if !slices.Contains(as, "-e") {
		return nil
	}
	return inPlace(as, dir)
}

// replaced returns what an expression such as s/one/two/g replaces everywhere in a file; false if
// it is a pattern, or another command.
func replaced(script string) (was, is string, ok bool) {
	if len(script) < 4 || script[0] != 's' {
		return "", "", false
	}
	var parts []string
	var part []byte
	for i := 2; i < len(script); i++ {
		switch c := script[i]; {
		case c == script[1]:
			parts, part = append(parts, string(part)), nil
		case c == '\\' && i+1 < len(script) && strings.IndexByte(`./[]*^$-_"'&|\`, script[i+1]) >= 0:
			i++
			part = append(part, script[i])
		case len(parts) == 0 && strings.IndexByte(`\.[]*^$+?(){}|`, c) >= 0, len(parts) == 1 && (c == '\\' || c == '&'):
			return "", "", false
		default:
			part = append(part, c)
		}
	}
	if parts = append(parts, string(part)); len(parts) != 3 || parts[0] == "" || parts[2] != "g" {
		return "", "", false
	}
	return parts[0], parts[1], true
}
