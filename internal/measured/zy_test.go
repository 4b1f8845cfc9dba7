package measured

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

func TestZY(t *testing.T) {
	want := os.Getenv("POINT")
	for _, board := range boardsMeasured {
		for _, p := range points(t, target(t, board)) {
			if p.key() != want {
				continue
			}
			dir := "/tmp/h/est-tmp/" + p.name
			os.RemoveAll(dir)
			got, _, err := together(context.Background(), dir, []point{p})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("%+v\n", got[p.name])
			out, _ := exec.Command("sh", "-c", "cd "+dir+"/rtl; python3 -c \"import json,collections as c; d=json.load(open('cells.json'))['modules']['"+p.name+"']['cells']; print(c.Counter(x['type'] for x in d.values()))\"; cat layers/"+p.name+".sv").CombinedOutput()
			fmt.Println(string(out))
		}
	}
}
