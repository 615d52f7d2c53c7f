package conninfo_test

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein/internal/conninfo"
)

func TestAnAddressIsKnownByItsFirstKeyword(t *testing.T) {
	for text, want := range map[string]bool{
		"host=x": true, "service=team": true, "  dbname = skein": true, "pool_max_conns=4 host=x": true, "password='a b' host=x": true, "host=": true,
		"": false, "host": false, "./host=x": false, "/b/host=x": false, "a=b.db": false, "sqlite:host=x": false, "postgres://h/d?host=x": false, "my host=x": false, "Host=x": false,
	} {
		if got := conninfo.Is(text); got != want {
			t.Errorf("Is(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestPasswordsAreMasked(t *testing.T) {
	for text, want := range map[string]string{
		"host=x dbname=y":                          "host=x dbname=y",
		"":                                         "",
		"host=x password=hush dbname=y":            "host=x password=*** dbname=y",
		"host=x password = hush\tdbname=y":         "host=x password = ***\tdbname=y",
		`password='hu\'sh hush' host=x `:           `password=*** host=x `,
		`password=hu\ sh host=x`:                   `password=*** host=x`,
		`password='hush\\' host='x y'`:             `password=*** host='x y'`,
		"sslpassword=hush passfile=/f passwd=hush": "sslpassword=*** passfile=/f passwd=***",
		"PassWord=hush":                            "PassWord=***",
		"password= host=x":                         "password= ***", // as in libpq: the value is host=x
		"host=x password=":                         "host=x password=",
		"user=password=hush":                       "user=password=hush", // a name, for libpq
	} {
		if got, whole := conninfo.Masked(text); got != want || !whole {
			t.Errorf("Masked(%q) = %q, %v; want %q", text, got, whole, want)
		}
	}
}

func TestNothingBehindAMistakeIsShown(t *testing.T) {
	for _, text := range []string{
		"host=x password='hush", "host=x password=a hush host=y", "host=x password='a'hush", "host=x hush", `host=x password='a\'hush`, "host=x =hush", "host=x pass word=hush", "host=x user='a' dbname='hush",
	} {
		got, whole := conninfo.Masked(text)
		if whole || strings.Contains(got, "hush") || !strings.HasPrefix(got, "host=x ") {
			t.Errorf("Masked(%q) = %q, %v; want the rest masked", text, got, whole)
		}
	}
}

func FuzzMasked(f *testing.F) {
	f.Add("host=x password='a b' dbname=y")
	f.Fuzz(func(t *testing.T, text string) {
		masked, whole := conninfo.Masked(text)
		if again, still := conninfo.Masked(masked); whole && (again != masked || !still) {
			t.Errorf("Masked(%q) = %q, and of that %q, %v", text, masked, again, still)
		}
	})
}
