package search_test

import (
	"fmt"

	"github.com/skein-dev/skein/store/search"
)

func ExampleParse() {
	q, err := search.Parse(`"fork pointer" -draft tool:bash src/store.go`)
	fmt.Printf("%+v %s %v\n", q.Terms, q.Tool, err)
	// Output:
	// [{Words:[fork pointer] Any:false Prefix:false Not:false} {Words:[draft] Any:false Prefix:false Not:true} {Words:[src store go] Any:false Prefix:false Not:false}] bash <nil>
}
