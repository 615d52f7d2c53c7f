package search_test

import (
	"fmt"

	"github.com/skein-dev/skein/store/search"
)

func ExampleParse() {
	q, err := search.Parse(`"fork pointer" -draft tool:bash src/store.go`)
	fmt.Printf("%+v %s %v\n", q.Terms, q.Tool, err)
	// Output:
	// [{Words:[fork pointer] Prefix:false Not:false} {Words:[draft] Prefix:false Not:true} {Words:[src store go] Prefix:false Not:false}] bash <nil>
}
