package corpus

import (
	"fmt"
	"testing"

	"github.com/owulveryck/onnx-go/backend/testbackend"
	_ "github.com/owulveryck/onnx-go/backend/testbackend/onnx"
)

func TestX(t *testing.T) {
	n := map[string]int{}
	for _, f := range testbackend.GetAllRegisteredTests() {
		c := f()
		n[c.OpType]++
	}
	fmt.Println(len(n), n)
}
