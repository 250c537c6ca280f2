// Command deadlock is a hook whose handler waits for ever.
package main

import (
	"context"

	"github.com/hookkit/brepl/hookkit"
)

func main() {
	hookkit.Main(hookkit.Handlers{Stop: func(context.Context, *hookkit.Stop) (hookkit.StopDecision, error) { select {} }})
}
