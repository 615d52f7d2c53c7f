package render

import (
	"strings"
	"sync"
)

// A syntax is the lexical structure of a family of languages.
type syntax struct {
	line       string // begins a comment that ends at the end of its line
	open, shut string // around other comments
	quotes     string // characters around strings
	keywords   map[string]bool
	anyCase    bool // keywords may be in upper case
}

func (s syntax) fold(word string) string {
	if s.anyCase {
		return strings.ToLower(word)
	}
	return word
}

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// syntaxes returns the families, each under the name of one language.
var syntaxes = sync.OnceValue(func() map[string]syntax {
	return map[string]syntax{
		"c": {line: "//", open: "/*", shut: "*/", quotes: "\"'`", keywords: words(`
		abstract any as async await bool boolean break byte case catch chan char class const continue debugger default defer delete do double
		else enum export extends extern false final finally float fn for from func function go goto if impl implements import in include
		inline instanceof int interface internal is let long loop map match mod module move mut namespace new nil null number object of
		override package private protected pub public range readonly ref return select self short signed sizeof static string struct super
		switch template this throw throws trait true try type typedef typename typeof undefined union unsafe unsigned use using val var
		virtual void volatile when where while yield error iota`)},
		"python": {line: "#", quotes: "\"'", keywords: words(`
		False None True and as assert async await begin break case class continue def del do elif else elsif end ensure except finally for
		from global if import in is lambda match module nil nonlocal not or pass puts raise require rescue return self super then true false
		try unless until when while with yield`)},
		"shell": {line: "#", quotes: "\"'", keywords: words(`
		if then else elif fi for in do done while until case esac function return local export readonly set unset source exit break continue
		FROM RUN COPY CMD ENTRYPOINT WORKDIR ENV ARG true false null yes no on off`)},
		"sql": {line: "--", open: "/*", shut: "*/", quotes: "'\"", anyCase: true, keywords: words(`
		add all alter and as asc begin between by case check column commit conflict constraint create cross default delete desc distinct do
		drop else end exists explain foreign from full group having if in index inner insert into is join key left like limit not null on or
		order outer pragma primary references returning right rollback select set table then transaction trigger union unique update using
		values view when where with without`)},
		"json": {quotes: "\"", keywords: words("true false null")},
	}
})

// aliases returns the families of the languages by the names after a code fence.
var aliases = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for family, names := range map[string]string{
		"c":      "c h cc cpp c++ hpp go golang js javascript mjs jsx ts typescript tsx java kotlin kt rust rs swift cs csharp c# php scala dart zig proto protobuf css scss",
		"python": "python py python3 ruby rb",
		"shell":  "sh bash zsh shell console fish dockerfile docker make makefile yaml yml toml ini perl r elixir ex nix tf hcl",
		"sql":    "sql sqlite postgres postgresql mysql plpgsql lua haskell hs ada",
		"json":   "json json5 jsonl jsonc",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = family
		}
	}
	return m
})
