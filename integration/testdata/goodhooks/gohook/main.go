// The Stop hook of the documentation of package hookkit, as a program.
package main

import (
	"context"
	"os"

	"github.com/hookkit/brepl/hookkit"
)

func main() {
	hook := func(_ context.Context, e *hookkit.Stop) (hookkit.StopDecision, error) {
		report, err := os.ReadFile(e.ProjectDir() + "/FAILED")
		switch {
		case os.IsNotExist(err):
			return hookkit.AllowStop(), nil
		case err != nil:
			return hookkit.StopDecision{}, err // exit 1: said, but never a block
		}
		return hookkit.BlockStop("The tests fail:\n" + string(report)), nil
	}
	hookkit.Main(hookkit.Handlers{Stop: hook})
}
